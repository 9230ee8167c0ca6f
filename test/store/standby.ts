import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import type { Random } from "#src/random.js";
import { ROOT } from "../cli/headwater.js";

/** Below those that systems hand out by themselves: nobody takes it while the service is away. */
const PORTS = { from: 20_000, count: 10_000 };

export async function fixedPort(random: Random): Promise<number> {
  for (;;) {
    const port = PORTS.from + random.int(PORTS.count);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

/** Compiles `test/store/programs`: loading them as TypeScript would take most of the time of a restart. */
export async function compiledPrograms(t: Pick<TestContext, "after">): Promise<string> {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "durable-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const rootDir = join(ROOT, "test", "store", "programs");
  const settings = {
    extends: "../../tsconfig.json",
    compilerOptions: { noEmit: false, noCheck: true, rootDir, outDir: folder },
    include: [rootDir],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  await promisify(execFile)(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", folder]);
  return folder;
}

/**
 * A program as a process of its own that can be killed at any moment and is there again at once: the next one is always
 * loaded and waits for its turn.
 */
export class Standby {
  readonly #file: string;
  readonly #args: readonly string[];
  readonly #heard = new WeakMap<ChildProcess, Set<unknown>>();
  #next: ChildProcess;
  #current: ChildProcess | null = null;
  #stderr = "";
  #isOver = false;

  constructor(t: TestContext, file: string, args: readonly string[]) {
    this.#file = file;
    this.#args = args;
    this.#next = this.#load();
    t.after(() => this.end());
  }

  /** What all processes have written to stderr. */
  get stderr(): string {
    return this.#stderr;
  }

  #load(): ChildProcess {
    const loaded = fork(this.#file, this.#args, {
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const heard = new Set<unknown>();
    this.#heard.set(loaded, heard);
    loaded.on("message", (word) => heard.add(word));
    loaded.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    return loaded;
  }

  /** Lets the process that waits begin. Resolves when it has been told to. */
  async begin(): Promise<void> {
    const process = this.#next;
    await this.#hears(process, "loaded");
    this.#current = process;
    process.send("begin");
    this.#next = this.#load();
  }

  /** Resolves when the present process takes requests. */
  async serves(): Promise<void> {
    if (this.#current !== null) await this.#hears(this.#current, "serving");
  }

  /** Ends the present process, wherever it is, and lets the next one begin as soon as it has gone. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    await this.#end(this.#current, signal);
    await this.begin();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all([this.#end(this.#current), this.#end(this.#next)]);
  }

  async #end(process: ChildProcess | null, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (process === null || process.exitCode !== null || process.signalCode !== null) return;
    const gone = once(process, "exit");
    process.kill(signal);
    await gone;
  }

  async #hears(process: ChildProcess, word: string): Promise<void> {
    while (this.#heard.get(process)?.has(word) === false) {
      if (process.exitCode !== null && !this.#isOver) throw new Error(`it has ended: ${this.#stderr}`);
      await Promise.race([once(process, "message"), once(process, "exit")]);
    }
  }
}
