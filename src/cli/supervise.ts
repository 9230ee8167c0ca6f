import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { HeadwaterError } from "../errors.js";
import { SUPERVISED } from "../host/ports/index.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { onInterrupt } from "./interrupt.js";
import type { Terminal } from "./terminal.js";

/**
 * Runs the same command in a process of its own, and again each time that it ends by a signal or with an error: the journal has
 * what it knew. A program that has never begun to run, because it cannot be run, is not started again. One that has is, until
 * it is stopped: a process that ends before it is up may have been ended by an event in the journal, which later ones park.
 */

const MAIN = fileURLToPath(new URL("./main.js", import.meta.url));
const [FIRST_DELAY_MS, DELAY_MS_MAX] = [100, 10_000];
/** A process that lives for so long was not ended by what it found when it began. */
const LIVED_MS = 60_000;
const UP_FD = 3;
/** A process that ends with this code wants to be started again, with the program as it is now. */
export const RESTART = 75;

/** `headwater run --supervise`. */
export function superviseRun(run: CliCommand, { values }: Arguments, terminal: Terminal): Promise<number> {
  if (!values.has("journal") && !values.has("cluster")) {
    throw misused(
      run,
      "--supervise starts a program again where it was; it needs --journal or --cluster as well.",
    );
  }
  const args = process.argv.slice(2);
  return supervise(args.toSpliced(args.indexOf("--supervise"), 1), terminal);
}

/** `args` are those of the command without `--supervise`. Resolves with its last exit code. */
async function supervise(args: readonly string[], terminal: Terminal): Promise<number> {
  const stop = onInterrupt(() => {});
  try {
    for (let failures = 0, canRun = false; ; ) {
      const began = performance.now();
      const { code, signal, wasUp } = await oneLife(args, stop.signal);
      canRun ||= wasUp || signal !== null;
      if (stop.signal.aborted || code === 0 || !canRun) return code ?? 1;
      if (code === RESTART) continue;
      failures = performance.now() - began >= LIVED_MS ? 1 : failures + 1;
      const delayMs = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** (failures - 1));
      const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
      const what = `the process of the program ${how}. It is started again in ${delayMs} ms.`;
      terminal.say(new HeadwaterError("HW-6034", what).message);
      await sleep(delayMs, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return 0;
    }
  } finally {
    stop.release();
  }
}

interface Life {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Had it begun to run its program? */
  readonly wasUp: boolean;
}

function oneLife(args: readonly string[], stop: AbortSignal): Promise<Life> {
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, MAIN, ...args], {
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    env: { ...process.env, [SUPERVISED]: String(UP_FD) },
    detached: true, // Ctrl-C is for this process, which passes it on
  });
  const end = () => child.kill("SIGINT");
  stop.addEventListener("abort", end);
  let wasUp = false;
  child.stdio[UP_FD]?.on("data", () => {
    wasUp = true;
  });
  return new Promise((resolve) => {
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      stop.removeEventListener("abort", end);
      resolve({ code, signal, wasUp });
    };
    child.once("error", () => ended(1, null));
    child.once("close", ended);
  });
}
