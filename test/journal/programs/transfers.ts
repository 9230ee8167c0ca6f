/**
 * Appends groups that keep a sum, many in flight, until it is killed, to each of the journals that it is given as
 * `synced:DIRECTORY` or `written:DIRECTORY`. A group moves an amount between two accounts and writes its own number
 * under a key of its own, of which the last `kept` stay. The numbers are said with the durability as they are
 * acknowledged. It begins when it is told to.
 */
import { once } from "node:events";
import { openJournal } from "#src/journal/open.js";
import { Random } from "#src/random.js";
import { decode, encode } from "#src/state/codec.js";
import { ACCOUNTS, IDENTITY } from "../support.js";

const [seed = "0", kept = "Infinity", ...journals] = process.argv.slice(2);

async function begin(durability: "synced" | "written", directory: string): Promise<void> {
  const carryOver = { keys: 100, logBytes: 20_000, idleLogBytes: 1, idleMs: 1 };
  const journal = await openJournal(directory, IDENTITY, { durability, carryOver });
  const random = new Random(Number(seed));
  const read = (key: string) => {
    const value = journal.get(key);
    return value && Number(decode(value));
  };
  const amounts = Array.from({ length: ACCOUNTS }, (_, i) => read(`account/${i}`) ?? 0);
  let number = read("last") ?? -1;

  function transfer(): void {
    number += 1;
    const [from, to, amount] = [random.int(ACCOUNTS), random.int(ACCOUNTS), random.int(100)];
    amounts[from] = (amounts[from] ?? 0) - amount;
    amounts[to] = (amounts[to] ?? 0) + amount;
    const own = number;
    const outdated = own - Number(kept);
    journal.append(
      [
        { key: `account/${from}`, value: encode(amounts[from]) },
        { key: `account/${to}`, value: encode(amounts[to]) },
        { key: "last", value: encode(own) },
        { key: doneKey(own), value: encode(own) },
        ...(outdated >= 0 ? [{ key: doneKey(outdated), value: null }] : []),
      ],
      (error) => {
        if (error !== null) throw error;
        process.stdout.write(`${JSON.stringify([durability, own])}\n`);
        transfer();
      },
    );
  }
  for (let i = 0; i < 50; i++) transfer();
}

function doneKey(done: number): string {
  return `done/${String(done).padStart(9, "0")}`;
}

await once(process.stdin, "data");
for (const each of journals) {
  const [, durability, directory = ""] = /^(\w+):(.*)$/.exec(each) ?? [];
  await begin(durability === "written" ? "written" : "synced", directory);
}
