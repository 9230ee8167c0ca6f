import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { HeadwaterError } from "headwater";
import type { Journal, Write } from "#src/journal/journal.js";
import { type JournalOptions, openJournal } from "#src/journal/open.js";
import { withSurvey } from "#src/journal/survey.js";
import { until } from "../waits.js";

export const IDENTITY = { program: "bank", format: 1 };

/** How many accounts `programs/transfers.ts` moves money between. */
export const ACCOUNTS = 20;

/** A directory that does not exist yet, in one that is removed after the test. */
export function newDirectory(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "headwater-journal-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  return join(folder, "journal");
}

/** Opens a journal that is closed after the test if the test has not done so. */
export async function openIn(
  t: TestContext,
  directory: string,
  options: Partial<JournalOptions> = {},
): Promise<Journal> {
  const journal = await openJournal(directory, IDENTITY, { durability: "synced", ...options });
  t.after(() => journal.close());
  return journal;
}

/** Resolves to the error that the group failed with, or to null. */
export function outcome(journal: Journal, writes: readonly Write[]): Promise<HeadwaterError | null> {
  return new Promise((resolve) => journal.append(writes, resolve));
}

export async function write(journal: Journal, values: Record<string, string | null>): Promise<void> {
  const writes = Object.entries(values).map(([key, value]) => ({
    key,
    value: value === null ? null : Buffer.from(value),
  }));
  assert.equal(await outcome(journal, writes), null);
}

export function textOf(journal: Journal, key: string): string | undefined {
  const value = journal.get(key);
  return value === undefined ? undefined : Buffer.from(value).toString();
}

export function allOf(journal: Journal, prefix = ""): Record<string, string> {
  return Object.fromEntries(
    [...journal.range(prefix)].map(([key, value]) => [key, Buffer.from(value).toString()]),
  );
}

/** What is in each file, so that two of these are equal only if nothing was changed, made or removed. */
export function fingerprint(directory: string): Record<string, string> {
  if (!existsSync(directory)) return {};
  return Object.fromEntries(
    filesIn(directory).map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(directory, name)))
        .digest("hex"),
    ]),
  );
}

/** All files below a directory, by their names from there. */
export function filesIn(directory: string): string[] {
  const all = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  return all.filter((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.isFile());
}

/** Waits until all that the journal holds is in a table's file: then there are a table and a log. */
export async function untilCarriedOver(directory: string): Promise<void> {
  await until(async () => (await withSurvey(directory, async ({ logCommits }) => logCommits)) === 0);
}

/** A pause is long, and everything is worth carrying over. */
export const EAGER = { carryOver: { idleMs: 1, idleLogBytes: 1 } };

/** What `programs/transfers.ts` says about a group of at least that number. */
export function acknowledged(durability: string, least: number) {
  return (said: unknown): said is [durability: string, number: number] =>
    Array.isArray(said) && said[0] === durability && said[1] >= least;
}

/** A program of `test/journal/programs` as a process of its own; it says things in lines of JSON. */
export class Other {
  readonly said: unknown[] = [];
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #process: ChildProcess;
  #listeners: (() => void)[] = [];
  #hasEnded = false;

  constructor(t: TestContext, program: string, args: readonly string[], shell = 'exec "$0" "$@"') {
    const file = fileURLToPath(new URL(`./programs/${program}.ts`, import.meta.url));
    this.#process = spawn("sh", ["-c", shell, process.execPath, "--import", "tsx", file, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    t.after(() => this.kill());
    let stderr = "";
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const { stdout } = this.#process;
    assert.ok(stdout);
    createInterface({ input: stdout }).on("line", (line) => {
      this.said.push(JSON.parse(line));
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      this.#process.on("close", (code, signal) => {
        this.#hasEnded = true;
        if (code !== 0 && code !== null) this.said.push({ stderr });
        resolve({ code, signal });
        this.#wake();
      });
    });
  }

  /** The first thing it says that satisfies this; rejects if it ends without. */
  async hears<T>(wanted: (said: unknown) => said is T): Promise<T> {
    for (let heard = 0; ; ) {
      for (; heard < this.said.length; heard++) {
        const said = this.said[heard];
        if (wanted(said)) return said;
      }
      if (this.#hasEnded) throw new Error(`ended without it: ${JSON.stringify(this.said)}`);
      await new Promise<void>((resolve) => {
        this.#listeners.push(resolve);
      });
    }
  }

  #wake(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }

  tell(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}
