import { HeadwaterError } from "../../errors.js";
import {
  type Candidate,
  type CoordinationDecision,
  chosen,
  decide,
  decided,
  explain,
  type QueryFacts,
  type RequestedCoordination,
  requestOf,
  type StreamFacts,
  sealsOf,
} from "../coordination/index.js";
import { DEFAULT_RETENTION, type QueryDefinition, type Retention } from "../graph/index.js";
import { type InputSpec, type Inputs, inputsOf, viewKey } from "../plan/index.js";
import { type Defined, planDefinition, stateLimitOf, withLimitedState } from "../sql/index.js";
import type { StreamColumns } from "../typed/index.js";
import type { Described } from "./describe.js";
import { tablesOf, versionsOf } from "./tables.js";

type DefinedQuery = Extract<Defined, { readonly plan: unknown }>;

export interface QueryOptions extends RequestedCoordination {
  /** Begin with what the inputs retain, and not with what comes from now on. */
  readonly backfill?: boolean;
  /** The columns that the query must have; it is refused if it has others. */
  readonly columns?: StreamColumns;
  readonly retention?: Partial<Retention>;
}

/**
 * The definition of a query, as it is registered: every query that is registered goes through here, and is analysed together with
 * all that it reads. Refused, with the choices that there are, if its answers depend on order and nothing was chosen.
 */
export async function queryDefinition(
  catalog: ReadonlyMap<string, Described>,
  sql: string,
  name: string,
  defined: DefinedQuery,
  options: QueryOptions,
): Promise<QueryDefinition> {
  const { candidate, refusal } = candidateOf(catalog, name, defined, options);
  const { emit, sealed } = decide(...(await readBy(candidate, catalog)), candidate);
  if (sealed !== null && options.backfill === true)
    throw new HeadwaterError(
      "HW-5403",
      `"${name}" is given the partitions that are sealed from now on; which of the retained rows were complete is not known. Leave BACKFILL out.`,
    );
  // What waits for seals holds nothing else.
  if (sealed === null && refusal !== null) throw refusal;
  const { kind } = defined;
  const { plan } = candidate;
  return {
    ...{ kind, name, sql, plan, emit, retention: { ...DEFAULT_RETENTION, ...options.retention } },
    inputs: inputsOf(plan),
    backfill: options.backfill ?? false,
    key: kind === "view" ? viewKey(plan) : null,
    coordination: candidate.coordination,
    partitions: candidate.partitions,
    ...sealsOf(sealed),
  };
}

/** What EXPLAIN says: of a query that is registered, by its name, or of one that could be. */
export async function explained(catalog: ReadonlyMap<string, Described>, text: string): Promise<string> {
  const what = text.replace(/^\s*explain\s+/i, "").replace(/;\s*$/, "");
  const known = catalog.get(what.trim());
  const definition = known?.sql ?? what;
  const defined = await planDefinition(definition, tablesOf(catalog), versionsOf(catalog));
  if (!("plan" in defined)) return `${defined.kind.slice("create ".length)} ${defined.name}`;
  const options = known === undefined ? {} : requestedOf(known);
  const name = known?.name ?? defined.name ?? "query";
  const { candidate, refusal } = candidateOf(catalog, name, defined, options);
  const decision: CoordinationDecision = decided(...(await readBy(candidate, catalog)), candidate);
  const found = explain(candidate, decision);
  return refusal === null ? found : `${found}\nState  refused: ${refusal.message}`;
}

const WORDS = ["coordination", "reason", "partitions", "state_retention"];

