import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { NotesProcess } from "../notes.js";

/**
 * Runs inside a mount namespace: fills the small file system in `folder` with notes until they fail, makes room, starts again, and
 * says what it found.
 */

const [folder = ""] = process.argv.slice(2);
const journal = join(folder, "journal");
const textOf = (i: number) => `${i} `.repeat(10_000);
const WRITERS = 8;

const notes = await NotesProcess.start(null, journal);
const acknowledged: number[] = [];
const refused: string[] = [];
let next = 0;

async function fill(): Promise<void> {
  while (refused.length === 0) {
    const own = next++;
    const what = await notes.write(`${own}`, textOf(own));
    if (what === "ok") acknowledged.push(own);
    else refused.push(what);
  }
}

await Promise.all(Array.from({ length: WRITERS }, fill));
notes.kill();
await notes.ended;

execFileSync("mount", ["-o", "remount,size=512m", folder]);
const again = await NotesProcess.start(null, journal);
const wrong: string[] = [];
for (const i of acknowledged) {
  const [text] = await again.read(`${i}`);
  if (text !== textOf(i)) wrong.push(`${i}: ${text.slice(0, 20)}`);
}
const then = await again.write("more", "room");
again.stop();
await again.ended;
process.stdout.write(JSON.stringify({ acknowledged: acknowledged.length, refused, wrong, then }));
