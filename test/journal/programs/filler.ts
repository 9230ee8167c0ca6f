/**
 * Appends groups of two large values, ten in flight, until the journal lets nothing new in; then thirty more, as
 * events do that were let in before; then makes room, goes on, closes the journal, and says how that went. Groups that
 * were let in before may have to wait until there is room: it is made without waiting for them.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openJournal } from "#src/journal/open.js";
import { IDENTITY, outcome } from "../support.js";

const [place = ""] = process.argv.slice(2);
const ballast = join(place, "ballast");
const directory = join(place, "journal");
writeFileSync(ballast, Buffer.alloc(16 * 2 ** 20));

const options = { durability: "synced", carryOver: { keys: 100 } } as const;
const journal = await openJournal(directory, IDENTITY, options);
const value = Buffer.alloc(10_000, "x");
const codes: string[] = [];
let started = 0;
let safe = 0;

async function append(): Promise<void> {
  const own = started++;
  const error = await outcome(journal, [
    { key: `a/${own}`, value },
    { key: `b/${own % 50}`, value },
  ]);
  if (error === null) safe += 1;
  else codes.push(error.code);
}

let refused = journal.refusal();
const fills = Array.from({ length: 10 }, async () => {
  while (refused === null) await append();
});
while (refused === null) {
  await new Promise(setImmediate);
  refused = journal.refusal();
}
const safeWhenFull = safe;
const others = Array.from({ length: 30 }, append);
rmSync(ballast);
await Promise.all([...fills, ...others]);
while (journal.refusal() !== null) await new Promise((resolve) => setTimeout(resolve, 10));
await append();
await journal.close();

const again = await openJournal(directory, IDENTITY, options);
const found = [...again.range("a/")].length;
await again.close();
process.stdout.write(
  `${JSON.stringify({ refused: refused.code, safeWhenFull, appended: started, codes, found })}\n`,
);
