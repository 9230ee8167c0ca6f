import { isAnomaly } from "../../analysis/index.js";
import { HeadwaterError } from "../../errors.js";
import { Random } from "../../random.js";
import type { Schema } from "../columns/index.js";
import {
  type Candidate,
  decided,
  type QueryFacts,
  type StreamFacts,
  sealsOf,
} from "../coordination/index.js";
import type { QueryDefinition } from "../graph/index.js";
import type { InputSpec } from "../plan/index.js";
import { traitsOf } from "../plan/index.js";
import { planDefinition } from "../sql/index.js";
import { deliver, type Given, interleaved } from "./deliver.js";
import { EVENTS, generate, NAMES, PRODUCERS, rowsOf, type Scene, type Sent, streamsOf } from "./generate.js";

/** Two runs of one graph that should have been alike. */
export interface TrialDifference {
  readonly seed: number;
  readonly query: string;
  readonly sql: string;
  readonly coordination: string;
  /** The rows that are left after shrinking, in both orders. */
  readonly rows: readonly [readonly Sent[], readonly Sent[]];
  readonly given: readonly [string, string];
}

interface TrialReport {
  readonly seeds: number;
  readonly queries: number;
  /** The first run that differs from another one with the coordination that was decided on. */
  readonly difference: TrialDifference | null;
  /** Queries with a label worse than Async, and how many of them gave different answers without coordination. */
  readonly worse: number;
  readonly shown: number;
  /** Those whose answers were the same in all runs, with the label that says that they need not be. */
  readonly unshown: readonly string[];
  /** Queries that waited for the same partitions of several streams. */
  readonly joint: number;
}

interface TrialOptions {
  readonly seeds: readonly number[];
  /** Runs of each graph. */
  readonly runs?: number;
  /** Decides that no query needs any coordination: the trial must find that out. */
  readonly plant?: "nothing needs coordination";
}

/** How the answers of a query may be compared: exactly, as what they add up to, or only in one and the same order. */
type Promised = "answers" | "sum" | "one order";

interface Decided {
  readonly definition: QueryDefinition;
  readonly promised: Promised;
  readonly isWorse: boolean;
  readonly coordination: string;
}

const RUNS = 6;
/** Without coordination: other rows so often, each in so many orders. */
const ROWS_WITHOUT = 12;
const RUNS_WITHOUT = 12;
/** A threshold that a batch jumps over is not seen on the way. */
const BATCH_ROWS_WITHOUT = 12;

export async function tryStreams({ seeds, runs = RUNS, plant }: TrialOptions): Promise<TrialReport> {
  let [queries, worse, joint] = [0, 0, 0];
  const unshown: string[] = [];
  for (const seed of seeds) {
    const random = new Random(seed);
    const scene = generate(random);
    const decisions = await decisionsOn(scene, random, plant !== undefined);
    queries += decisions.length;
    const found = differenceIn(scene, decisions, random, runs, seed);
    joint += decisions.filter(({ definition }) => definition.sealedTogether !== undefined).length;
    const told = () => ({ queries, worse, shown: worse - unshown.length, unshown, joint });
    if (found !== null) return { seeds: seeds.indexOf(seed) + 1, difference: found, ...told() };
    for (const { definition, isWorse } of decisions) {
      if (!isWorse) continue;
      worse++;
      if (!differsWithout(scene, decisions, definition.name, random))
        unshown.push(`${definition.name} of seed ${seed}: ${readBy(definition, decisions)}`);
    }
  }
  return {
    ...{ seeds: seeds.length, queries, difference: null, worse, shown: worse - unshown.length },
    ...{ unshown, joint },
  };
}

/** Decides on each query as a registration does. Where it has to choose, chance does: an order, or changes. */
async function decisionsOn(scene: Scene, random: Random, isPlanted: boolean): Promise<Decided[]> {
  const { queries } = scene;
  const facts: StreamFacts[] = [];
  const before: QueryFacts[] = [];
  const found: Decided[] = [];
  const tables: Record<string, Schema> = Object.fromEntries(NAMES.map((name) => [name, EVENTS]));
  const specs: Record<string, InputSpec> = {};
  for (const { name, time } of streamsOf(scene))
    specs[name] = { schema: EVENTS, timeColumn: time?.column ?? null, kind: "stream", key: [] };
  for (const { name, sql } of queries) {
    const defined = await planDefinition(sql, tables);
    if (!("plan" in defined)) continue;
    const { plan, resolved } = defined;
    for (const stream of NAMES)
      if (!facts.some((each) => each.name === stream)) facts.push(factsOf(stream, resolved.tables, scene));
    const candidate = { name, query: resolved, plan, inputs: specs, isView: false, partitions: 1 };
    const plain = carriedOut(facts, before, { ...candidate, coordination: null });
    const { sealed } = plain;
    const isWorse = plain.query.isOpen || sealed !== null || isAnomaly(plain.query.label);
    const isOrdered = plain.query.isOpen && random.chance(0.5);
    const emit = plain.query.isOpen ? "changes" : plain.emit;
    const retracts = sealed === null && !traitsOf(plan, specs, emit).isAppendOnly;
    const inputs = resolved.scanned;
    const readsOrder = found.some(
      ({ definition, promised }) => promised === "one order" && inputs.includes(definition.name),
    );
    const promised: Promised =
      isOrdered || readsOrder ? "one order" : retracts && plain.query.isOpen ? "sum" : "answers";
    const readsSum = found.some(
      ({ definition, promised: each }) => each === "sum" && inputs.includes(definition.name),
    );
    found.push({
      definition: {
        ...{ kind: "query", name, sql, plan, emit, inputs, backfill: false, key: null, partitions: 1 },
        ...{ coordination: null, retention: { bytes: 1e9, ms: null } },
        ...sealsOf(isPlanted ? null : sealed),
      },
      promised: isPlanted ? "answers" : promised === "answers" && readsSum ? "sum" : promised,
      isWorse,
      coordination:
        promised === "one order"
          ? "order"
          : promised === "sum"
            ? "changes"
            : plain.query.coordination.inForce.kind,
    });
    const spec = traitsOf(plan, specs, emit);
    const time = sealed === null ? (spec.bounds[0]?.index ?? null) : null;
    const watermark = time === null ? null : (plan.columns[time]?.name ?? null);
    const waits = sealed === null ? {} : { waitsFor: "keys" as const };
    before.push({ name, query: resolved, coordination: null, retracts, watermark, ...waits });
    tables[name] = plan.columns;
    specs[name] = {
      schema: plan.columns,
      timeColumn: time,
      kind: retracts ? "changelog" : "stream",
      key: [],
    };
  }
  return found;
}

