import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Random } from "#src/random.js";
import { type Digest, digestOf } from "./programs/vault.js";
import type { Asked, Reply } from "./programs/vault-process.js";
import { compiledPrograms } from "./standby.js";

/**
 * A vault keeps payloads of 1 byte to 10 MB while it is killed again and again, the whole of it or one of its hosts. Those
 * who ask it know what must be in it, and compare that byte by byte:
 *
 *     node --import tsx test/store/payloads.ts --kills 100 --hosts 2 --seed 1
 */

export interface Trial {
  readonly kills: number;
  readonly hosts: number;
  readonly seed: number;
  readonly durability: "synced" | "written";
}

const WORKERS = 5;
const KEYS = ["a", "b", "c"];
const PAYLOAD_BYTES_MAX = 10_000_000;

/** Between 1 byte and the most, each order of magnitude as often as the others. */
function payload(random: Random): Buffer {
  const block = Buffer.from(Array.from({ length: 1021 }, () => random.int(256)));
  return Buffer.alloc(Math.floor(PAYLOAD_BYTES_MAX ** (random.int(1_000_001) / 1_000_000)), block);
}

/** A process that is there again whenever it was killed. What it has not answered is asked again under the same id. */
class Vault extends EventEmitter {
  readonly #file: string;
  readonly #args: readonly string[];
  readonly #open = new Map<string, { asked: Asked; resolve: (reply: Reply) => void }>();
  #process: ChildProcess | null = null;
  #isServing = false;
  #isOver = false;
  #asked = 0;
  stderr = "";
  answered = 0;

  constructor(file: string, args: readonly string[]) {
    super();
    this.#file = file;
    this.#args = args;
  }

  begin(): void {
    const process = fork(this.#file, this.#args, {
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#process = process;
    process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    process.on("message", (reply: Reply | "serving") => {
      if (reply === "serving") this.#serves();
      else this.#answer(reply);
    });
    process.on("error", () => {}); // a message to a process that is being killed
    process.on("exit", () => {
      if (process === this.#process && !this.#isOver) this.emit("ended");
    });
  }

  #serves(): void {
    this.#isServing = true;
    for (const [id, { asked }] of this.#open) this.#process?.send({ id, asked });
    this.emit("serving");
  }

  #answer(reply: Reply): void {
    const open = this.#open.get(reply.id);
    if (open === undefined) return;
    this.#open.delete(reply.id);
    this.answered += 1;
    open.resolve(reply);
    this.emit("answered");
  }

  async ask(asked: Asked): Promise<unknown> {
    this.#asked += 1;
    const id = `r${this.#asked}`;
    const { value, error } = await new Promise<Reply>((resolve) => {
      this.#open.set(id, { asked, resolve });
      if (this.#isServing) this.#process?.send({ id, asked });
    });
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /** Kills the whole vault, wherever it is. */
  async kill(): Promise<void> {
    await this.#end();
    this.begin();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    const process = this.#process;
    this.#isServing = false;
    this.#process = null;
    if (process === null || process.exitCode !== null || process.signalCode !== null) return;
    const gone = once(process, "exit");
    process.kill("SIGKILL");
    await gone;
  }

  /** Kills one host, if the vault has some. */
  async killHost(safe: number): Promise<void> {
    const pid = (await this.ask({ method: "where", safe, args: [] })) as number;
    if (pid === this.#process?.pid) return;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended since.
    }
  }
}

interface Content {
  plain: Buffer | null;
  readonly entries: Map<string, Buffer>;
  readonly items: Buffer[];
}

/** Has two safes of its own, asks for one thing after the other, and knows what must be in them. */
class Worker {
  readonly #contents: Content[] = [];
  #started = 0;
  bytes = 0;

  constructor(
    readonly vault: Vault,
    readonly safes: readonly [number, number],
    readonly random: Random,
  ) {
    for (const _ of safes) this.#contents.push({ plain: null, entries: new Map(), items: [] });
  }

  async work(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#step();
      if (this.random.chance(0.2)) await this.#compareDigests();
    }
    await this.#compareDigests();
    await this.#compareBytes();
  }

  #step(): Promise<void> {
    const { random } = this;
    const [at, key] = [random.int(2), random.pick(KEYS)];
    const content = this.#contents[at] as Content;
    const safe = this.safes[at] as number;
    return random.pick([
      () => this.#store(safe, "hold", key, (bytes) => (content.plain = bytes)),
      () => this.#store(safe, "put", key, (bytes) => content.entries.set(key, bytes)),
      () =>
        this.#store(safe, "push", key, (bytes) => {
          if (content.items.push(bytes) > 3) content.items.shift();
        }),
      () => this.#startPut(safe, content),
      () => this.#take(safe, content, key),
      () => this.#move(at, key),
    ])();
  }

  async #store(
    safe: number,
    method: "hold" | "put" | "push",
    key: string,
    done: (bytes: Buffer) => void,
  ): Promise<void> {
    const bytes = payload(this.random);
    this.bytes += bytes.length;
    await this.vault.ask({ method, safe, args: [key, bytes] });
    done(bytes);
  }

  /** The event that it starts comes later, but it comes. */
  async #startPut(safe: number, { entries }: Content): Promise<void> {
    const bytes = payload(this.random);
    this.bytes += bytes.length;
    this.#started += 1;
    const key = `started ${this.#started}`;
    await this.vault.ask({ method: "startPut", safe, args: [key, bytes] });
    let found: unknown = null;
    while (found === null) found = await this.vault.ask({ method: "get", safe, args: [key] });
    assert.ok(bytes.equals(found as Uint8Array));
    entries.set(key, bytes);
    await this.#take(safe, { plain: null, entries, items: [] }, key);
  }

  async #take(safe: number, { entries }: Content, key: string): Promise<void> {
    const taken = (await this.vault.ask({ method: "take", safe, args: [key] })) as Uint8Array | null;
    const expected = entries.get(key) ?? null;
    assert.equal(taken?.length, expected?.length, `the length of "${key}" in safe ${safe}`);
    assert.ok(taken === null || expected?.equals(taken));
    entries.delete(key);
  }

  async #move(at: number, key: string): Promise<void> {
    const [from, to] = [this.#contents[at], this.#contents[1 - at]] as [Content, Content];
    const names = { from: this.safes[at] as number, to: this.safes[1 - at] as number };
    await this.vault.ask({ method: "move", ...names, key });
    const bytes = from.entries.get(key);
    if (bytes === undefined) return;
    from.entries.delete(key);
    to.entries.set(key, bytes);
  }

  async #compareDigests(): Promise<void> {
    for (const [i, safe] of this.safes.entries()) {
      const { plain, entries, items } = this.#contents[i] as Content;
      const expected: Digest = {
        plain: digestOf(plain),
        entries: [...entries].map(([key, bytes]) => [key, digestOf(bytes)] as const),
        items: items.map(digestOf),
      };
      assert.deepEqual(await this.vault.ask({ method: "digest", safe, args: [] }), expected);
    }
  }

  async #compareBytes(): Promise<void> {
    for (const [i, safe] of this.safes.entries()) {
      const all = (await this.vault.ask({ method: "all", safe, args: [] })) as {
        plain: Uint8Array | null;
        entries: [string, Uint8Array][];
        items: Uint8Array[];
      };
      const { plain, entries, items } = this.#contents[i] as Content;
      assert.deepEqual(
        all.entries.map(([key]) => key),
        [...entries.keys()],
      );
      const pairs = [
        [all.plain, plain],
        ...all.entries.map(([key, bytes]) => [bytes, entries.get(key) ?? null]),
        ...all.items.map((bytes, at) => [bytes, items[at] ?? null]),
      ] as [Uint8Array | null, Buffer | null][];
      assert.equal(all.items.length, items.length);
      for (const [found, expected] of pairs)
        assert.ok(found === expected || (found !== null && expected?.equals(found)), `in safe ${safe}`);
    }
  }
}

