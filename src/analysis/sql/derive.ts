import { HeadwaterError } from "../../errors.js";
import {
  parseQuery,
  type QueryPosition,
  type ResolvedQuery,
  resolveQuery,
  type SqlSchema,
} from "../../sql/index.js";
import { didYouMean } from "../../suggest.js";
import type {
  AnnotationKind,
  ColumnTypes,
  ComponentPath,
  Dependency,
  Gate,
  Lineage,
  Meeting,
  Reason,
  Repetition,
} from "../graph.js";
import { relationOf } from "./annotate/plan.js";
import { QueryFindings } from "./relation.js";
import { Summary } from "./summary.js";

export interface DeriveOptions {
  /**
   * A standing query gives its answer while rows arrive. One that is not continuous keeps the rows, and answers when it is
   * asked: the reporting server of Blazes. Left out: continuous, unless the query has parameters or a request is named.
   */
  readonly continuous?: boolean;
  /** The input that asks: a table of the query, or the name for requests that carry parameters or nothing. */
  readonly request?: string;
  /**
   * A request stays open, and is answered whenever there is something new, as at the reporting server of Blazes. Left out: it
   * is answered once, with what has arrived by then.
   */
  readonly openRequests?: boolean;
  /** The types of columns, by table, where they are known: without, no cast of them is known to keep their order. */
  readonly types?: Readonly<Record<string, ColumnTypes>>;
  /** Columns that never hold a negative number, by table: their sums only grow. */
  readonly nonNegative?: Readonly<Record<string, readonly string[]>>;
}

export interface DerivedReason extends Reason {
  readonly position: QueryPosition;
}

export interface DerivedPath {
  readonly from: string;
  readonly annotation: AnnotationKind;
  /** Empty if the whole input is one part, so that nothing less than all of it can be sealed. */
  readonly gate: Gate;
  readonly why: readonly DerivedReason[];
  readonly repetition: Repetition;
  readonly mindsRepetition: boolean;
  readonly lineage: readonly Lineage[];
  /** The other inputs whose rows its rows meet, and in which attributes they agree when they do. */
  readonly meets: readonly Meeting[];
  /** For a request that races with what is stored: with which inputs, and by which of their attributes. */
  readonly races: readonly { readonly from: string; readonly gate: Gate }[];
}

export interface DerivedQuery {
  readonly paths: readonly DerivedPath[];
  readonly output: readonly {
    readonly name: string;
    readonly lineage: readonly {
      readonly table: string;
      readonly column: string;
      readonly injective: boolean;
      readonly orderPreserving: boolean;
    }[];
  }[];
  /** How attributes in gates that no row carries are made, such as `window_start` from a time. */
  readonly dependencies: readonly Dependency[];
  /** Whether rows are kept between one input and the next. */
  readonly persistent: boolean;
}

/** The annotations of Blazes for a query: its "white box" (section VII), for SQL. */
export async function deriveQuery(
  sql: string,
  tables: SqlSchema,
  options: DeriveOptions = {},
): Promise<DerivedQuery> {
  return derive(resolveQuery(await parseQuery(sql), sql, tables), options);
}

/** The paths of a component that runs a query and gives its answers to the interface `to`. */
export async function derivePaths(
  sql: string,
  tables: SqlSchema,
  to: string,
  options: DeriveOptions = {},
): Promise<{ paths: ComponentPath[]; dependencies: readonly Dependency[] }> {
  const query = resolveQuery(await parseQuery(sql), sql, tables);
  refuseUnread(query, options.request);
  const { paths, dependencies } = derive(query, options);
  const batches = requestOf(query, options) === null || options.openRequests === true;
  const asPath = ({
    from,
    annotation,
    gate,
    repetition,
    lineage,
    meets,
    why,
  }: DerivedPath): ComponentPath => {
    return { from, to, annotation, gate, repetition, lineage, meets, ...(batches ? { batches } : {}), why };
  };
  return { paths: paths.map(asPath), dependencies };
}

/** Refuses an input that the query does not read, with HW-5105, unless it is the input of requests. */
export function refuseUnread({ tables, scanned }: ResolvedQuery, request: string | undefined): void {
  const unread = Object.keys(tables).find((table) => !scanned.includes(table) && table !== request);
  if (unread === undefined) return;
  const hint = didYouMean(unread, scanned);
  throw new HeadwaterError(
    "HW-5105",
    `The query does not read ${unread}, which is one of its inputs.${hint} Leave it out, or, if its records ask the query, ` +
      `say \`request: ${unread}\`.`,
  );
}

export function derive(query: ResolvedQuery, options: DeriveOptions = {}): DerivedQuery {
  const request = requestOf(query, options);
  const asks = request !== null;
  const findings = new QueryFindings();
  const known = { nonNegative: options.nonNegative ?? {}, types: options.types ?? {}, request };
  const relation = relationOf(query.plan, query.text, known, findings);
  const summary = new Summary(query, relation, findings);
  const stored = summary.tables.filter((table) => table !== request);
  const paths = stored.map((table) => summary.path(table, asks));
  if (request !== null) paths.push(summary.requestPath(request, stored, options.openRequests === true));
  return {
    paths,
    output: summary.output(),
    dependencies: summary.dependencies(),
    persistent: paths.some(({ annotation }) => annotation.endsWith("W")),
  };
}

/** The input that asks, unless the query is a standing one. */
function requestOf(query: ResolvedQuery, options: DeriveOptions): string | null {
  const isStanding = options.continuous ?? (!query.usesParameters && options.request === undefined);
  return isStanding ? null : (options.request ?? DEFAULT_REQUEST);
}

/** The input that asks, where a query has parameters and no option names the input. */
export const DEFAULT_REQUEST = "request";
