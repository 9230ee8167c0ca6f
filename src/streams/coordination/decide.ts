import { HeadwaterError } from "../../errors.js";
import type { ResolvedQuery } from "../../sql/index.js";
import { type Inputs, type Partitioning, type Plan, partitioningOf, traitsOf } from "../plan/index.js";
import { type Examination, type ExaminedQuery, examine } from "./examine.js";
import type { CoordinationChoice, QueryFacts, StreamFacts } from "./facts.js";
import { refusal } from "./refusal.js";

/** A query that is to be registered. */
export interface Candidate {
  readonly name: string;
  readonly query: ResolvedQuery;
  readonly plan: Plan;
  readonly inputs: Inputs;
  /** A view shows what its answers add up to, so it retracts unless its query says otherwise. */
  readonly isView: boolean;
  readonly coordination: CoordinationChoice | null;
  readonly partitions: number;
}

/** The partitions of a stream that a query waits for. */
export interface SealedPartitions {
  readonly columns: readonly string[];
  readonly producers: readonly string[];
}

/** How a query is carried out. */
export interface CoordinationDecision {
  readonly query: ExaminedQuery;
  readonly emit: "changes" | "on window close";
  readonly retracts: boolean;
  readonly partitioning: Partitioning;
  /** The query is given whole partitions of its input, when their producers have sealed them. */
  readonly sealed: SealedPartitions | null;
}

/**
 * Decides how a query is carried out, or refuses it. A query that says no EMIT waits for seals where there are seals that fit,
 * and answers at once where its answers do not depend on order; in all other cases its registrant has to choose.
 *
 * `streams` and `queries` are what it reads, directly and through other queries.
 */
export function decide(
  streams: readonly StreamFacts[],
  queries: readonly QueryFacts[],
  candidate: Candidate,
): CoordinationDecision {
  const decision = decided(streams, queries, candidate);
  const { query, partitioning } = decision;
  if (query.isOpen) throw refusal(query);
  if (candidate.partitions > 1 && partitioning.kind === "none")
    throw new HeadwaterError(
      "HW-5452",
      `"${candidate.name}" cannot be divided into ${candidate.partitions} partitions: ${partitioning.because}. Leave PARTITIONS out.`,
    );
  if (candidate.partitions > 1 && decision.sealed !== null)
    throw new HeadwaterError(
      "HW-5452",
      `"${candidate.name}" waits for the seals of its input, and is not divided into partitions besides. Leave PARTITIONS out.`,
    );
  return decision;
}

/** The same for EXPLAIN, which also shows what would be refused. */
export function decided(
  streams: readonly StreamFacts[],
  queries: readonly QueryFacts[],
  candidate: Candidate,
): CoordinationDecision {
  const { name, query, plan, inputs, isView, coordination } = candidate;
  const partitioning = partitioningOf(plan);
  const retractsBy = (emit: "changes" | "on window close") => !traitsOf(plan, inputs, emit).isAppendOnly;
  const look = (retracts: boolean, choice: CoordinationChoice | null, waitsFor?: "keys") => {
    const waits = waitsFor === undefined ? {} : { waitsFor };
    const own = { name, query, coordination: choice, retracts, watermark: null, ...waits };
    const examination: Examination = examine(streams, [...queries, own]);
    const found = examination.queries.get(name);
    if (found === undefined) throw new Error(`${name} was not examined`);
    return found;
  };
  const written = query.emit ?? (isView ? "changes" : null);
  if (coordination?.kind !== "seal" && (written !== null || coordination !== null)) {
    const emit = written ?? "changes";
    const retracts = retractsBy(emit);
    return { query: look(retracts, coordination), emit, retracts, partitioning, sealed: null };
  }
  const byTime = look(false, null);
  const { inForce } = byTime.coordination;
  if (!byTime.isOpen && coordination === null && inForce.kind !== "seal")
    return { query: byTime, emit: "changes", retracts: false, partitioning, sealed: null };
  const isByTime = inForce.kind === "seal" && inForce.streams.every(({ seal }) => seal?.prefix === true);
  if (isByTime && !byTime.isOpen && coordination?.on === undefined) {
    const retracts = retractsBy("on window close");
    // The operators give some answers before the watermark, and take them back: that is no waiting for seals.
    const examined = retracts ? { ...byTime, isOpen: true } : byTime;
    return { query: examined, emit: "on window close", retracts, partitioning, sealed: null };
  }
  const byKeys = look(false, null, "keys");
  const sealed = byKeys.isOpen ? null : sealedOn(byKeys, candidate, partitioning, streams);
  if (sealed !== null) return { query: byKeys, emit: "changes", retracts: false, partitioning, sealed };
  const open = { ...byTime, isOpen: byTime.isOpen || coordination !== null || inForce.kind === "seal" };
  return { query: open, emit: "changes", retracts: false, partitioning, sealed: null };
}

/** The partitions that a query is given; `null` if its answers need no seals, or others than those of the choice. */
function sealedOn(
  { coordination: { inForce } }: ExaminedQuery,
  { name, query, inputs, coordination }: Candidate,
  partitioning: Partitioning,
  streams: readonly StreamFacts[],
): SealedPartitions | null {
  if (inForce.kind !== "seal") return null;
  const [only, ...others] = inForce.streams;
  const input = only?.name.replace(/ → .*$/, "") ?? "";
  const columns = only?.seal?.key;
  const isAlone = others.length === 0 && new Set(query.scanned).size === 1 && inForce.holds.length === 0;
  if (columns === undefined || !isAlone)
    throw notCarriedOut(name, "would have to wait for the seals of several inputs together");
  const on = coordination?.kind === "seal" ? coordination.on : undefined;
  if (on !== undefined && on.toSorted().join() !== columns.toSorted().join()) return null;
  const stream = streams.find((each) => each.name === input);
  if (stream === undefined)
    throw notCarriedOut(name, `reads "${input}", which gives rows before their partition is sealed`);
  const meetBy = partitioning.kind === "by" ? (partitioning.columns[input] ?? []) : [];
  const names = meetBy.map((index) => inputs[input]?.schema[index]?.name);
  if (!columns.every((column) => names.includes(column)))
    throw notCarriedOut(name, "lets rows of several partitions meet");
  return { columns, producers: stream.seals?.producers ?? [] };
}

function notCarriedOut(name: string, why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-5451",
    `"${name}" ${why}, and a graph does not hold rows for that. Choose an order: WITH (coordination = 'order').`,
  );
}
