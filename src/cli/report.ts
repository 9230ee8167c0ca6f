import { fileURLToPath } from "node:url";
import { HeadwaterError } from "../errors.js";
import { paint, type Terminal } from "./terminal.js";

const FAILED = 1;
const MISUSED = 2;
/** The command line, or what it names: nothing was done. */
const NOT_UNDERSTOOD = [
  "HW-2001",
  "HW-2004",
  "HW-2005",
  "HW-3001",
  "HW-5001",
  "HW-5002",
  "HW-5003",
  "HW-5004",
  "HW-5006",
  "HW-5007",
  "HW-5010",
  "HW-6022",
];

/** Tells people, or with `--json` the reading program, what went wrong; returns the exit code. */
export function report(error: unknown, terminal: Terminal, json: boolean): number {
  const code = error instanceof HeadwaterError ? error.code : undefined;
  if (json) terminal.out(JSON.stringify({ kind: "error", code, message: messageOf(error) }));
  terminal.say(`${paint(terminal, ["bold", "red"], "error")} ${messageOf(error)}`);
  for (const line of whereabouts(error)) terminal.say(paint(terminal, "dim", line));
  if (code !== undefined) {
    terminal.say(`More about it: ${paint(terminal, "bold", `headwater explain ${code}`)}`);
  }
  return NOT_UNDERSTOOD.some((each) => each === code) ? MISUSED : FAILED;
}

export function messageOf(error: unknown): string {
  return error instanceof Error
    ? error.message || error.name
    : `something was thrown that is not an error: ${String(error)}`;
}

/** With source maps, this package's own lines are those of its sources, under paths instead of addresses. */
const OWN = ["../../dist/", "../../src/"].map((folder) => new URL(folder, import.meta.url));
const OTHERS = ["node:", "(<anonymous>)", ...OWN.flatMap((url) => [url.href, fileURLToPath(url)])];

/** The lines of the stack that lie in the program; those inside Node, JavaScript and this package help no reader. */
export function whereabouts(error: unknown): string[] {
  const deepest = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(deepest instanceof Error) || deepest.stack === undefined) return [];
  return deepest.stack
    .split("\n")
    .filter((line) => /^\s+at (?!async Promise\.)/.test(line) && !OTHERS.some((each) => line.includes(each)));
}
