import { type Code, HeadwaterError } from "../../errors.js";
import type { QueryFact } from "../../model/query-facts.js";
import type { Schema } from "../columns/index.js";
import {
  DEFAULT_RETENTION,
  definitionText,
  GraphEngine,
  type QueryDefinition,
  type StreamDefinition,
} from "../graph/index.js";
import { inputsOf, viewKey } from "../plan/index.js";
import { planDefinitionSync, stateLimitOf, withLimitedState } from "../sql/index.js";
import { type ColumnKind, type Columns, specOf } from "./columns.js";
import { ProgramCoordination } from "./coordination.js";
import type { Definition, Definitions, QueryOf, StreamOf, TableOf, ViewOf } from "./definitions.js";

export type NodeDefinition = StreamDefinition | QueryDefinition;

/** The definitions of a class, checked and planned once, when the class is declared. */
export interface Planned {
  readonly definitions: readonly NodeDefinition[];
  readonly schemas: ReadonlyMap<string, Schema>;
  /** Equal for graphs that have the same streams and queries. */
  readonly fingerprint: string;
  readonly hasTime: boolean;
  /** The queries whose results are handed to `changed`. */
  readonly heard: ReadonlySet<string>;
  /** What the analysis says of its views and queries. */
  readonly facts: readonly QueryFact[];
}

const IDLE_MS = 30_000;

/** Plans the definitions by registering them in a graph that is thrown away: what it refuses, no context could hold. */
export function planned(definitions: Definitions): Planned {
  const graph = new GraphEngine();
  const schemas = new Map<string, Schema>();
  const made: NodeDefinition[] = [];
  const coordination = new ProgramCoordination();
  for (const [name, given] of Object.entries(definitions)) {
    const definition = definitionFrom(name, given, Object.fromEntries(schemas), graph, coordination);
    const command =
      "columns" in definition
        ? ({ kind: "define stream", definition } as const)
        : ({ kind: "define query", definition } as const);
    const { refused } = graph.carryOut(command, 0);
    if (refused !== null) throw misdefined(refused.code, name, refused.message);
    const schema = graph.nodes.channel(name)?.schema ?? [];
    if (given.kind === "view" || given.kind === "query") checkColumns(name, given.columns, schema);
    schemas.set(name, schema);
    made.push(definition);
  }
  return {
    ...{ definitions: made, schemas, fingerprint: fingerprintOf(made) },
    hasTime: made.some((definition) => "time" in definition && definition.time !== null),
    facts: coordination.facts,
    heard: new Set(made.flatMap(({ kind, name }) => (kind === "query" ? [name] : []))),
  };
}

function definitionFrom(
  name: string,
  given: Definition,
  schemas: Readonly<Record<string, Schema>>,
  graph: GraphEngine,
  coordination: ProgramCoordination,
): NodeDefinition {
  if (given.kind === "stream" || given.kind === "table") {
    const definition = streamFrom(name, given);
    coordination.add(definition);
    return definition;
  }
  return queryFrom(name, given, schemas, graph, coordination);
}

function streamFrom(name: string, given: StreamOf<Columns> | TableOf<Columns>): StreamDefinition {
  const columns = Object.entries(given.columns).map(([column, kind]) => specOf(column, kind));
  const placeOf = (wanted: string) => columns.findIndex((spec) => spec.name === wanted);
  const common = { kind: given.kind, name, columns, eventId: null };
  if (given.kind === "table")
    return { ...common, key: given.key.map(placeOf), time: null, retention: retention({}) };
  const { time, latenessMs = 0, idleMs = IDLE_MS } = given;
  const eventTime = time === undefined ? null : { column: placeOf(time), latenessMs, idleMs };
  return { ...common, key: [], time: eventTime, retention: retention(given) };
}

function queryFrom(
  name: string,
  given: ViewOf<Columns> | QueryOf<Columns>,
  schemas: Readonly<Record<string, Schema>>,
  graph: GraphEngine,
  coordination: ProgramCoordination,
): QueryDefinition {
  const { kind, sql } = given;
  const defined = planOf(name, sql, schemas);
  if (!("plan" in defined) || defined.kind !== "query")
    throw misdefined("HW-5403", name, "a view or a query is defined by a SELECT alone.");
  const { resolved } = defined;
  const specs = graph.nodes.specs(inputsOf(defined.plan));
  const limit = stateLimitOf(defined.options.state_retention);
  const { plan, refusal } = withLimitedState(defined.plan, specs, resolved, limit);
  if (refusal !== null) throw misdefined(refusal.code, name, messageOf(refusal));
  const { emit, chosen } = coordination.decide(name, kind === "view", {
    ...{ query: resolved, plan, inputs: specs },
    options: defined.options,
  });
  return {
    ...{ kind, name, sql, plan, emit, inputs: inputsOf(plan), backfill: "quiet" },
    key: kind === "view" ? viewKey(plan) : null,
    coordination: chosen,
    partitions: 1,
    retention: kind === "view" ? { bytes: 0, ms: null } : retention(given),
  };
}

function planOf(name: string, sql: string, schemas: Readonly<Record<string, Schema>>) {
  try {
    return planDefinitionSync(sql, schemas);
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    throw misdefined(error.code, name, messageOf(error));
  }
}

/** The message without its code. */
function messageOf({ code, message }: HeadwaterError): string {
  return message.slice(code.length + 2);
}

function retention({ retain }: { readonly retain?: { readonly bytes?: number; readonly ms?: number } }) {
  return { bytes: retain?.bytes ?? DEFAULT_RETENTION.bytes, ms: retain?.ms ?? null };
}

/** What TypeScript was told of the results is what the query gives. */
function checkColumns(name: string, declared: Columns, schema: Schema): void {
  const kinds: [string, ColumnKind<unknown>][] = Object.entries(declared);
  const names = (columns: readonly string[]) => columns.join(", ");
  if (names(kinds.map(([column]) => column)) !== names(schema.map((spec) => spec.name)))
    throw new HeadwaterError(
      "HW-5460",
      `"${name}": it is declared with the columns (${names(kinds.map(([column]) => column))}), and its SELECT gives ` +
        `(${names(schema.map((spec) => spec.name))}). Declare those, in their order.`,
    );
  for (const [i, [column, { type, isNullable }]] of kinds.entries()) {
    const given = schema[i];
    if (given === undefined) continue;
    if (given.type !== type)
      throw new HeadwaterError(
        "HW-5460",
        `"${name}": its column "${column}" is declared as ${type}, and its SELECT gives ${given.type}. Declare column.${given.type}, or ` +
          "cast the expression.",
      );
    if (given.nullable && !isNullable)
      throw new HeadwaterError(
        "HW-5460",
        `"${name}": its column "${column}" can be NULL. Declare column.${type}.nullable, or give it a value with coalesce(…).`,
      );
  }
}

function misdefined(code: Code, name: string, message: string): HeadwaterError {
  return new HeadwaterError(code, `"${name}": ${message}`);
}

/** Two definitions with the same text mean the same: one does not have to be put in the place of the other. */
export function meaningOf(definition: NodeDefinition): string {
  if ("columns" in definition) return definitionText(definition);
  const { kind, name, sql, emit, retention } = definition;
  return JSON.stringify({ kind, name, sql, emit, retention });
}

export function fingerprintOf(definitions: readonly NodeDefinition[]): string {
  return definitions.map(meaningOf).sort().join("\n");
}
