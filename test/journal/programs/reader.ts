/** Is told directories. Opens the journal there, reads all keys, writes one, closes it, and says how that went. */
import { createInterface } from "node:readline";
import { HeadwaterError } from "headwater";
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { IDENTITY, write } from "../support.js";

async function read(directory: string): Promise<number> {
  const journal = await openLmdbJournal(directory, IDENTITY, { durability: "synced" });
  const { length } = [...journal.range("")];
  await write(journal, { one: "more" });
  await journal.close();
  return length;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { number, directory } = JSON.parse(line) as { number: number; directory: string };
  const report = await read(directory).then(
    (keys) => ({ number, keys }),
    (error: unknown) => ({ number, code: error instanceof HeadwaterError ? error.code : String(error) }),
  );
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
