/** Opens a journal, appends that many commits of one group each, says "waiting", and writes one more for each line it is told. */
import { createInterface } from "node:readline";
import { openJournal } from "#src/journal/open.js";
import { IDENTITY, write } from "../support.js";

const [directory = "", count = ""] = process.argv.slice(2);
const journal = await openJournal(directory, IDENTITY, {
  durability: "synced",
  carryOver: { idleMs: 1e9 },
});
for (let i = 0; i < Number(count); i++) await write(journal, { [`c/${i}`]: `value ${i}` });
process.stdout.write(`${JSON.stringify("waiting")}\n`);
for await (const key of createInterface({ input: process.stdin })) {
  await write(journal, { [key]: "x" });
  process.stdout.write(`${JSON.stringify("written")}\n`);
}
