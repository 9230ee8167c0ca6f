import { driveInProcess } from "./lib/case-process.js";
import { startComedy } from "./lib/comedy.js";
import { goals } from "./lib/goals.js";
import * as headwater from "./lib/headwater.js";
import { startNact } from "./lib/nact.js";
import { optionsFrom } from "./lib/options.js";
import { startPromiseQueue } from "./lib/promise-queue.js";
import { jsonLine, table } from "./lib/report.js";
import { type Effort, type Figures, measure, type Setting } from "./lib/rounds.js";
import type { Case, Subject } from "./lib/subject.js";

/**
 * EventWave's microbenchmark (section 7.1): events choose one of 160 contexts round robin and do P units of
 * work. Here on one host and in memory, beside what one would write by hand and two actor libraries, each in a process of
 * its own.
 */

const CONTEXTS = 160;
const CONTEXTS_MANY = 100_000;
const UNFINISHED = 10_000;
const IN_FLIGHT = [1, 256, 1024];
const WORK = [0, 10];

const FULL: Effort = { rounds: 31, warmUpMs: 500, roundMs: 40 };
const QUICK: Effort = { rounds: 5, warmUpMs: 20, roundMs: 20 };

const plain = (name: string, start: Case["start"], baseline = "promise-queue", contexts = CONTEXTS): Case => {
  return { name, start, baseline, contexts, countsPerEvent: 1, journal: "none" };
};
const own = (
  name: string,
  start: (contexts: number) => Promise<Subject>,
  change: Partial<Case> = {},
): Case => {
  return { ...plain(name, start, "headwater"), journal: "memory", ...change };
};

const promiseQueue = plain("promise-queue", startPromiseQueue);
const counters = own("headwater", headwater.startCounters, { baseline: "promise-queue" });

/** Systems side by side, with and without work in the event. */
const systems: readonly Case[] = [
  promiseQueue,
  counters,
  plain("nact", startNact),
  plain("comedy", startComedy),
];

/** What changes the price of an event in Headwater, and what must not. The two baselines run along, unreported. */
const variants: readonly Case[] = [
  promiseQueue,
  counters,
  own("headwater-by-key", headwater.startByKey),
  own("headwater-total-order", headwater.startTotalOrder),
  own("headwater-reads", headwater.startReads, { countsPerEvent: 0 }),
  own("headwater-two-calls-below", headwater.startCallsBelow, { countsPerEvent: 2 }),
  own("headwater-beside-10000-unfinished", (contexts) =>
    headwater.startBesideUnfinished(contexts, UNFINISHED),
  ),
  own("headwater-100000-contexts", headwater.startCounters, { contexts: CONTEXTS_MANY }),
  plain("promise-queue-100000-objects", startPromiseQueue, "promise-queue", CONTEXTS_MANY),
];

export const cases: readonly Case[] = [...systems, ...variants];

const inProcess = (each: Case) => driveInProcess(import.meta.url, each);

export async function main(args: readonly string[]): Promise<void> {
  const { json, effort } = optionsFrom(args, FULL, QUICK);
  const report: Figures[] = [];
  const take = (figures: readonly Figures[]) => {
    report.push(...figures);
    if (json) for (const each of figures) process.stdout.write(`${jsonLine("micro", each)}\n`);
  };
  take(await measure(systems, settings(WORK), effort, progress, inProcess));
  const figures = await measure(variants, settings([0]), effort, progress, inProcess);
  take(figures.filter((each) => !systems.includes(each.case)));
  if (!json) process.stdout.write(table(report));
  for (const goal of goals(report)) progress(`${goal.met ? "met" : "MISSED"}: ${goal.what}: ${goal.figure}`);
}

function settings(works: readonly number[]): Setting[] {
  return works.flatMap((work) => IN_FLIGHT.map((inFlight) => ({ work, inFlight })));
}

function progress(line: string): void {
  process.stderr.write(`micro: ${line}\n`);
}
