import { HeadwaterError } from "../errors.js";
import { paint, type Terminal } from "./terminal.js";

const FAILED = 1;
const MISUSED = 2;
/** The command line, or a file that it names. */
const NOT_UNDERSTOOD = ["HW-2001", "HW-5001", "HW-5002", "HW-5003", "HW-5006", "HW-5007", "HW-6022"];

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

/** The lines of the stack that lie in the program; those inside Node, JavaScript and this package help nobody. */
function whereabouts(error: unknown): string[] {
  const deepest = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(deepest instanceof Error) || deepest.stack === undefined) return [];
  const others = ["node:", "(<anonymous>)", new URL("..", import.meta.url).href];
  return deepest.stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && !others.some((each) => line.includes(each)));
}