function candidateOf(
  catalog: ReadonlyMap<string, Described>,
  name: string,
  { kind, plan, resolved, options: written }: DefinedQuery,
  options: RequestedCoordination,
): { readonly candidate: Candidate; readonly refusal: HeadwaterError | null } {
  const unknown = Object.keys(written).find((word) => !WORDS.includes(word));
  if (unknown !== undefined)
    throw new HeadwaterError(
      "HW-5403",
      `WITH of a query knows no ${JSON.stringify(unknown.slice(0, 80))}; it knows ${WORDS.join(", ")}.`,
    );
  if (resolved.scanned.length === 0)
    throw new HeadwaterError(
      "HW-5104",
      "The query reads no stream, table or view, so rows that are pushed never change its answer. Ask it once: POST /v1/query, or query(sql) in the library.",
    );
  const inputs: Inputs = Object.fromEntries(
    inputsOf(plan).flatMap((input) => {
      const known = catalog.get(input);
      return known === undefined ? [] : [[input, specOf(known)]];
    }),
  );
  const requested: RequestedCoordination = {
    coordination: options.coordination ?? written.coordination,
    reason: options.reason ?? written.reason,
    partitions: options.partitions ?? written.partitions,
  };
  const { refusal, ...limited } = withLimitedState(
    plan,
    inputs,
    resolved,
    stateLimitOf(written.state_retention),
  );
  const isView = kind === "view";
  return { candidate: { name, query: resolved, ...limited, isView, ...chosen(requested) }, refusal };
}

function specOf({ columns, kind, key, timeColumn, isAppendOnly }: Described): InputSpec {
  const isTable = kind === "table";
  return {
    schema: columns,
    timeColumn,
    kind: isTable ? "table" : isAppendOnly ? "stream" : "changelog",
    key: key ?? [],
  };
}

/** What a query reads, directly and through other queries, the first ones first. */
async function readBy(
  { query }: Candidate,
  catalog: ReadonlyMap<string, Described>,
): Promise<[StreamFacts[], QueryFacts[]]> {
  const names = new Set(query.scanned);
  for (const name of names) for (const input of catalog.get(name)?.inputs ?? []) names.add(input);
  return await factsIn(catalog, names, query.tables);
}

/** What the analysis is told of some streams and queries, the first ones first. `tables`: columns that are known already. */
export async function factsIn(
  catalog: ReadonlyMap<string, Described>,
  names: ReadonlySet<string>,
  tables: Readonly<Record<string, StreamFacts["columns"]>> = {},
): Promise<[StreamFacts[], QueryFacts[]]> {
  const types = new Map(Object.entries(tables));
  const sources: Described[] = [];
  const queries: QueryFacts[] = [];
  for (const described of catalog.values()) {
    if (!names.has(described.name)) continue;
    if (described.sql === null) sources.push(described);
    else {
      const defined = await planDefinition(described.sql, tablesOf(catalog), versionsOf(catalog));
      if (!("plan" in defined)) continue;
      for (const [table, known] of Object.entries(defined.resolved.tables))
        if (!types.has(table)) types.set(table, known);
      const { coordination } = chosen(requestedOf(described));
      const { name, isAppendOnly, columns, timeColumn, sealedOn } = described;
      const watermark = timeColumn === null ? null : (columns[timeColumn]?.name ?? null);
      const waits = sealedOn === null ? {} : { waitsFor: "keys" as const };
      const retracts = !isAppendOnly;
      queries.push({ name, query: defined.resolved, coordination, retracts, watermark, ...waits });
    }
  }
  return [sources.map((each) => factsOf(each, types.get(each.name) ?? [])), queries];
}

function requestedOf({ coordination, partitions }: Described): RequestedCoordination {
  return { ...requestOf(coordination), partitions };
}

/**
 * A declared watermark is a promise of the stream's owner about how late rows come: rows that break it are left out, counted, and
 * kept in a stream of their own. The rows of a table replace each other in the order of tickets, so it has one writer: the graph.
 */
function factsOf(
  { name, kind, columns, key, timeColumn, seals }: Described,
  types: StreamFacts["columns"],
): StreamFacts {
  return {
    ...{ name, columns: types },
    key: kind === "table" ? (key ?? []).map((index) => columns[index]?.name ?? "") : [],
    watermark: timeColumn === null ? null : (columns[timeColumn]?.name ?? null),
    isEstimated: false,
    seals,
    isSingleWriter: kind === "table",
  };
}
