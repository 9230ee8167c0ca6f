import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { SUPERVISED } from "../host/ports/index.js";
import { DASHBOARD_TOKEN } from "./places.js";
import { ENDS_WITH_STDIN } from "./run-program.js";

const MAIN = fileURLToPath(new URL("./main.js", import.meta.url));
const CHECK = fileURLToPath(new URL("./check-program.js", import.meta.url));
const UP_FD = 3;
/** A program that takes longer to stop is ended: its journal has what counts. */
const STOP_MS_MAX = 5000;

/** One life of the program that `headwater dev` runs: a process of its own, so that its code can be replaced. */
export class DevProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<string>;
  /** Resolves with whether it came up; it has said why not. */
  readonly up: Promise<boolean>;

  constructor(args: readonly string[], token: string) {
    this.#child = spawn(process.execPath, [...process.execArgv, MAIN, "run", ...args], {
      stdio: ["pipe", "inherit", "inherit", "pipe"],
      env: {
        ...process.env,
        [DASHBOARD_TOKEN]: token,
        [SUPERVISED]: String(UP_FD),
        [ENDS_WITH_STDIN]: "1",
      },
      detached: true, // Ctrl-C is for the process that started it
    });
    this.ended = new Promise((resolve) => {
      this.#child.once("error", ({ message }) => resolve(message));
      this.#child.once("close", (code, signal) => {
        resolve(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`);
      });
    });
    const cameUp = new Promise<boolean>((resolve) => {
      this.#child.stdio[UP_FD]?.once("data", () => resolve(true));
    });
    this.up = Promise.race([cameUp, this.ended.then(() => false)]);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS_MAX);
    await this.ended;
    clearTimeout(late);
  }
}

/** Can this program run, with this journal? Null if so, else why not. */
export function problemOf(file: string, journal: string | null): Promise<string | null> {
  const args = journal === null ? [file] : [file, journal];
  const child = spawn(process.execPath, [...process.execArgv, CHECK, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code) =>
      resolve(code === 0 ? null : said.trimEnd() || `it ended with code ${code}`),
    );
  });
}
