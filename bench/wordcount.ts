import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "headwater";
import program, { COUNTERS, SPLITTERS, type Strategy } from "../examples/wordcount.js";
import { optionsFrom } from "./lib/options.js";

/**
 * Figure 11 of Blazes: word count over two hosts, sealed beside ordered and beside no coordination at all. The three
 * take turns in one run, and their counts must be the same.
 */

const FULL = { rounds: 3, warmUpMs: 0, roundMs: 0, events: 300 };
const QUICK = { rounds: 1, warmUpMs: 0, roundMs: 0, events: 100 };
const TWEETS = 10;
const WORDS = 8;
const IN_FLIGHT = 64;
const POLL_MS = 10;
const FACTOR_MIN = 3;
const STRATEGIES: readonly Strategy[] = ["none", "seal", "order"];
const module = new URL("../examples/wordcount.ts", import.meta.url).href;

interface Timed {
  readonly seconds: number;
  readonly counts: string;
}

export async function main(args: readonly string[]): Promise<void> {
  const { json, effort } = optionsFrom(args, FULL, QUICK);
  const batches = effort.events ?? 100;
  const best = new Map<Strategy, number>();
  let counts: string | null = null;
  for (let round = 0; round < effort.rounds; round++)
    for (const strategy of STRATEGIES) {
      const timed = await measured(strategy, batches);
      counts ??= timed.counts;
      if (timed.counts !== counts)
        throw new Error(`${strategy} has counted otherwise than ${STRATEGIES[0]}.`);
      const perSecond = (batches * SPLITTERS.length * TWEETS) / timed.seconds;
      best.set(strategy, Math.max(best.get(strategy) ?? 0, perSecond));
    }
  const ordered = best.get("order") ?? 1;
  for (const [strategy, tweetsPerSecond] of best) {
    const ratio = tweetsPerSecond / ordered;
    const figures = {
      bench: "wordcount",
      strategy,
      hosts: 2,
      batches,
      tweetsPerSecond,
      ratioToOrdered: ratio,
    };
    const text = `${strategy.padEnd(6)} ${Math.round(tweetsPerSecond).toLocaleString("en").padStart(10)} tweets/s  ${ratio.toFixed(2)} times ordered`;
    process.stdout.write(`${json ? JSON.stringify(figures) : text}\n`);
  }
  const factor = (best.get("seal") ?? 0) / ordered;
  const verdict = factor >= FACTOR_MIN ? "met" : "MISSED";
  process.stderr.write(
    `wordcount: ${verdict}: sealed at least ${FACTOR_MIN} times ordered, with the same counts: ${factor.toFixed(2)} times\n`,
  );
}

/** Half of the logical nodes on each host; the order with the first ones. */
const PIN = { Splitter1: 0, Counter1: 0, Order: 0, Splitter2: 1, Counter2: 1 };

async function measured(strategy: Strategy, batches: number): Promise<Timed> {
  await using service = await run(program, { hosts: 2, module, placement: { pin: PIN } });
  const { Splitter1, Splitter2, Counter1, Counter2 } = service.nodes;
  const splitters = [Splitter1, Splitter2];
  const counters = [Counter1, Counter2];
  const began = performance.now();
  let next = 0;
  const client = async (): Promise<void> => {
    for (let batch = next++; batch < batches; batch = next++)
      await Promise.all(
        splitters.map((splitter, i) =>
          splitter.split(SPLITTERS[i] ?? "", batch, tweetsOf(batch, i), strategy),
        ),
      );
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  const all = batches * SPLITTERS.length * TWEETS * WORDS;
  const taken = async () =>
    (await Promise.all(counters.map((counter) => counter.count()))).reduce((a, b) => a + b);
  while ((await taken()) < all) await sleep(POLL_MS);
  const seconds = (performance.now() - began) / 1000;
  const counts = await Promise.all(
    counters.slice(0, COUNTERS.length).map((counter) => counter.counts(batches)),
  );
  return { seconds, counts: JSON.stringify(counts.map((own) => own.map(sorted))) };
}

function sorted(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The same tweets in every run: few words are common, many are rare. */
function tweetsOf(batch: number, splitter: number): string[] {
  let state = (batch * 2 + splitter + 1) * 2_654_435_761;
  const word = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return `w${Math.floor(1000 * (state / 2 ** 32) ** 3)}`;
  };
  return Array.from({ length: TWEETS }, () => Array.from({ length: WORDS }, word).join(" "));
}
