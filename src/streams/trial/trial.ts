import { isAnomaly } from "../../analysis/index.js";
import { HeadwaterError } from "../../errors.js";
import { Random } from "../../random.js";
import type { Schema } from "../columns/index.js";
import { type Candidate, decided, type QueryFacts, type StreamFacts } from "../coordination/index.js";
import type { QueryDefinition } from "../graph/index.js";
import type { InputSpec } from "../plan/index.js";
import { traitsOf } from "../plan/index.js";
import { planDefinition } from "../sql/index.js";
import { deliver, type Given, interleaved } from "./deliver.js";
import { EVENTS, generate, NAMES, PRODUCERS, type Scene, type Sent, streamsOf } from "./generate.js";

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
const RUNS_WITHOUT = 40;

export async function tryStreams({ seeds, runs = RUNS, plant }: TrialOptions): Promise<TrialReport> {
  let [queries, worse, shown] = [0, 0, 0];
  for (const seed of seeds) {
    const random = new Random(seed);
    const scene = generate(random);
    const decisions = await decisionsOn(scene, random, plant !== undefined);
    queries += decisions.length;
    const found = differenceIn(scene, decisions, random, runs, seed);
    if (found !== null) return { seeds: seeds.indexOf(seed) + 1, queries, difference: found, worse, shown };
    for (const { definition, isWorse } of decisions) {
      if (!isWorse) continue;
      worse++;
      if (differsWithout(scene, decisions, definition.name, random)) shown++;
    }
  }
  return { seeds: seeds.length, queries, difference: null, worse, shown };
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
        ...(sealed === null || isPlanted ? {} : { sealedOn: sealed.columns }),
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

/** What may be compared: an answer that is final has not been taken back. */
function seen(given: Given | undefined, promised: Promised): string {
  if (given === undefined) return "";
  return promised === "answers" ? `${given.isFinal ? "" : "taken back\n"}${given.added}` : given.sum;
}

/** Without coordination, whatever was answered counts. */
function differsWithout(scene: Scene, decisions: readonly Decided[], name: string, random: Random): boolean {
  const { sent } = scene;
  const streams = streamsOf(scene);
  const definitions = decisions.map(({ definition: { sealedOn: _, ...definition } }) => ({
    ...definition,
    emit: "changes" as const,
  }));
  let first: string | null = null;
  for (let run = 0; run < RUNS_WITHOUT; run++) {
    const { added = "" } =
      deliver(streams, definitions, interleaved(sent, random), random.fork()).get(name) ?? {};
    first ??= added;
    if (added !== first) return true;
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
