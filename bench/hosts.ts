import { startBareThreads } from "./lib/bare-threads.js";
import { driveInProcess } from "./lib/case-process.js";
import { startComedyThreads } from "./lib/comedy.js";
import { hostGoals } from "./lib/goals.js";
import { startCallsOnHosts, startOnHosts } from "./lib/headwater-hosts.js";
import { killHost, type Recovery } from "./lib/killed-host.js";
import { optionsFrom } from "./lib/options.js";
import { startPiscina } from "./lib/piscina.js";
import { jsonLine, table } from "./lib/report.js";
import { type Effort, type Figures, measure } from "./lib/rounds.js";
import type { Case } from "./lib/subject.js";
import { unitsIn } from "./lib/work.js";

/**
 * The counters of `micro` on two worker hosts, nothing durable: beside what bare messages between threads can do, an actor
 * library and a thread pool, each in a process of its own. Then with one millisecond of work per event, on one worker host and on two.
 */

const CONTEXTS = 160;
const BATCH = 256;
const WORK_MS = 1;
const KILLS = 5;
const IN_FLIGHT_WORK = 64;

const FULL: Effort = { rounds: 21, warmUpMs: 2000, roundMs: 200 };
const QUICK: Effort = { rounds: 3, warmUpMs: 20, roundMs: 20 };

const of = (name: string, hosts: number, baseline: string, start: Case["start"]): Case => {
  return { name, hosts, start, baseline, contexts: CONTEXTS, countsPerEvent: 1, journal: "none" };
};

const small: readonly Case[] = [
  of("batched-messages", 1, "batched-messages", (contexts) => startBareThreads(contexts, 1, BATCH)),
  of("headwater-hosts", 2, "batched-messages", (contexts) => startOnHosts(contexts)),
  of("headwater-call-near", 2, "batched-messages", (contexts) => startCallsOnHosts(contexts, "near")),
  of("headwater-call-far", 2, "batched-messages", (contexts) => startCallsOnHosts(contexts, "far")),
  of("comedy-threads", 2, "batched-messages", startComedyThreads),
  of("piscina", 2, "batched-messages", startPiscina),
];

const large: readonly Case[] = [
  of("bare-threads-work-1", 1, "bare-threads-work-1", (contexts) => startBareThreads(contexts, 1, 1)),
  of("bare-threads-work-2", 2, "bare-threads-work-1", (contexts) => startBareThreads(contexts, 2, 1)),
  of("headwater-hosts-work-1", 1, "headwater-hosts-work-1", (contexts) => startOnHosts(contexts, 1)),
  of("headwater-hosts-work-2", 2, "headwater-hosts-work-1", (contexts) => startOnHosts(contexts, 2)),
];

export const cases: readonly Case[] = [...small, ...large];

const inProcess = (each: Case) => driveInProcess(import.meta.url, each);

export async function main(args: readonly string[]): Promise<void> {
  const { json, effort } = optionsFrom(args, FULL, QUICK);
  const report: Figures[] = [];
  const take = (figures: readonly Figures[]) => {
    report.push(...figures);
    if (json) for (const each of figures) process.stdout.write(`${jsonLine("hosts", each)}\n`);
  };
  const settings = [1, 1024].map((inFlight) => ({ work: 0, inFlight }));
  take(await measure(small, settings, effort, progress, inProcess));
  const work = { work: unitsIn(WORK_MS), inFlight: IN_FLIGHT_WORK };
  take(await measure(large, [work], effort, progress, inProcess));
  if (!json) process.stdout.write(table(report));
  await killed(json, effort.rounds);
  for (const goal of hostGoals(report))
    progress(`${goal.met ? "met" : "MISSED"}: ${goal.what}: ${goal.figure}`);
}

const KILLED_MS_MAX = 300;

/** The median of a few kills. */
async function killed(json: boolean, rounds: number): Promise<void> {
  const all: Recovery[] = [];
  for (let round = 0; round < Math.min(rounds, KILLS); round++) all.push(await killHost(CONTEXTS));
  const middle = all.toSorted((a, b) => a.firstMs - b.firstMs)[all.length >> 1] as Recovery;
  const rounded = Object.fromEntries(
    Object.entries(middle).map(([name, value]) => [name, Math.round(value)]),
  );
  const line = {
    bench: "hosts",
    case: "host-killed",
    hosts: 2,
    journal: "log",
    kills: all.length,
    ...rounded,
  };
  if (json) process.stdout.write(`${JSON.stringify(line)}\n`);
  progress(
    `${middle.firstMs <= KILLED_MS_MAX ? "met" : "MISSED"}: a context of a killed host answers within ${KILLED_MS_MAX} ms: ` +
      `${rounded.firstMs} ms, all ${rounded.contexts} of them after ${rounded.allMs} ms, others after ${rounded.otherMs} ms`,
  );
}

function progress(line: string): void {
  process.stderr.write(`hosts: ${line}\n`);
}
