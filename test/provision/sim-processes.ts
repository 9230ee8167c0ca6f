import assert from "node:assert/strict";
import { keep } from "#src/elastic/keep.js";
import type { SeenMember } from "#src/provision/measured.js";
import { EMPTY_PLAN, type KeptPlan, type ProcessPlan } from "#src/provision/plan.js";
import { type ProcessOrder, Provisioner } from "#src/provision/provisioner.js";
import type { Random } from "#src/random.js";

/** Mistakes that the simulation must find, made where plans are kept and read. */
export const PLANTS = [
  "plans are replaced without comparing",
  "a call is not kept",
  "what is asked for gets a new id after a takeover",
  "a removal is forgotten in a takeover",
  "removed without draining",
  "no cool-down after a takeover",
] as const;
export type Plant = (typeof PLANTS)[number];

export interface SimParts {
  readonly random: Random;
  readonly isLocal: boolean;
  readonly plant: Plant | null;
}

const [MIN, MAX, FIXED] = [2, 7, 2];
const COOL_DOWN_MS = 10_000;
const JOIN_MS = 30_000;
const TIMEOUT_MS = 8000;
const BEATS_LAST_MS = 2000;
const TROUBLED_MS = 600_000;
const CALM_MS = 2_400_000;
const RESTED_MS = 600_000;
const HEAD_MS = 1700;

/** Something that was made for an id. It costs until it is removed. */
interface Made {
  readonly id: string;
  process: SimProcess | null;
}

class SimProcess {
  isAlive = true;
  isDrained = false;
  endedMs = Number.POSITIVE_INFINITY;
  pausedUntil = 0;
  believesHead = false;
  readonly member: string;
  readonly joinedMs: number;
  readonly provisioner: Provisioner;

  constructor(
    readonly name: string,
    readonly number: number,
    readonly parent: SimProcess | null,
    world: SimProcesses,
  ) {
    this.member = `${name}-${number}`;
    this.joinedMs = world.now;
    this.provisioner = world.provisionerOf(this);
  }
}

/** Processes of a cluster, what makes them, a load that flaps, and trouble for a while; then calm, in which all must come to rest. */
export class SimProcesses {
  now = 0;
  readonly #parts: SimParts;
  readonly #queue: { readonly atMs: number; readonly run: () => void }[] = [];
  readonly #processes: SimProcess[] = [];
  readonly #made = new Map<string, Made>();
  readonly #removed = new Set<string>();
  #head: SimProcess | null = null;
  #heads = 0;
  #numbers = 0;
  #plan: KeptPlan = { plan: EMPTY_PLAN, version: 0 };
  #calls = 0;
  #load = 1;
  #fixedDied = false;
  #decidedMs = Number.NEGATIVE_INFINITY;
  readonly counts = { added: 0, removed: 0, takeovers: 0, warnings: 0, failed: 0, never: 0 };

  constructor(parts: SimParts) {
    this.#parts = parts;
    for (let i = 0; i < FIXED; i++) this.#join(`fixed${i}`, null);
    this.#elect();
    this.#trouble();
    this.#flap();
  }

