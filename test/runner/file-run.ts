import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { kill, MARK, processesOf, type Started } from "./processes.js";
import type { Report } from "./reporter.js";

const REPORTER = new URL("reporter.ts", import.meta.url).href;
const ONE_FILE = fileURLToPath(new URL("one-file.ts", import.meta.url));

/**
 * When does a test hang? Not when much time has passed: the machine may be busy with other things. A file hangs when it has
 * made no progress (no test began or ended, nothing was printed) for a while in which its processes either did next to
 * nothing and had nothing to do, or used up far more processor time than any test needs. First, what it waits for by name
 * (`test/waits.ts`) fails, so that the test says what it is that never came.
 */
export interface Patience {
  readonly lookEveryMs: number;
  /** How many looks in a row may find the processes idle before what the file waits for by name fails. */
  readonly waitLooksMax: number;
  /** How many looks in a row may find the processes idle. */
  readonly idleLooksMax: number;
  readonly busyCpuMsMax: number;
  /** How many looks may find processes that the file has left behind. */
  readonly leftoverLooksMax: number;
}

const PATIENCE: Patience = {
  lookEveryMs: 2_000,
  waitLooksMax: 10,
  idleLooksMax: 30,
  busyCpuMsMax: 400_000,
  leftoverLooksMax: 300,
};

/** Processes that use less of a processor than this are idle. */
const IDLE_SHARE = 0.01;
/** Processes that use less than this are quiet: heartbeats of a cluster and looks at conditions go on while all else hangs. */
const QUIET_SHARE = 0.05;
/** What a look counts, in idle looks, if it finds the processes quiet, quiet but with work to do, or busy. */
const QUIET_COUNTS = 0.2;
const QUIET_AT_WORK_COUNTS = -0.5;
const BUSY_COUNTS = -3;

export interface FileResult {
  readonly file: string;
  readonly passed: number;
  /** What went wrong, each with where and why. Empty if all is well. */
  readonly failures: readonly string[];
  /** What the file printed. */
  readonly printed: string;
  readonly ms: number;
  /** Processor time of the file and of all that it has started and waited for. */
  readonly cpuMs: number;
}

/** One test file in a process of its own, with everything that it starts. */
export class FileRun {
  readonly #child: ChildProcess;
  readonly #mark: string;
  readonly #failures: string[] = [];
  /** The tests under way, outermost first. */
  readonly #open: string[] = [];
  #passed = 0;
  printed = "";
  #line = "";
  #progress = 0;
  #cpuMs = 0;
  #seen = { progress: 0, cpuMs: 0, cpuMsAtProgress: 0, idleLooks: 0 };

