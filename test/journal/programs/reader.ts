/** Opens a journal, says how many keys it has, writes one, and closes it. */
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { IDENTITY, write } from "../support.js";

const [directory = ""] = process.argv.slice(2);
const journal = await openLmdbJournal(directory, IDENTITY, { durability: "synced" });
process.stdout.write(`${JSON.stringify([...journal.range("")].length)}\n`);
await write(journal, { one: "more" });
await journal.close();
