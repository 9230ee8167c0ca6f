import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { NotesProcess } from "../notes.js";

/**
 * Runs inside a mount namespace: fills the small file system in `folder` with notes until they are refused, makes room, waits until
 * the program goes on, ends and starts it again, and says what it found.
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

const filling = Array.from({ length: WRITERS }, fill);
await Promise.race(filling); // those that were let in before wait for room
execFileSync("mount", ["-o", "remount,size=512m", folder]);
await Promise.all(filling);
let then = "HW-3026";
while (then === "HW-3026") then = await notes.write("more", "room");
notes.kill();
await notes.ended;

const again = await NotesProcess.start(null, journal);
const wrong: string[] = [];
for (const i of acknowledged) {
  const [text] = await again.read(`${i}`);
  if (text !== textOf(i)) wrong.push(`${i}: ${text.slice(0, 20)}`);
}
if ((await again.read("more"))[0] !== "room") wrong.push("more");
again.stop();
await again.ended;
process.stdout.write(JSON.stringify({ acknowledged: acknowledged.length, refused, wrong, then }));