  constructor(
    readonly file: string,
    readonly patience = PATIENCE,
  ) {
    this.#mark = `${process.pid}-${file}`;
    const node = ["--import", "tsx", `--test-reporter=${REPORTER}`, ONE_FILE, file];
    this.#child = spawn(process.execPath, node, {
      detached: true, // a session of its own: all that it starts can be found, and ended with it
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      env: { ...process.env, [MARK]: this.#mark },
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  async run(): Promise<FileResult> {
    const began = performance.now();
    const [stdin, stdout, stderr, reports] = this.#child.stdio;
    stdin?.on("error", () => {}); // the file may end while it is told that it is stuck
    for (const stream of [stdout, stderr]) stream?.on("data", (bytes: Buffer) => this.#print(bytes));
    reports?.on("data", (bytes: Buffer) => this.#hear(bytes));
    const look = setInterval(() => this.#look(), this.patience.lookEveryMs);
    const closed = new Promise((resolve) => this.#child.on("close", resolve)); // nothing holds its pipes any more
    const ended = await new Promise<string>((resolve) => {
      this.#child.on("error", (error) => resolve(error.message));
      this.#child.on("exit", (code, signal) => resolve(signal ?? (code === 0 ? "" : `exit code ${code}`)));
    });
    clearInterval(look);
    await this.#endLeftovers();
    await closed;
    if (ended !== "" && this.#failures.length === 0) this.#failures.push(`${this.file} ended with ${ended}`);
    if (ended === "" && this.#passed === 0) this.#failures.push(`${this.file} has no tests`);
    const ms = Math.round(performance.now() - began);
    return {
      file: this.file,
      passed: this.#passed,
      failures: this.#failures,
      printed: this.printed,
      ms,
      cpuMs: this.#cpuMs,
    };
  }

  /** Ends it, with all that it has started. */
  end(): void {
    kill(this.processes());
  }

  /** Its own process, and those that it has started. */
  processes(): Started[] {
    return processesOf(this.pid, this.#mark);
  }

  #print(bytes: Buffer): void {
    this.#progress += 1;
    this.printed += bytes.toString("utf8");
  }

  #hear(bytes: Buffer): void {
    this.#progress += 1;
    const lines = (this.#line + bytes.toString("utf8")).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#note(JSON.parse(line) as Report);
  }

  #note(report: Report): void {
    if (report.kind === "ended") {
      this.#cpuMs = report.cpuMs;
      return;
    }
    this.#open.length = report.nesting;
    if (report.kind === "started") this.#open[report.nesting] = report.name;
    else if (report.kind === "passed") this.#passed += report.isSuite ? 0 : 1;
    else this.#failures.push(`${[...this.#open, report.name].join(" > ")}\n${report.error}`);
  }

  #look(): void {
    const processes = this.processes();
    const cpuMs = processes.reduce((sum, each) => sum + each.cpuMs, 0);
    const seen = this.#seen;
    const hasMoved = this.#progress !== seen.progress;
    const share = (cpuMs - seen.cpuMs) / this.patience.lookEveryMs;
    const counts = countsOf(
      share,
      processes.some(({ isAtWork }) => isAtWork),
    );
    this.#seen = {
      progress: this.#progress,
      cpuMs,
      cpuMsAtProgress: hasMoved ? cpuMs : seen.cpuMsAtProgress,
      idleLooks: hasMoved ? 0 : Math.max(0, seen.idleLooks + counts),
    };
    const { waitLooksMax } = this.patience;
    if (seen.idleLooks < waitLooksMax && this.#seen.idleLooks >= waitLooksMax)
      this.#child.stdin?.write("stuck\n");
    if (this.#seen.idleLooks > this.patience.idleLooksMax) this.#hangs("its processes do nothing");
    else if (cpuMs - this.#seen.cpuMsAtProgress > this.patience.busyCpuMsMax)
      this.#hangs("its processes are busy without an end");
  }

  #hangs(how: string): void {
    const commands = this.processes().map(({ pid, command }) => `  ${pid} ${command}`);
    this.#failures.push(
      `${this.#open.join(" > ") || this.file} hangs: no test has begun or ended, and ${how}\n${commands.join("\n")}`,
    );
    this.end();
  }

  /** A test file must leave nothing behind. A process that was told to end may need a moment. */
  async #endLeftovers(): Promise<void> {
    let left = this.processes();
    for (let looks = 0; left.length > 0 && looks < this.patience.leftoverLooksMax; looks++) {
      await new Promise((resolve) => setTimeout(resolve, this.patience.lookEveryMs / 20));
      left = this.processes();
    }
    if (left.length === 0) return;
    const commands = left.map(({ pid, command }) => `  ${pid} ${command}`);
    this.#failures.push(`${this.file} left processes behind:\n${commands.join("\n")}`);
    kill(left);
  }
}

/** Processes that wait do a little now and then, such as looking whether they may go on. That is no progress. */
function countsOf(share: number, isAtWork: boolean): number {
  if (share >= QUIET_SHARE) return BUSY_COUNTS;
  if (share < IDLE_SHARE) return isAtWork ? BUSY_COUNTS : 1;
  return isAtWork ? QUIET_AT_WORK_COUNTS : QUIET_COUNTS;
}
