/** What can go wrong with a journal, in the words that people read. */

import { statfsSync } from "node:fs";
import { HeadwaterError } from "../errors.js";

/** Codes of lmdb for a file that is not what it should be. */
const DAMAGED = new Set([-30797, -30796, -30794, -30793, -30787, -30782, -30781, -30779]);
const REASONS = new Map<unknown, string>([
  [28, "the disk is full"],
  ["ENOSPC", "the disk is full"],
  [27, "the file may not grow any further"],
  [122, "the disk quota is used up"],
]);
const INPUT_OUTPUT_ERROR = 5;
const FULL_BYTES = 2 ** 20;

export function notAJournal(directory: string, why: string, advice = TO_MAKE_ONE): HeadwaterError {
  return new HeadwaterError(
    "HW-3001",
    `${directory} is not a journal: ${why}. Nothing was changed. ${advice}.`,
  );
}

const TO_MAKE_ONE = "Name a directory that is empty, does not exist yet, or holds a journal";

export function anotherProgram(directory: string, found: string, wanted: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3002",
    `The journal in ${directory} belongs to the program "${found}", not to "${wanted}". Nothing was changed. ` +
      `Run "${found}" with it, or name another directory for "${wanted}".`,
  );
}

export function anotherFormat(
  directory: string,
  what: string,
  found: number,
  wanted: number,
): HeadwaterError {
  const [age, cure] =
    found > wanted
      ? ["newer", "Use the version of Headwater that wrote it, or a later one"]
      : ["older", "Use the version of Headwater that wrote it, or start with another directory"];
  return new HeadwaterError(
    "HW-3003",
    `The journal in ${directory} has ${what} ${found}, which is ${age} than ${wanted}, the version that this one ` +
      `reads and writes. Nothing was changed. ${cure}.`,
  );
}

export function damaged(directory: string, what: string, cause?: unknown): HeadwaterError {
  return new HeadwaterError(
    "HW-3004",
    `The journal in ${directory} is damaged: ${what}. \`headwater journal verify ${directory}\` lists all that is; ` +
      "restore the directory from a backup.",
    { cause },
  );
}

export function inUse(directory: string, pid: string | null): HeadwaterError {
  const owner =
    pid === null ? "another process" : pid === String(process.pid) ? "this process" : `process ${pid}`;
  return new HeadwaterError(
    "HW-3024",
    `The journal in ${directory} is in use: ${owner} has it open. Nothing was changed. Stop that process first, or ` +
      "take the journal over from it: `--take-over`, or `takeOver: true` in the options of `run`.",
  );
}

export function fenced(directory: string, epoch: number): HeadwaterError {
  return new HeadwaterError(
    "HW-3005",
    `Another process has opened the journal in ${directory} and taken it over (this one opened it as number ` +
      `${epoch}). This process can write nothing more; what it was not told to be safe may not be there. Stop it.`,
  );
}

export function closed(directory: string): HeadwaterError {
  return new HeadwaterError("HW-3007", `The journal (${directory}) was closed before this.`);
}

export function full(address: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3026",
    `The journal in ${address} has no room: the disk is full, or cannot keep up. Nothing new is let in, and nothing is lost; ` +
      "what was let in before waits. Make room: the program goes on by itself.",
  );
}

/** Something else has to end first, and does not. */
export function held(directory: string, pid: string | null, doing: string): HeadwaterError {
  const owner = pid === null ? "another process" : `process ${pid}`;
  return new HeadwaterError(
    "HW-3027",
    `The journal in ${directory} is held by ${owner}, which does not let it go: ${doing} has waited long enough. Nothing was ` +
      `changed. If that process is stopped, let it go on (\`kill -CONT ${pid ?? "PID"}\`), or end it (\`kill -KILL ${pid ?? "PID"}\`).`,
  );
}

/** An error of the file system or of lmdb as one of ours: damage if it is damage, otherwise a failed read or write. */
export function failed(directory: string, doing: string, cause: unknown): HeadwaterError {
  if (cause instanceof HeadwaterError) return cause;
  const code = codeOf(cause);
  const message = cause instanceof Error ? cause.message : String(cause);
  if (typeof code === "number" && DAMAGED.has(code)) {
    return damaged(directory, `${doing} failed with "${message}"`, cause);
  }
  const why = reasonOf(directory, code);
  return new HeadwaterError(
    "HW-3006",
    `The journal in ${directory} could not be used: ${doing} failed${why ? ` because ${why}` : ""} (${message}). ` +
      "What was acknowledged before is safe. Nothing more is written until the cause is removed and the program " +
      "is started again.",
    { cause },
  );
}

/** When a write fits only in part, lmdb calls it an input/output error; most likely the disk is full then. */
function reasonOf(directory: string, code: unknown): string | undefined {
  if (code !== INPUT_OUTPUT_ERROR) return REASONS.get(code);
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < FULL_BYTES ? "the disk is full" : undefined;
  } catch {
    return undefined; // The disk is gone, or the system cannot say: the error itself has to do.
  }
}

function codeOf(cause: unknown): unknown {
  return typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
}