  async run(): Promise<void> {
    while (this.now < CALM_MS) {
      let next = 0;
      for (let i = 1; i < this.#queue.length; i++)
        if ((this.#queue[i]?.atMs ?? 0) < (this.#queue[next]?.atMs ?? 0)) next = i;
      const [event] = this.#queue.splice(next, 1);
      assert.ok(event);
      this.now = event.atMs;
      event.run();
      await settled();
      this.#check();
    }
    this.#checkRest();
  }

  #later(ms: number, run: () => void): void {
    this.#queue.push({ atMs: this.now + ms, run });
  }

  /** Resolves after a while, for a process that goes on then; never for one that has ended. */
  #delay(process: SimProcess, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        if (!process.isAlive) return;
        if (this.now < process.pausedUntil) this.#later(process.pausedUntil - this.now, goOn);
        else resolve();
      };
      this.#later(ms, goOn);
    });
  }

  get #isTroubled(): boolean {
    return this.now < TROUBLED_MS;
  }

  #join(name: string, parent: SimProcess | null): SimProcess {
    const process = new SimProcess(name, this.#numbers++, parent, this);
    this.#processes.push(process);
    const look = () => {
      if (!process.isAlive) return;
      if (this.now >= process.pausedUntil) void process.provisioner.look();
      this.#later(900 + this.#parts.random.int(200), look);
    };
    look();
    return process;
  }

  #end(process: SimProcess): void {
    if (!process.isAlive) return;
    process.isAlive = false;
    process.endedMs = this.now;
    for (const made of this.#made.values()) {
      if (made.process !== process) continue;
      // A local process is nothing but itself. What a command has made is there until the command removes it.
      if (this.#parts.isLocal) this.#made.delete(made.id);
    }
    for (const child of this.#processes) if (child.parent === process) this.#end(child);
    if (this.#head === process) this.#elect();
  }

  #elect(): void {
    this.#head = null;
    this.#later(this.#heads === 0 ? 0 : HEAD_MS, () => {
      const able = this.#processes.filter(
        (each) => each.isAlive && !each.isDrained && this.now >= each.pausedUntil,
      );
      if (this.#head?.isAlive && this.now >= this.#head.pausedUntil) return;
      if (able.length === 0) return this.#elect();
      const old = this.#head;
      this.#head = this.#parts.random.pick(able);
      this.#head.believesHead = true;
      if (old !== null && old !== this.#head) this.#later(0, () => this.#learns(old));
      this.#heads += 1;
      this.counts.takeovers += 1;
    });
  }

  /** A head that was paused learns after a moment that another one has begun. */
  #learns(old: SimProcess): void {
    void this.#delay(old, this.#parts.random.int(300)).then(() => {
      if (this.#head !== old) old.believesHead = false;
    });
  }

  #flap(): void {
    const { random } = this.#parts;
    this.#load = this.#isTroubled ? random.pick([0.2, 1, 2, 3.3, 5]) : this.#load;
    if (this.#isTroubled) this.#later(1000 + random.int(random.pick([4000, 120_000])), () => this.#flap());
  }

  #trouble(): void {
    const { random } = this.#parts;
    this.#later(random.int(40_000), () => {
      if (!this.#isTroubled) return;
      const living = this.#processes.filter(({ isAlive }) => isAlive);
      if (living.length === 0) return this.#trouble();
      const victim = random.chance(0.7) && this.#head !== null ? this.#head : random.pick(living);
      const isFixed = victim.name.startsWith("fixed");
      if (random.chance(0.4)) {
        victim.pausedUntil = this.now + random.int(20_000);
        if (this.#head === victim) {
          const old = victim;
          this.#later(HEAD_MS, () => {
            if (this.#head !== old || this.now >= old.pausedUntil) return;
            this.#head = null;
            this.#elect();
            this.#learns(old);
          });
        }
      } else {
        this.#end(victim);
        this.#fixedDied ||= isFixed;
        if (isFixed) this.#later(3000, () => this.#join(victim.name, null));
      }
      this.#trouble();
    });
  }

  #seen(): readonly SeenMember[] {
    const heard = this.#processes.filter(
      ({ isAlive, endedMs }) => isAlive || this.now - endedMs < BEATS_LAST_MS,
    );
    const each = this.#load / Math.max(1, heard.length);
    return heard.map(({ member, name }) => ({
      member,
      name,
      load: { loop: Math.min(1, each), memoryBytes: 0 },
      hosts: [],
    }));
  }

  provisionerOf(process: SimProcess): Provisioner {
    const { random, isLocal, plant } = this.#parts;
    const fails = () => this.#isTroubled && random.chance(0.05);
    let isNew = true;
    return new Provisioner({
      self: process.member,
      joinMs: JOIN_MS,
      repeats: !isLocal,
      max: MAX,
      coolDownMs: COOL_DOWN_MS,
      policy: () => {
        return keep({ min: MIN, max: MAX, utilisation: [0.3, 0.7], inARow: 3, coolDownMs: COOL_DOWN_MS });
      },
      now: () => this.now,
      isHead: () => process.believesHead && process.isAlive,
      members: () => this.#seen(),
      store: {
        read: async () => {
          await this.#delay(process, random.int(50));
          if (fails()) throw new Error("no answer");
          const { plan, version } = this.#plan;
          const isTakeover = isNew;
          isNew = false;
          return { plan: isTakeover ? misread(plan, plant) : plan, version };
        },
        replace: async (plan, version) => {
          await this.#delay(process, random.int(50));
          if (fails()) throw new Error("not sent");
          const isFenced = plant !== "plans are replaced without comparing";
          if (isFenced && version !== this.#plan.version) return false;
          this.#decided(plan);
          this.#plan = { plan: miswritten(plan, plant), version: this.#plan.version + 1 };
          await this.#delay(process, random.int(50));
          if (fails()) throw new Error("the answer was lost");
          return true;
        },
      },
      maker: {
        timeoutMs: TIMEOUT_MS,
        repeats: !isLocal,
        add: (order, signal) => this.#called(process, order, signal, () => this.#make(order, process)),
        remove: async (order, signal) => {
          const askedMs = this.now;
          await this.#called(process, order, signal, () => this.#remove(order, askedMs));
        },
      },
      drain: async (member) => {
        await this.#delay(process, random.int(3000));
        if (fails()) throw new Error("no answer");
        const drained = this.#processes.find((each) => each.member === member);
        if (drained === undefined) return;
        drained.isDrained = true;
        if (this.#head !== drained) return;
        drained.believesHead = false;
        this.#elect();
      },
      retire: async (member) => {
        await this.#delay(process, random.int(100));
        const retired = this.#processes.find((each) => each.member === member);
        if (retired !== undefined) this.#end(retired);
      },
      decided: () => {},
      warn: () => {
        this.counts.warnings += 1;
      },
    });
  }

  #decided({ actedMs }: ProcessPlan): void {
    if (actedMs === this.#plan.plan.actedMs || this.#plan.plan.actedMs === 0) {
      if (this.#decidedMs === Number.NEGATIVE_INFINITY && actedMs > 0) this.#decidedMs = actedMs;
      if (actedMs === this.#plan.plan.actedMs) return;
    }
    assert.ok(
      actedMs - this.#decidedMs >= COOL_DOWN_MS || actedMs <= this.#decidedMs,
      "two decisions within a cool-down",
    );
    this.#decidedMs = Math.max(actedMs, this.#decidedMs);
  }

  /** A command runs in a process of its own, whatever becomes of the head; it ends itself when its time is over. */
  async #called(
    caller: SimProcess,
    { id }: ProcessOrder,
    signal: AbortSignal,
    effect: () => void,
  ): Promise<null> {
    const { random, isLocal } = this.#parts;
    const isTroubled = this.#isTroubled;
    const takesMs = isTroubled && random.chance(0.15) ? TIMEOUT_MS * 2 : random.int(TIMEOUT_MS);
    const effectMs = random.int(takesMs);
    const failsBefore = isTroubled && random.chance(0.15);
    const failsBehind = isTroubled && random.chance(0.15);
    if (!isLocal) {
      this.#calls += 1;
      assert.ok(this.#calls === 1, `two commands run at once, one of them for ${id}`);
    }
    let isEnded = false;
    signal.addEventListener("abort", () => {
      if (!isEnded && !isLocal) this.#calls -= 1;
      isEnded = true;
    });
    const ms = isLocal ? 0 : Math.min(takesMs, TIMEOUT_MS);
    this.#later(isLocal ? 0 : effectMs, () => {
      if (!isEnded && !failsBefore && (isLocal ? caller.isAlive : effectMs < TIMEOUT_MS)) effect();
    });
    this.#later(ms, () => {
      if (!isEnded && !isLocal) this.#calls -= 1;
      isEnded = true;
    });
    await this.#delay(caller, ms);
    if (failsBefore || failsBehind || takesMs > TIMEOUT_MS) {
      this.counts.failed += 1;
      throw new Error("the command failed");
    }
    return null;
  }

  #make({ id }: ProcessOrder, parent: SimProcess): void {
    const { random, isLocal } = this.#parts;
    if (this.#made.has(id)) return;
    assert.ok(!this.#removed.has(id), `${id} was removed and is made again`);
    const made: Made = { id, process: null };
    this.#made.set(id, made);
    this.counts.added += 1;
    const isNever = this.#isTroubled && random.chance(0.15);
    if (isNever) this.counts.never += 1;
    if (isNever && !isLocal) return;
    this.#later(500 + random.int(this.#isTroubled ? 50_000 : 10_000), () => {
      if (this.#made.get(id) !== made) return;
      if (isLocal && (isNever || !parent.isAlive)) this.#made.delete(id);
      else made.process = this.#join(id, isLocal ? parent : null);
    });
  }

  /** A process that comes while it is being removed cannot have been drained. */
  #remove({ id }: ProcessOrder, askedMs: number): void {
    const made = this.#made.get(id);
    this.#removed.add(id);
    if (made === undefined) return;
    const { process } = made;
    const isDrained = process?.isDrained === true || (process?.joinedMs ?? 0) >= askedMs;
    assert.ok(!process?.isAlive || isDrained, `${id} was removed and had not been drained`);
    this.#made.delete(id);
    this.counts.removed += 1;
    if (process !== null) this.#end(process);
  }

  #check(): void {
    const fixed = this.#processes.filter(({ isAlive, name }) => isAlive && name.startsWith("fixed")).length;
    assert.ok(this.#made.size <= MAX, `${this.#made.size} processes were made, and ${MAX} are allowed`);
    if (!this.#fixedDied)
      assert.ok(this.#made.size + fixed <= MAX, `there are ${this.#made.size + fixed} processes`);
  }

  /** Nothing has gone wrong for long, and the load has not changed. */
  #checkRest(): void {
    const { plan } = this.#plan;
    const planned = plan.processes.map(({ id, state }) => `${id} ${state}`);
    const there = [...this.#made.values()].map(
      ({ id, process }) => `${id} ${process?.isAlive ? "here" : "dead"}`,
    );
    assert.deepEqual(there.sort(), planned.sort(), "what there is, and what is planned");
    assert.ok(this.now - plan.actedMs > RESTED_MS, "decisions have come to an end");
    const count = this.#processes.filter(({ isAlive }) => isAlive).length;
    assert.ok(count >= MIN && count <= MAX, `there are ${count} processes`);
    assert.ok(this.#load / count <= 0.7 || count === MAX, `${count} processes are too few for ${this.#load}`);
    const isSpare = this.#load / count < 0.3 && this.#load / (count - 1) <= 0.63;
    assert.ok(
      !isSpare || planned.length === 0 || count === MIN,
      `${count} processes are too many for ${this.#load}`,
    );
    assert.ok(this.#calls <= 0 || this.#parts.isLocal);
  }
}

function misread(plan: ProcessPlan, plant: Plant | null): ProcessPlan {
  const { processes } = plan;
  if (plant === "a removal is forgotten in a takeover")
    return { ...plan, processes: processes.filter(({ state }) => state !== "draining" && state !== "going") };
  if (plant === "what is asked for gets a new id after a takeover") {
    const renamed = processes.map((each) => {
      const id = `auto-${(0x10000000 + Number.parseInt(each.id.slice(5), 16)).toString(16).slice(-8)}`;
      return each.state === "asked" ? { ...each, id, name: id } : each;
    });
    return { ...plan, processes: renamed };
  }
  if (plant === "no cool-down after a takeover") return { ...plan, actedMs: 0, failures: 0 };
  return plan;
}

function miswritten(plan: ProcessPlan, plant: Plant | null): ProcessPlan {
  if (plant === "a call is not kept") return { ...plan, call: null };
  if (plant !== "removed without draining") return plan;
  const processes = plan.processes.map((each) =>
    each.state === "draining" ? { ...each, state: "going" as const, isDrained: true } : each,
  );
  return { ...plan, processes };
}

/** What a process does at once is done. */
async function settled(): Promise<void> {
  await new Promise(setImmediate);
}
