/** Opens a journal, appends that many commits of one group each, says "waiting", and waits to be killed. */
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { IDENTITY, write } from "../support.js";

const [directory = "", count = ""] = process.argv.slice(2);
const journal = await openLmdbJournal(directory, IDENTITY, {
  durability: "synced",
  carryOver: { idleMs: 1e9 },
});
for (let i = 0; i < Number(count); i++) await write(journal, { [`c/${i}`]: `value ${i}` });
process.stdout.write(`${JSON.stringify("waiting")}\n`);
setInterval(() => {}, 1e9);
