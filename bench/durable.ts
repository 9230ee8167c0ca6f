import { startAppendSync } from "./lib/append-sync.js";
import { durableGoals } from "./lib/goals.js";
import { startByKey, startDurable } from "./lib/headwater.js";
import { startDurableOverSocket, startOverSocket } from "./lib/headwater-ws.js";
import { optionsFrom, withoutPeers } from "./lib/options.js";
import { findPeers } from "./lib/peers.js";
import { jsonLine, table } from "./lib/report.js";
import { type Effort, measure } from "./lib/rounds.js";
import type { Case } from "./lib/subject.js";

/**
 * The counters of `micro` with a journal on a real disk: every reply waits until the disk has the event. Beside a file
 * that is appended to and synced by hand, in the program's own process and over a WebSocket from another one; with
 * `--peers` also beside PostgreSQL and Redis.
 */

const CONTEXTS = 160;
const IN_FLIGHT = [1, 256, 1024];

const FULL: Effort = { rounds: 9, warmUpMs: 400, roundMs: 200 };
const QUICK: Effort = { rounds: 5, warmUpMs: 20, roundMs: 20 };

const of = (name: string, start: Case["start"], journal: Case["journal"], baseline: string): Case => {
  return { name, start, baseline, contexts: CONTEXTS, countsPerEvent: 1, journal };
};

const cases: readonly Case[] = [
  of("append-fdatasync", startAppendSync, "none", "append-fdatasync"),
  of("headwater-durable", startDurable, "log", "append-fdatasync"),
  of(
    "headwater-durable-written",
    (contexts) => startDurable(contexts, "written"),
    "log",
    "headwater-durable",
  ),
  of(
    "headwater-durable-history",
    (contexts) => startDurable(contexts, "synced", { history: "1h" }),
    "log",
    "headwater-durable",
  ),
  of("headwater-durable-ws", startDurableOverSocket, "log", "headwater-durable"),
  of("headwater", startByKey, "memory", "headwater-durable"),
  of("headwater-ws", startOverSocket, "memory", "headwater-durable"),
];

export async function main(args: readonly string[]): Promise<void> {
  const { peers, others } = withoutPeers(args);
  const { json, effort } = optionsFrom(others, FULL, QUICK);
  const found = peers ? findPeers() : { cases: [], missing: [] };
  const beside = found.cases.map(({ name, start, journal }) => of(name, start, journal, "append-fdatasync"));
  for (const sentence of found.missing) progress(sentence);
  const settings = IN_FLIGHT.map((inFlight) => ({ work: 0, inFlight }));
  const figures = await measure([...cases, ...beside], settings, effort, progress);
  if (json) for (const each of figures) process.stdout.write(`${jsonLine("durable", each)}\n`);
  else process.stdout.write(table(figures));
  for (const goal of durableGoals(figures))
    progress(`${goal.met ? "met" : "MISSED"}: ${goal.what}: ${goal.figure}`);
  for (const sentence of found.missing) progress(sentence); // again, beside the figures that lack it
}

function progress(line: string): void {
  process.stderr.write(`durable: ${line}\n`);
}