/** Where the graph does not hold rows for the seals that fit, the query is decided on as if there were none. */
function carriedOut(facts: readonly StreamFacts[], before: readonly QueryFacts[], candidate: Candidate) {
  try {
    return decided(facts, before, candidate);
  } catch (error) {
    if (!(error instanceof HeadwaterError) || error.code !== "HW-5451") throw error;
    const unsealed = facts.map((each) => ({ ...each, seals: null }));
    const alone = before.map(({ waitsFor: _, ...each }) => each);
    const plain = decided(unsealed, alone, candidate);
    return { ...plain, query: { ...plain.query, isOpen: true } };
  }
}

function factsOf(
  name: string,
  tables: Readonly<Record<string, StreamFacts["columns"]>>,
  { sealedOn }: Scene,
): StreamFacts {
  const of = { name, columns: tables[name] ?? [], key: [], watermark: "ts" };
  const seals = sealedOn.length === 0 ? null : { columns: sealedOn, producers: PRODUCERS };
  return { ...of, isEstimated: false, seals, isSingleWriter: false };
}

function differenceIn(
  scene: Scene,
  decisions: readonly Decided[],
  random: Random,
  runs: number,
  seed: number,
): TrialDifference | null {
  const { sent } = scene;
  const streams = streamsOf(scene);
  const definitions = decisions.map(({ definition }) => definition);
  const first = interleaved(sent, random);
  const firstSeed = random.bits();
  const expected = deliver(streams, definitions, first, new Random(firstSeed));
  for (let run = 0; run < runs; run++) {
    const order = run === 0 ? first : interleaved(sent, random);
    const runSeed = random.bits();
    const given = deliver(streams, definitions, order, new Random(runSeed));
    for (const { definition, promised, coordination } of decisions) {
      const { name: query, sql } = definition;
      if (promised === "one order" && run > 0) continue;
      const differ = (a: readonly Sent[], b: readonly Sent[]) => {
        const one = deliver(streams, definitions, a, new Random(firstSeed)).get(query);
        const other = deliver(streams, definitions, b, new Random(runSeed)).get(query);
        return seen(one, promised) === seen(other, promised)
          ? null
          : [seen(one, promised), seen(other, promised)];
      };
      if (seen(expected.get(query), promised) === seen(given.get(query), promised)) continue;
      const rows = shrunk(first, order, (a, b) => differ(a, b) !== null);
      const [one = "", other = ""] = differ(...rows) ?? [];
      return { seed, query, sql, coordination, rows, given: [one, other] };
    }
  }
  return null;
}

/** A query with the queries that it reads. */
function readBy({ name, sql, inputs }: QueryDefinition, decisions: readonly Decided[]): string {
  const read = decisions.filter(({ definition }) => inputs.includes(definition.name));
  const below = read.map(({ definition }) => `; ${readBy(definition, decisions)}`);
  return `${name}: ${sql}${below.join("")}`;
}

/** What may be compared: an answer that is final has not been taken back. */
function seen(given: Given | undefined, promised: Promised): string {
  if (given === undefined) return "";
  return promised === "answers" ? `${given.isFinal ? "" : "taken back\n"}${given.added}` : given.sum;
}

/**
 * Without coordination, whatever was answered counts. A label says that there are rows whose order can be seen, not that these rows
 * are such: where they show nothing, others are tried.
 */
function differsWithout(scene: Scene, decisions: readonly Decided[], name: string, random: Random): boolean {
  const streams = streamsOf(scene);
  const definitions = decisions.map(({ definition: { sealedOn: _, sealedTogether: __, ...definition } }) => ({
    ...definition,
    emit: "changes" as const,
  }));
  for (let rows = 0; rows < ROWS_WITHOUT; rows++) {
    const sent = rows === 0 ? scene.sent : rowsOf(random, 1 + random.int(4), BATCH_ROWS_WITHOUT);
    let first: string | null = null;
    for (let run = 0; run < RUNS_WITHOUT; run++) {
      const order = interleaved(sent, random, 1 + random.int(BATCH_ROWS_WITHOUT));
      const given = deliver(streams, definitions, order, random.fork(), BATCH_ROWS_WITHOUT);
      const { added = "" } = given.get(name) ?? {};
      first ??= added;
      if (added !== first) return true;
    }
  }
  return false;
}

/** Leaves rows out, the same in both orders, as long as the difference stays. */
function shrunk(
  one: readonly Sent[],
  other: readonly Sent[],
  differ: (one: readonly Sent[], other: readonly Sent[]) => boolean,
): readonly [readonly Sent[], readonly Sent[]] {
  let pair: readonly [readonly Sent[], readonly Sent[]] = [one, other];
  for (const row of one) {
    const without = pair.map((rows) => rows.filter((each) => each !== row));
    const [a = [], b = []] = without;
    if (differ(a, b)) pair = [a, b];
  }
  return pair;
}
