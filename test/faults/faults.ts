import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { needed } from "../needed.js";

const SOURCE = fileURLToPath(new URL("shim.c", import.meta.url));
const CACHE = fileURLToPath(new URL("../../.cache/faults", import.meta.url));

/** The library of `shim.c`, compiled once for each version of it. */
async function library(): Promise<string> {
  const hash = createHash("sha256").update(readFileSync(SOURCE)).digest("hex").slice(0, 16);
  const file = join(CACHE, `shim-${hash}.so`);
  if (existsSync(file)) return file;
  mkdirSync(CACHE, { recursive: true });
  const made = join(CACHE, `shim-${process.pid}.so`);
  const compiler = await needed(["cc", "gcc", "clang"], "gcc libc6-dev");
  execFileSync(compiler, ["-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", made, SOURCE, "-ldl"], {
    stdio: "inherit",
  });
  renameSync(made, file); // another test may compile it at the same time
  return file;
}

const SYNC_ERROR = 0;
const SYNC_HOLDS = 4;
const SYNCS_HELD = 8;
const CLOCK_SHIFT_MS = 16;
const LENGTH = 24;

/** Real faults of a process's disk and clock: its environment makes them possible, and they begin and end at any moment. */
export class Faults {
  readonly environment: NodeJS.ProcessEnv;
  readonly #fd: number;

  static async of(t: TestContext): Promise<Faults> {
    return new Faults(t, await library());
  }

  private constructor(t: TestContext, shim: string) {
    const folder = mkdtempSync(join(tmpdir(), "headwater-faults-"));
    const path = join(folder, "control");
    this.#fd = openSync(path, "w+");
    writeSync(this.#fd, Buffer.alloc(LENGTH), 0, LENGTH, 0);
    this.environment = { ...process.env, LD_PRELOAD: shim, HEADWATER_FAULTS: path };
    t.after(() => {
      this.#write(SYNC_HOLDS, 0);
      closeSync(this.#fd);
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** From now on, every sync fails with this `errno`; with 0 none does. */
  failSyncs(errno: number): void {
    this.#write(SYNC_ERROR, errno);
  }

  /** From now on, every sync waits. */
  holdSyncs(): void {
    this.#write(SYNC_HOLDS, 1);
  }

  releaseSyncs(): void {
    this.#write(SYNC_HOLDS, 0);
  }

  get syncsHeld(): number {
    const bytes = Buffer.alloc(4);
    readSync(this.#fd, bytes, 0, 4, SYNCS_HELD);
    return bytes.readInt32LE();
  }

  /** The time of day is this much later than it would be. */
  shiftClock(ms: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(ms));
    writeSync(this.#fd, bytes, 0, 8, CLOCK_SHIFT_MS);
  }

  #write(at: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    writeSync(this.#fd, bytes, 0, 4, at);
  }
}
