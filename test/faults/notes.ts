import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("programs/notes.ts", import.meta.url));

/** What came of a command: "ok" or the code of the error, and the value. */
export type Answer = readonly [what: string, value?: unknown];

/** `programs/notes.ts` as a process of its own. */
export class NotesProcess {
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number | string, (answer: Answer) => void>();
  readonly #ready: Promise<Answer>;
  readonly failed: Promise<Answer>;
  #asked = 0;
  #stderr = "";

  private constructor(t: TestContext | null, journal: string, environment: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, ["--import", "tsx", PROGRAM, journal], { env: environment });
    t?.after(() => this.kill());
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    this.#ready = this.#answer("ready");
    this.failed = this.#answer("failed");
    const { stdout, stdin } = this.#child;
    assert.ok(stdout !== null && stdin !== null);
    stdin.on("error", () => {}); // it may end while it is written to
    createInterface({ input: stdout }).on("line", (line) => {
      const [to, ...answer] = JSON.parse(line) as [number | string, string, unknown?];
      this.#waiting.get(to)?.(answer);
    });
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (code, signal) => {
        for (const settle of this.#waiting.values()) settle(["ended", this.#stderr]);
        resolve(signal ?? String(code));
      });
    });
  }

  static async start(
    t: TestContext | null,
    journal: string,
    environment = process.env,
  ): Promise<NotesProcess> {
    const notes = new NotesProcess(t, journal, environment);
    const [what, stderr] = await notes.#ready;
    assert.notEqual(what, "ended", String(stderr));
    return notes;
  }

  #answer(to: number | string): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.set(to, resolve);
    });
  }

  #ask(...command: unknown[]): Promise<Answer> {
    const answer = this.#answer(this.#asked++);
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    return answer;
  }

  /** Resolves to "ok", to the code of the error, or to "ended". */
  async write(name: string, text: string): Promise<string> {
    const [what] = await this.#ask("write", name, text);
    return what;
  }

  /** Sets a timer, and resolves to the time of the event. */
  later(name: string, ms: number): Promise<Answer> {
    return this.#ask("later", name, ms);
  }

  /** The text of a note, and how many of its timers have gone off. */
  async read(name: string): Promise<readonly [text: string, rung: number]> {
    const [what, value] = await this.#ask("read", name);
    assert.equal(what, "ok", String(value));
    return value as [string, number];
  }

  /** Resolves when a timer of this note goes off. */
  rings(name: string): Promise<Answer> {
    return this.#answer(`rung ${name}`);
  }

  stop(): void {
    this.#child.stdin?.end();
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
