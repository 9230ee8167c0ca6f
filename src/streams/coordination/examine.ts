import {
  type Acceptance,
  type Analysis,
  advise,
  analyze,
  type Choice,
  type Component,
  type Dataflow,
  type DerivedPath,
  type DerivedQuery,
  derive,
  type Fault,
  isAnomaly,
  type Label,
  planCoordination,
  type Seal,
  type Stream,
} from "../../analysis/index.js";
import type { ResolvedQuery } from "../../sql/index.js";
import type { CoordinationChoice, QueryFacts, StreamFacts } from "./facts.js";

export type { CoordinationChoice } from "./facts.js";

export interface ExaminedQuery {
  readonly name: string;
  readonly query: ResolvedQuery;
  readonly paths: readonly DerivedPath[];
  /** Of its output. */
  readonly label: Label;
  readonly seals: readonly Seal[];
  /** What is carried out, and why. */
  readonly coordination: Choice;
  readonly chosen: CoordinationChoice | null;
  /** Where its answers come to depend on order, and what would end that. */
  readonly faults: readonly Fault[];
  /** Its label is worse than Async, and the registrant has not chosen what to do about it. */
  readonly isOpen: boolean;
}

export interface Examination {
  readonly analysis: Analysis;
  readonly queries: ReadonlyMap<string, ExaminedQuery>;
}

/** The interface of a component at which a query gives its answers. */
const ANSWERS = "answers";

/**
 * Queries come in topological order: each reads streams and queries before it.
 *
 * `EMIT CHANGES` is a choice, too: a query that retracts does not wait for seals, and every answer that turns out to be wrong
 * is taken back. The sum of what it gives is a function of the rows, whatever their order; only answers on the way differ.
 */
export function examine(streams: readonly StreamFacts[], given: readonly QueryFacts[]): Examination {
  const queries = given.map((each) => ({
    ...each,
    coordination: each.coordination ?? chosenByEmit(each),
  }));
  const derived = new Map(queries.map((each) => [each.name, derive(each.query, { continuous: true })]));
  const graph = graphOf(streams, queries, derived);
  const analysis = analyze(graph);
  const plan = planCoordination(analysis);
  const faults = advise(analysis);
  const examined = queries.map(({ name, query, coordination: chosen }): ExaminedQuery => {
    const output = analysis.streams.get(name);
    const coordination = plan.get(name);
    if (output === undefined || coordination === undefined) throw new Error(`${name} was not analysed`);
    const paths = derived.get(name)?.paths ?? [];
    return {
      name,
      query,
      paths,
      label: output.label,
      seals: output.seals,
      coordination,
      chosen,
      faults: faults.filter(({ component }) => component === name),
      isOpen: isAnomaly(output.label) && output.accepted === null,
    };
  });
  return { analysis, queries: new Map(examined.map((each) => [each.name, each])) };
}

const RETRACTED = "EMIT CHANGES: an answer that a later row changes is retracted";

function chosenByEmit({ retracts }: QueryFacts): CoordinationChoice | null {
  return retracts ? { kind: "accept", reason: RETRACTED } : null;
}

function graphOf(
  streams: readonly StreamFacts[],
  queries: readonly QueryFacts[],
  derived: ReadonlyMap<string, DerivedQuery>,
): Dataflow {
  const edges: Stream[] = [];
  for (const stream of streams)
    for (const reader of queries)
      if (reader.query.scanned.includes(stream.name)) edges.push(fromOutside(stream, reader));
  for (const { name, query, retracts, watermark } of queries) {
    const attributes = query.plan.columns.map((column) => column.name);
    const from = { component: name, interface: ANSWERS };
    // The name of the query alone is the name of the stream that leaves the graph: every query has one.
    edges.push({ name, from, to: null, seals: [], attributes });
    for (const reader of queries)
      if (reader.query.scanned.includes(name))
        edges.push({
          name: `${name} → ${reader.name}`,
          from,
          to: port(reader.name, name),
          seals: retracts || reader.retracts ? [] : byTime(watermark, false),
          attributes,
        });
  }
  const chosen = new Map(queries.map(({ name, coordination }) => [name, coordination]));
  const accepted = queries.flatMap(({ name, coordination }) => acceptancesOf(name, coordination, edges));
  const dependencies = [...derived.values()].flatMap((each) => each.dependencies);
  const components = queries.map(
    ({ name }): Component => component(name, derived.get(name), chosen.get(name)),
  );
  return { components, streams: edges, dependencies, accepted };
}

function component(
  name: string,
  derived: DerivedQuery | undefined,
  chosen: CoordinationChoice | null | undefined,
): Component {
  const paths = (derived?.paths ?? []).map(({ from, annotation, gate, repetition, lineage, meets, why }) => ({
    from,
    to: ANSWERS,
    annotation,
    gate,
    repetition,
    lineage,
    meets,
    batches: true,
    why,
  }));
  if (chosen?.kind === "order")
    return { name, paths, coordination: { kind: "order", reason: chosen.reason } };
  if (chosen?.kind === "seal")
    return { name, paths, coordination: { kind: "seal", reason: "chosen at registration" } };
  return { name, paths };
}

/** To live with a label is to accept it on every stream that the query's answers leave by. */
function acceptancesOf(
  name: string,
  chosen: CoordinationChoice | null,
  edges: readonly Stream[],
): Acceptance[] {
  if (chosen?.kind !== "accept") return [];
  return edges
    .filter(({ from }) => from?.component === name)
    .map((stream) => ({ stream: stream.name, reason: chosen.reason }));
}

function fromOutside(stream: StreamFacts, { name: reader, retracts, waitsFor }: QueryFacts): Stream {
  const { name, columns, key: primary, watermark, isEstimated, seals, isSingleWriter } = stream;
  const byKeys: Seal[] = seals === null ? [] : [{ key: seals.columns, prefix: false }];
  return {
    name: `${name} → ${reader}`,
    from: null,
    to: port(reader, name),
    seals: retracts ? [] : waitsFor === "keys" ? byKeys : byTime(watermark, isEstimated),
    delivery: "exactly-once", // the door drops batches and events that come again
    ...(isSingleWriter ? { singleWriter: true } : {}),
    ...(primary.length === 0 ? {} : { changelog: primary }),
    attributes: columns.map((column) => column.name),
  };
}

/** A watermark seals all partitions up to a time. */
function byTime(watermark: string | null, late: boolean): Seal[] {
  return watermark === null ? [] : [{ key: [watermark], prefix: true, late }];
}

function port(name: string, input: string): { component: string; interface: string } {
  return { component: name, interface: input };
}
