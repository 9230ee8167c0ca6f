import { HeadwaterError } from "../../errors.js";
import type { ResolvedQuery } from "../../sql/index.js";
import {
  type Inputs,
  meetingColumns,
  type Partitioning,
  type Plan,
  partitioningOf,
  traitsOf,
} from "../plan/index.js";
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

/** The partitions of a stream that a query waits for: by which columns, and who seals them. */
interface SealedInput {
  readonly name: string;
  readonly columns: readonly string[];
  readonly producers: readonly string[];
}

/** The partitions that a query waits for. With several inputs, their columns correspond, one by one. */
export type SealedPartitions = readonly [SealedInput, ...SealedInput[]];

/** What the definition of a query says of the partitions that it waits for. */
export function sealsOf(sealed: SealedPartitions | null): {
  readonly sealedOn?: readonly string[];
  readonly sealedTogether?: Readonly<Record<string, readonly string[]>>;
} {
  if (sealed === null) return {};
  const [{ columns }] = sealed;
  if (sealed.length === 1) return { sealedOn: columns };
  return {
    sealedOn: columns,
    sealedTogether: Object.fromEntries(sealed.map((each) => [each.name, each.columns])),
  };
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
  { name, query, plan, inputs, coordination }: Candidate,
  partitioning: Partitioning,
  streams: readonly StreamFacts[],
): SealedPartitions | null {
  if (inForce.kind !== "seal") return null;
  const names = [...new Set(query.scanned)];
  const sealed = names.map((input): SealedInput => {
    const stream = streams.find((each) => each.name === input);
    if (stream === undefined)
      throw notCarriedOut(name, `reads "${input}", which gives rows before their partition is sealed`);
    if (stream.seals === null)
      throw notCarriedOut(
        name,
        `meets rows of sealed partitions with rows of "${input}", whose producers seal none; let them seal the same partitions`,
      );
    return { name: input, ...stream.seals };
  });
  const [first, ...others] = sealed;
  if (first === undefined) return null;
  const on = coordination?.kind === "seal" ? coordination.on : undefined;
  if (on !== undefined && on.toSorted().join() !== first.columns.toSorted().join()) return null;
  const columnOf = (input: string, index: number | undefined) => inputs[input]?.schema[index ?? -1];
  if (others.length === 0) {
    const meetBy = partitioning.kind === "by" ? (partitioning.columns[first.name] ?? []) : [];
    const meeting = meetBy.map((index) => columnOf(first.name, index)?.name);
    if (!first.columns.every((column) => meeting.includes(column)))
      throw notCarriedOut(name, "lets rows of several partitions meet");
    return [first];
  }
  const threads = meetingColumns(plan);
  // Each column that names a partition of the first stream is, in all rows that meet, one of each other stream.
  const chosen = first.columns.map((column) =>
    threads.find((thread) =>
      sealed.every((each) => {
        const own = columnOf(each.name, thread[each.name])?.name;
        return own !== undefined && (each === first ? own === column : each.columns.includes(own));
      }),
    ),
  );
  const together = sealed.map((each): SealedInput => {
    const columns = chosen.flatMap((thread) => columnOf(each.name, thread?.[each.name])?.name ?? []);
    return { ...each, columns };
  });
  const isWhole = together.every(
    ({ columns }, i) =>
      new Set(columns).size === first.columns.length && columns.length === sealed[i]?.columns.length,
  );
  if (!isWhole) throw notCarriedOut(name, `lets rows of several partitions of ${names.join(" and ")} meet`);
  const [one, ...more] = together;
  return one === undefined ? null : [one, ...more];
}

function notCarriedOut(name: string, why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-5451",
    `"${name}" ${why}. No rows are held for that. Or choose an order: WITH (coordination = 'order'), or EMIT CHANGES.`,
  );
}
