import { fork } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";
import { dataFile } from "./directory.js";
import { headerOf } from "./header.js";
import { damaged } from "./problems.js";
import { openStore } from "./store.js";
import { withSurvey } from "./survey.js";

/**
 * Reads all of a journal in a process of its own, because lmdb does not survive reading some kinds of damage.
 * Resolves to what is wrong, or to null.
 */
export function probe(directory: string): Promise<string | null> {
  const program = fileURLToPath(new URL("./probe-process.js", import.meta.url));
  const child = fork(program, [directory], { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  let found: string | null = null;
  child.on("message", (what) => {
    found = String(what);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(found);
      else resolve(`data.mdb cannot be read (a process that tried to was ended by ${signal ?? code})`);
    });
  });
}

/**
 * What `probe` has done in another process: whether everything that should be there can be read, whatever its
 * checksums say, and whether a write could begin, for which lmdb reads its list of free pages.
 */
export async function tryAll(directory: string): Promise<string | null> {
  try {
    const missing = await withSurvey(directory, async (survey) => {
      for (const _ of survey.entries);
      return survey.missing();
    });
    if (missing !== 0) return `${missing} entries of data.mdb are missing`;
    if (canWrite(directory)) tryWriting(directory);
    return null;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return `data.mdb cannot be read (${cause instanceof Error ? cause.message : String(cause)})`;
  }
}

/** A copy on a medium that is read only can be read through, and that is all. */
function canWrite(directory: string): boolean {
  try {
    for (const path of [directory, dataFile(directory)]) accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Begins a transaction that writes, reads what it wrote, and calls it off. */
function tryWriting(directory: string): void {
  const { root, meta } = openStore(directory, "synced");
  const calledOff = new Error("called off");
  try {
    root.transactionSync(() => {
      meta.putSync("probe", Buffer.alloc(0), 1);
      throw meta.getEntry("probe") === undefined ? new Error("a write was lost") : calledOff;
    });
  } catch (error) {
    if (error !== calledOff) throw error;
  }
}

/**
 * A data file may rightly end before its last page (see `header.ts`), but one that was cut off looks the same, and
 * reading it would end the process. So another process reads all of it first. This is rare: after a close, the file
 * has its full length.
 */
export async function checkLength(path: string, onWarning?: (text: string) => void): Promise<void> {
  const header = headerOf(dataFile(path));
  if (header.kind !== "fine" || header.bytes >= header.bytesMax) return;
  onWarning?.(`${dataFile(path)} is shorter than it might be; checking it.`);
  const trouble = await probe(path);
  if (trouble !== null) throw damaged(path, trouble);
}
