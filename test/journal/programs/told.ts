/** Opens a journal, and for each line that it is told appends a group with that key, and says how that went. */
import { createInterface } from "node:readline";
import { openJournal } from "#src/journal/open.js";
import { IDENTITY, outcome } from "../support.js";

const [directory = ""] = process.argv.slice(2);
const journal = await openJournal(directory, IDENTITY, {
  durability: "synced",
  carryOver: { idleMs: 1e9 },
  takeOver: true,
});
for await (const key of createInterface({ input: process.stdin })) {
  if (key === "close") break;
  const error = await outcome(journal, [{ key, value: Buffer.from(String(process.pid)) }]);
  process.stdout.write(`${JSON.stringify({ key, code: error?.code ?? null })}\n`);
}
await journal.close();
process.stdin.destroy(); // it would keep the process alive
