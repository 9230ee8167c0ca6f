/** Appends groups of two large values, ten in flight, until they fail, then ten more, and says how that went. */
import type { HeadwaterError } from "headwater";
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { IDENTITY, outcome } from "../support.js";

// Otherwise the system ends a process that writes beyond its limit, and the write could not fail.
process.on("SIGXFSZ", () => {});

const [directory = ""] = process.argv.slice(2);
const journal = await openLmdbJournal(directory, IDENTITY, { durability: "synced" });
const value = Buffer.alloc(10_000, "x");
const errors: HeadwaterError[] = [];
let started = 0;
let safe = 0;

async function append(): Promise<void> {
  const own = started++;
  const error = await outcome(journal, [
    { key: `a/${own}`, value },
    { key: `b/${own}`, value },
  ]);
  if (error === null) safe += 1;
  else errors.push(error);
}

async function fill(): Promise<void> {
  while (errors.length === 0) await append();
}

await Promise.all(Array.from({ length: 10 }, fill));
await Promise.all(Array.from({ length: 10 }, append));
await journal.close();
const report = { safe, codes: errors.map(({ code }) => code), message: errors[0]?.message };
process.stdout.write(`${JSON.stringify(report)}\n`);
