import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, HeadwaterError, MemoryJournal, readonly } from "headwater";
import { memoryPorts } from "#src/host/ports/ports.js";
import { runOn } from "#src/host/run.js";
import type { AnyService } from "#src/host/service.js";
import { Ledger } from "#src/host/store/ledger.js";
import { DOOR, type Door, type Series } from "#src/model/door.js";
import { Random } from "#src/random.js";

/**
 * Generated callers whose replies get lost, who ask again, whose service is started anew, and who use up their shares: each
 * request has its effect at most once, and exactly once if it was answered.
 */

const ANSWERS_MS = 1000;

class Tally extends Context {
  counts = new Map<string, number>();

  apply(id: string, bytes: number) {
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
    return `${id}${"x".repeat(bytes)}`;
  }

  @readonly all() {
    return this.counts;
  }
}

interface Request {
  readonly id: string;
  readonly bytes: number;
  /** Null for one that is named by its id. */
  readonly number: number | null;
  readonly caller: Caller;
  readonly sentAt: number;
  isAnswered: boolean;
}

interface Caller {
  readonly name: string;
  readonly isNumbering: boolean;
  readonly requests: Request[];
  series: Series | null;
  last: number;
  doneBelow: number;
  sentUpTo: number | undefined;
}

class World {
  readonly random: Random;
  readonly #journal: MemoryJournal | null;
  readonly #bytes: number;
  readonly #callers: readonly Caller[];
  readonly codes = new Set<string>();
  #now = 1_000_000;
  /** When the service was started the last time. */
  #beganAt = 0;
  #service: AnyService;
  #underWay: Promise<void>[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
    this.#journal = this.random.chance(0.6) ? new MemoryJournal() : null;
    this.#bytes = 5000 + this.random.int(100_000);
    this.#callers = Array.from({ length: 5 }, (_, i) => ({
      name: `caller ${i}`,
      isNumbering: this.random.chance(0.6),
      requests: [],
      series: null,
      last: 0,
      doneBelow: 0,
      sentUpTo: undefined,
    }));
    this.#service = this.#begin();
  }

  #begin(): AnyService {
    const ports = {
      ...memoryPorts,
      now: () => this.#now,
      at: (_: number, task: () => void) => memoryPorts.at(Date.now(), task),
    };
    const limits = { answersMs: ANSWERS_MS, answerBytes: this.#bytes, answerBytesInJournal: this.#bytes };
    const ledger = this.#journal === null ? null : new Ledger(this.#journal, 10);
    const service = runOn(ports, Tally, { limits }, ledger);
    for (const caller of this.#callers) this.#connect(service[DOOR], caller);
    return service;
  }

  #connect(door: Door, caller: Caller): void {
    if (!caller.isNumbering) return;
    caller.series?.leave();
    caller.series = door.series(caller.name, { caller: caller.name, part: "" });
    caller.sentUpTo = this.random.chance(0.9) ? caller.last : undefined;
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const caller = this.random.pick(this.#callers);
      const choice = this.random.int(100);
      if (choice < 55) this.#ask(caller);
      else if (choice < 80) this.#askAgain(caller);
      else if (choice < 87) this.#sayDone(caller);
      else if (choice < 93) this.#now += this.random.int(400);
      else if (choice < 96) this.#connect(this.#service[DOOR], caller);
      else if (choice < 98) await this.#restart();
      if (this.random.chance(0.3)) await this.#settle();
    }
    await this.#settle();
  }

  #ask(caller: Caller): void {
    const number = caller.isNumbering ? ++caller.last : null;
    const id = `${caller.name} ${caller.requests.length}`;
    const bytes = this.random.pick([0, 10, 1000, 20_000]);
    const request: Request = { id, bytes, number, caller, sentAt: this.#now, isAnswered: false };
    caller.requests.push(request);
    this.#send(request);
  }

  /**
   * A request may be asked again within the stated time, unless its client has said that it has the answer. What is numbered may
   * be asked again whenever its client likes, as long as the service has not been started anew.
   */
  #askAgain(caller: Caller): void {
    const again = caller.requests.filter(({ sentAt, number }) => {
      if (number !== null && sentAt > this.#beganAt) return true;
      return this.#now - sentAt <= ANSWERS_MS && (number === null || number >= caller.doneBelow);
    });
    if (again.length > 0) this.#send(this.random.pick(again));
  }

  #send(request: Request): void {
    const { id, bytes, number, caller } = request;
    const door = this.#service[DOOR];
    const [target] = [...door.roots.values()];
    const method = target?.shape.methods.get("apply");
    assert.ok(target && method);
    const isLost = this.random.chance(0.3);
    this.#underWay.push(
      new Promise<void>((resolve) => {
        const waiting = {
          resolve: (value: unknown) => {
            assert.equal(value, `${id}${"x".repeat(bytes)}`, "everybody gets the first answer");
            if (!isLost) request.isAnswered = true;
            resolve();
          },
          reject: (error: unknown) => {
            assert.ok(error instanceof HeadwaterError, String(error));
            this.codes.add(error.code);
            resolve();
          },
        };
        const asked = { target, method, args: [id, bytes] };
        if (number === null) door.ask(asked, undefined, id, { caller: caller.name, part: "HTTP" }, waiting);
        else caller.series?.ask(number, asked, caller.sentUpTo, waiting);
      }),
    );
  }

  #sayDone(caller: Caller): void {
    const open = caller.requests.find(({ isAnswered }) => !isAnswered);
    caller.doneBelow = open?.number ?? caller.last + 1;
    caller.series?.answered(caller.doneBelow);
  }

  async #restart(): Promise<void> {
    if (this.#journal === null) return;
    await this.#service.stop({ graceMs: 0 });
    await this.#settle();
    for (const caller of this.#callers) caller.series = null;
    this.#now += 1;
    this.#beganAt = this.#now;
    this.#service = this.#begin();
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#underWay = [];
  }

  async check(seed: number): Promise<void> {
    const { root } = this.#service as unknown as { root: { all(): Promise<Map<string, number>> } };
    const counts = await root.all();
    for (const { id, isAnswered } of this.#callers.flatMap(({ requests }) => requests)) {
      const count = counts.get(id) ?? 0;
      assert.ok(count <= 1, `seed ${seed}: ${id} was done ${count} times`);
      if (isAnswered) assert.equal(count, 1, `seed ${seed}: ${id} was answered`);
    }
    await this.#service.stop();
  }
}

test("whatever gets lost and however full it is, a request has its effect at most once, and once if it was answered", async () => {
  const codes = new Set<string>();
  for (let seed = 1; seed <= 150; seed++) {
    const world = new World(seed);
    await world.run(200);
    await world.check(seed);
    for (const code of world.codes) codes.add(code);
  }
  for (const code of ["HW-4030", "HW-4031"]) assert.ok(codes.has(code), `${code} never came up`);
});
