import { startDurableTransfers, startTransfers } from "./lib/bank.js";
import { transferGoals } from "./lib/goals.js";
import { optionsFrom, withoutPeers } from "./lib/options.js";
import { findPostgres } from "./lib/peers.js";
import { startPostgresTransfers } from "./lib/postgres-transfer.js";
import { jsonLine, table } from "./lib/report.js";
import { type Effort, measure } from "./lib/rounds.js";
import type { Case } from "./lib/subject.js";

/**
 * Transfers between two of 1,000 accounts below one bank, few of which are used much more than the others: events that
 * make two awaited calls below. In memory, with a journal and, with `--peers`, beside PostgreSQL's transactions.
 */

const ACCOUNTS = 1000;
const IN_FLIGHT = [256, 1024];

const FULL: Effort = { rounds: 9, warmUpMs: 500, roundMs: 200 };
const QUICK: Effort = { rounds: 5, warmUpMs: 20, roundMs: 20 };

const of = (name: string, start: Case["start"], journal: Case["journal"], baseline: string): Case => {
  return { name, start, baseline, contexts: ACCOUNTS, countsPerEvent: 1, journal };
};

const cases: readonly Case[] = [
  of("headwater-transfer", startTransfers, "memory", "headwater-transfer"),
  of("headwater-transfer-durable", startDurableTransfers, "lmdb", "headwater-transfer"),
];

export async function main(args: readonly string[]): Promise<void> {
  const { peers, others } = withoutPeers(args);
  const { json, effort } = optionsFrom(others, FULL, QUICK);
  const { folder, missing } = peers ? findPostgres() : { folder: undefined, missing: [] };
  const beside: Case[] = [];
  if (folder !== undefined) {
    const start = (accounts: number) => startPostgresTransfers(accounts, folder);
    beside.push(of("postgres-transfer", start, "wal", "headwater-transfer-durable"));
  }
  const settings = IN_FLIGHT.map((inFlight) => ({ work: 0, inFlight }));
  const figures = await measure([...cases, ...beside], settings, effort, progress);
  if (json) for (const each of figures) process.stdout.write(`${jsonLine("transfer", each)}\n`);
  else process.stdout.write(table(figures));
  for (const goal of transferGoals(figures))
    progress(`${goal.met ? "met" : "MISSED"}: ${goal.what}: ${goal.figure}`);
  for (const sentence of missing) progress(sentence);
}

function progress(line: string): void {
  process.stderr.write(`transfer: ${line}\n`);
}
