import { importsIn, type Need, roomOf, roomTable } from "../test/house/imports.js";
import { filesIn } from "../test/house/source.js";

/**
 * Prints which rooms of `src` need which others, and by how many imports: `npm run imports`, or `npm run imports -- host`
 * for those of one folder. What a room loads never leads back to it (`test/house/rooms.test.ts`); what it only names may.
 */

const WORDS: Record<Need, string> = { value: "loads", type: "names", start: "starts" };

const [folder = ""] = process.argv.slice(2);
const files = filesIn(["src"], [".ts"]);
const table = roomTable(importsIn(files));
const rooms = [...new Set(files.map(({ path }) => roomOf(path)))].sort();

for (const room of rooms.filter((each) => each.startsWith(folder))) {
  const count = files.filter(({ path }) => roomOf(path) === room).length;
  console.log(`${room} (${count} ${count === 1 ? "file" : "files"})`);
  const row = [...(table.get(room) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [need, word] of Object.entries(WORDS) as [Need, string][]) {
    // What is loaded anyway is not worth naming.
    const others = row.filter(([, counts]) => counts[need] > 0 && (need !== "type" || counts.value === 0));
    if (others.length === 0) continue;
    console.log(
      `  ${word.padEnd(6)} ${others.map(([other, counts]) => `${other} ${counts[need]}`).join(", ")}`,
    );
  }
}
