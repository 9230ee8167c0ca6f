import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { RunOptions } from "headwater";

/** A member of a cluster in a process of its own, which runs the bank. It ends with the test. */
export class MemberProcess {
  readonly #child: ChildProcess;
  /** Resolves when it has joined. */
  readonly joined: Promise<unknown>;

  constructor(
    t: TestContext,
    readonly name: string,
    journal: string,
    options: RunOptions = {},
    program = "member.ts",
  ) {
    const file = fileURLToPath(new URL(`./programs/${program}`, import.meta.url));
    const args = ["--import", "tsx", file, journal, name, JSON.stringify(options)];
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    t.after(() => this.signal("SIGKILL"));
    const { stdout } = this.#child;
    assert.ok(stdout);
    const ended = once(this.#child, "exit").then(() => Promise.reject(new Error(`${name} ended`)));
    ended.catch(() => {});
    this.joined = Promise.race([once(createInterface({ input: stdout }), "line"), ended]);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async ended(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }
}