export interface Told {
  readonly answered: number;
  readonly bytes: number;
  readonly wholeKills: number;
  readonly hostKills: number;
}

/** `after` takes what is to be done in the end. */
export async function survivesKills(
  t: { after(end: () => Promise<void> | void): void },
  { kills, hosts, seed, durability }: Trial,
): Promise<Told> {
  const random = new Random(seed);
  const folder = await mkdtemp(join(tmpdir(), "headwater-payloads-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(await compiledPrograms(t), "vault-process.js");
  const vault = new Vault(file, [join(folder, "journal"), durability, String(hosts)]);
  t.after(() => vault.end());
  const workers = Array.from(
    { length: WORKERS },
    (_, i) => new Worker(vault, [2 * i, 2 * i + 1], random.fork()),
  );
  const closing = new AbortController();
  let failure: unknown;
  const stop = (error: unknown) => {
    failure ??= error;
    closing.abort();
    vault.emit("answered");
    vault.emit("serving");
  };
  vault.on("ended", () => stop(new Error(`the vault has ended by itself: ${vault.stderr}`)));
  vault.begin();
  const work = Promise.all(workers.map((worker) => worker.work(closing.signal)));
  work.catch(stop);
  const aborted = once(closing.signal, "abort");
  const told = { wholeKills: 0, hostKills: 0 };
  while (told.wholeKills + told.hostKills < kills && !closing.signal.aborted) {
    await progress(vault, random, closing.signal);
    if (hosts > 1 && random.chance(0.5)) {
      await Promise.race([vault.killHost(random.int(2 * WORKERS)), aborted]);
      told.hostKills += 1;
    } else {
      await vault.kill();
      told.wholeKills += 1;
    }
  }
  closing.abort();
  const ended = new Promise<void>((resolve) => vault.once("ended", () => resolve()));
  await Promise.race([work, ended]);
  if (failure !== undefined) throw failure;
  const bytes = workers.reduce((sum, worker) => sum + worker.bytes, 0);
  return { answered: vault.answered, bytes, ...told };
}

/** Some kills come while the vault is being started, most after a few more answers. */
async function progress(vault: Vault, random: Random, isOver: AbortSignal): Promise<void> {
  if (random.chance(0.15)) return;
  const enough = vault.answered + 1 + random.int(15);
  while (vault.answered < enough && !isOver.aborted) await once(vault, "answered");
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "100" },
      hosts: { type: "string", default: "2" },
      seed: { type: "string", default: "1" },
      durability: { type: "string", default: "synced" },
    },
  });
  const ends: (() => Promise<void> | void)[] = [];
  const durability = values.durability === "written" ? "written" : "synced";
  const trial = {
    kills: Number(values.kills),
    hosts: Number(values.hosts),
    seed: Number(values.seed),
    durability,
  } as const;
  try {
    console.log({ ...trial, ...(await survivesKills({ after: (end) => void ends.push(end) }, trial)) });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
