/**
 * Appends groups that keep a sum, many in flight, until it is killed. Each group moves an amount between two
 * accounts and writes its own number under a key of its own; the numbers are said as they are acknowledged.
 */
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { Random } from "#src/sim/random.js";
import { ACCOUNTS, IDENTITY } from "../support.js";

const [directory = "", seed = "0", durability = "synced"] = process.argv.slice(2);
const journal = await openLmdbJournal(directory, IDENTITY, {
  durability: durability === "written" ? "written" : "synced",
  carryOver: { keys: 100, commits: 20, idleMs: 1 },
});
const random = new Random(Number(seed));
const amounts = Array.from({ length: ACCOUNTS }, (_, i) => Number(journal.get(`account/${i}`) ?? 0));
let number = Number(journal.get("last") ?? -1);

function transfer(): void {
  number += 1;
  const [from, to, amount] = [random.int(ACCOUNTS), random.int(ACCOUNTS), random.int(100)];
  amounts[from] = (amounts[from] ?? 0) - amount;
  amounts[to] = (amounts[to] ?? 0) + amount;
  const own = number;
  const write = (key: string, value: unknown) => ({ key, value: Buffer.from(String(value)) });
  journal.append(
    [
      write(`account/${from}`, amounts[from]),
      write(`account/${to}`, amounts[to]),
      write("last", own),
      write(`done/${String(own).padStart(9, "0")}`, own),
    ],
    (error) => {
      if (error !== null) throw error;
      process.stdout.write(`${own}\n`);
      transfer();
    },
  );
}
for (let i = 0; i < 50; i++) transfer();
