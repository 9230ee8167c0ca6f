/**
 * Takes the journal and writes numbers to it, ten in flight, with a small log and table so that both change files all the
 * time. Says each number that is acknowledged, and in the end the code of the error.
 */
import { openJournal } from "#src/journal/open.js";
import { IDENTITY } from "../support.js";

const [directory = ""] = process.argv.slice(2);
const journal = await openJournal(directory, IDENTITY, {
  durability: "synced",
  takeOver: true,
  carryOver: { keys: 50, logBytes: 5000 },
  segments: { min: 8192, max: 16384 },
});
const last = journal.get("last");
let number = last === undefined ? 0 : Number(Buffer.from(last).toString());
let isOver = false;

function append(): void {
  number += 1;
  const value = Buffer.from(String(number));
  journal.append(
    [
      { key: "last", value },
      { key: `key/${number % 100}`, value },
    ],
    (error) => {
      if (error === null) process.stdout.write(`${value.toString()}\n`);
      else if (!isOver) process.stdout.write(`${JSON.stringify(error.code)}\n`);
      isOver ||= error !== null;
      if (!isOver) append();
    },
  );
}

for (let i = 0; i < 10; i++) append();
setInterval(() => {}, 1e9);
