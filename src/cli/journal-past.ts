import { type Arguments, misused } from "./arguments.js";
import { journal } from "./journal.js";
import { entryAsJson } from "./journal-owned.js";
import { PastJournal, statesIn } from "./past-journal.js";
import type { Terminal } from "./terminal.js";

/** `journal at`: every key of a state with the value that it had as of a ticket. */
export async function showAt(directory: string, terminal: Terminal, args: Arguments): Promise<number> {
  const [ticket, ...others] = ticketsIn(args);
  if (ticket === undefined || others.length > 0) throw misused(journal, "at takes one ticket: --ticket N.");
  const past = await PastJournal.of(directory);
  for (const [key, value] of statesIn(past.at(past.node(args.values.get("node")), ticket)))
    terminal.out(`{"key":${JSON.stringify(key)},"value":${entryAsJson(key, value)}}`);
  return 0;
}

/** `journal diff`: the keys of states whose values differ between two tickets. */
export async function showDiff(directory: string, terminal: Terminal, args: Arguments): Promise<number> {
  const [from, to] = ticketsIn(args);
  if (from === undefined || to === undefined)
    throw misused(journal, "diff takes two tickets: --ticket N..M.");
  const past = await PastJournal.of(directory);
  const node = past.node(args.values.get("node"));
  const [before, after] = [past.at(node, from), past.at(node, to)];
  const keys = new Set([...statesIn(before), ...statesIn(after)].map(([key]) => key));
  for (const key of [...keys].sort()) {
    const line = differenceOf(key, before.get(key), after.get(key));
    if (line !== null) terminal.out(line);
  }
  return 0;
}

/** One line of JSON for a key with two values; null if they are the same. */
export function differenceOf(
  key: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
): string | null {
  if (before !== undefined && after !== undefined && Buffer.compare(before, after) === 0) return null;
  if (before === undefined && after === undefined) return null;
  const shown = (value: Uint8Array | undefined) => (value === undefined ? "null" : entryAsJson(key, value));
  return `{"key":${JSON.stringify(key)},"before":${shown(before)},"after":${shown(after)}}`;
}

function ticketsIn({ values }: Arguments): number[] {
  const written = values.get("ticket") ?? "";
  if (!/^\d{1,15}(\.\.\d{1,15})?$/.test(written))
    throw misused(journal, "--ticket is the number of a ticket, or two of them: 100..200.");
  return written.split("..").map(Number);
}
