/**
 * Appends groups that keep a sum, many in flight, until it is killed. Each group moves an amount between two
 * accounts and writes its own number under a key of its own, of which the last `kept` stay; the numbers are said as
 * they are acknowledged. It begins when it is told to.
 */
import { once } from "node:events";
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { Random } from "#src/sim/random.js";
import { decode, encode } from "#src/state/codec.js";
import { ACCOUNTS, IDENTITY } from "../support.js";

const [directory = "", seed = "0", durability = "synced", kept = "Infinity"] = process.argv.slice(2);
await once(process.stdin, "data");
const journal = await openLmdbJournal(directory, IDENTITY, {
  durability: durability === "written" ? "written" : "synced",
  carryOver: { keys: 100, commits: 20, idleMs: 1 },
});
const random = new Random(Number(seed));
const amounts = Array.from({ length: ACCOUNTS }, (_, i) => read(`account/${i}`) ?? 0);
let number = read("last") ?? -1;

function read(key: string): number | undefined {
  const value = journal.get(key);
  return value && Number(decode(value));
}

function transfer(): void {
  number += 1;
  const [from, to, amount] = [random.int(ACCOUNTS), random.int(ACCOUNTS), random.int(100)];
  amounts[from] = (amounts[from] ?? 0) - amount;
  amounts[to] = (amounts[to] ?? 0) + amount;
  const own = number;
  const write = (key: string, value: unknown) => ({ key, value: encode(value) });
  const outdated = own - Number(kept);
  journal.append(
    [
      write(`account/${from}`, amounts[from]),
      write(`account/${to}`, amounts[to]),
      write("last", own),
      write(doneKey(own), own),
      ...(outdated >= 0 ? [{ key: doneKey(outdated), value: null }] : []),
    ],
    (error) => {
      if (error !== null) throw error;
      process.stdout.write(`${own}\n`);
      transfer();
    },
  );
}

function doneKey(done: number): string {
  return `done/${String(done).padStart(9, "0")}`;
}

for (let i = 0; i < 50; i++) transfer();
