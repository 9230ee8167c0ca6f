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

/** How a query is carried out. */
export interface CoordinationDecision {
  readonly query: ExaminedQuery;
  readonly emit: "changes" | "on window close";
  readonly retracts: boolean;
  readonly partitioning: Partitioning;
  /** For a table that is held until its partitions are sealed: the columns that name them. */
  readonly held: Readonly<Record<string, readonly string[]>>;
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
  if (candidate.partitions > 1 && Object.keys(decision.held).length > 0)
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
  const look = (retracts: boolean, choice: CoordinationChoice | null) => {
    const examination: Examination = examine(streams, [
      ...queries,
      { name, query, coordination: choice, retracts, watermark: null },
    ]);
    const found = examination.queries.get(name);
    if (found === undefined) throw new Error(`${name} was not examined`);
    return found;
  };
  const written = query.emit ?? (isView ? "changes" : null);
  if (coordination?.kind !== "seal" && (written !== null || coordination !== null)) {
    const emit = written ?? "changes";
    const retracts = retractsBy(emit);
    return { query: look(retracts, coordination), emit, retracts, partitioning, held: {} };
  }
  const examined = look(false, null);
  const sealed = examined.coordination.inForce;
  if (sealed.kind !== "seal") {
    const open = coordination?.kind === "seal" ? { ...examined, isOpen: true } : examined;
    return { query: open, emit: "changes", retracts: false, partitioning, held: {} };
  }
  if (sealed.streams.every(({ seal }) => seal?.prefix === true)) {
    const retracts = retractsBy("on window close");
    // The operators give some answers before the watermark, and take them back: that is no waiting for seals.
    const query = retracts ? { ...examined, isOpen: true } : examined;
    return { query, emit: "on window close", retracts, partitioning, held: {} };
  }
  return { query: examined, emit: "changes", retracts: false, partitioning, held: heldBy(examined) };
}

function heldBy({
  name,
  coordination: { inForce },
}: ExaminedQuery): Readonly<Record<string, readonly string[]>> {
  if (inForce.kind !== "seal") return {};
  const [only, ...others] = inForce.streams;
  const key = only?.seal?.key;
  if (only === undefined || key === undefined || others.length > 0 || inForce.holds.length > 0)
    throw new HeadwaterError(
      "HW-5451",
      `"${name}" would have to wait for the seals of several inputs together, which a graph does not do. Choose an order: WITH (coordination = 'order').`,
    );
  return { [only.name.replace(/ → .*$/, "")]: key };
}
