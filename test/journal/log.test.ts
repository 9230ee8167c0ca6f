import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { Random } from "#src/random.js";
import { SimDisk, SimLogDisk } from "#src/sim/world/disk.js";
import { SimJournal } from "#src/sim/world/journal.js";

/**
 * The real log on a simulated disk, against what its callers were told. Each seed is one disk and several lives of its
 * owner: writes tear, syncs fail or take long, there is no room, the process or the machine ends at any moment, an
 * earlier owner goes on that does not know yet that it was replaced.
 */
class World {
  readonly #random: Random;
  readonly #luck;
  readonly disk = new SimDisk();
  #possible: (() => void)[] = [];
  #number = 0;
  /** Every group that was appended, in order of appending within its life; the newest life last. */
  acknowledged = -1;
  seen = { torn: 0, fenced: 0, failed: 0, full: 0, lost: 0, kept: 0 };

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#luck = {
      failure: this.#random.pick([0, 0, 0.02]),
      fullness: this.#random.pick([0, 0, 0.4]),
      slowness: this.#random.pick([0, 0.5]),
      tear: this.#random.pick([0, 0.7]),
    };
  }

  open(): SimJournal {
    return new SimJournal(this.disk, this.#luck, this.#random, (_, happen) => this.#possible.push(happen));
  }

  /** Appends groups in which each key and value says which number it has. */
  append(journal: SimJournal, groups: number, bytes = 0): void {
    for (let i = 0; i < groups; i++) {
      const own = this.#number++;
      const value = Buffer.alloc(bytes + 1 + this.#random.int(this.#random.chance(0.1) ? 9000 : 200), own);
      const writes = [
        { key: `group/${String(own).padStart(6, "0")}`, value: Buffer.from(String(own)) },
        { key: `key/${own % 7}`, value },
      ];
      journal.append(writes, (error) => {
        if (error === null) {
          assert.ok(own > this.acknowledged, "acknowledged in order");
          this.acknowledged = own;
        } else if (error.code === "HW-3005") this.seen.fenced += 1;
        else this.seen.failed += 1;
      });
      if (journal.refusal() !== null) this.seen.full += 1;
    }
  }

  /** Lets some of what can happen happen, in any order. */
  happen(steps: number): void {
    for (let i = 0; i < steps && this.#possible.length > 0; i++) {
      const [next] = this.#possible.splice(this.#random.int(this.#possible.length), 1);
      next?.();
    }
  }

  int(below: number): number {
    return this.#random.int(below);
  }

  end(): void {
    this.#possible = [];
    if (this.#random.chance(0.5)) this.disk.kill(this.#random);
    else this.disk.crash(this.#random, this.#luck);
  }

  /** The machine ends, and tears what was being written. */
  tear(): void {
    this.#possible = [];
    this.disk.crash(this.#random, { ...this.#luck, tear: 1 });
  }

  rot(): string {
    return this.disk.rot(this.#random);
  }

  /** The groups that an opening finds, which must be all that were acknowledged, and of the others the first ones. */
  check(journal: SimJournal, told: number): number {
    const found = [...journal.range("group/")].map(([, value]) => Number(Buffer.from(value).toString()));
    const numbers = found.filter((own) => own <= told);
    assert.ok(found.includes(told) || told === -1, `group ${told} was acknowledged and is gone`);
    const newest = new Map<number, number>();
    for (const own of found) newest.set(own % 7, own);
    for (const [slot, own] of newest) {
      assert.equal(journal.get(`key/${slot}`)?.[0], own % 256, `key ${slot} is of group ${own}`);
    }
    this.seen.kept += found.length - numbers.length;
    return found.length;
  }
}

const SEEDS = 3000;

test(`what was acknowledged is there after every crash, takeover and full disk, in ${SEEDS} random histories`, () => {
  const all = { torn: 0, fenced: 0, failed: 0, full: 0, lost: 0, kept: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = new World(seed);
    let old: SimJournal | null = null;
    for (let life = 0; life < 4; life++) {
      const told: number = world.acknowledged;
      const journal = world.open();
      if (journal.wasTorn) all.torn += 1;
      world.check(journal, told);
      for (let round = world.int(6); round >= 0; round--) {
        world.append(journal, world.int(5));
        if (old !== null && world.int(2) === 0) world.append(old, 1); // which does not know yet
        world.happen(world.int(60));
      }
      const isTakenOver = world.int(3) === 0;
      old = isTakenOver ? journal : null;
      if (!isTakenOver) world.end();
    }
    world.end();
    world.check(world.open(), world.acknowledged);
    for (const key of Object.keys(all) as (keyof typeof all)[]) all[key] += world.seen[key];
  }
  const { torn, fenced, failed, full, kept } = all;
  for (const [what, times] of Object.entries({ torn, fenced, failed, full, kept })) {
    assert.ok(times > 20, `${what} happened ${times} times`);
  }
});

test(`a machine that ends while a segment begins loses nothing that was acknowledged, in ${SEEDS} histories`, () => {
  let torn = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = new World(seed);
    for (let life = 0; life < 3; life++) {
      const journal = world.open();
      if (journal.wasTorn) torn += 1;
      world.check(journal, world.acknowledged);
      world.append(journal, 2, 6000); // each needs a segment of its own
      world.happen(world.int(12));
      world.tear();
    }
    world.check(world.open(), world.acknowledged);
  }
  assert.ok(torn > SEEDS / 10, `${torn} openings found something torn`);
});

test(`a flipped bit in a log is harmless or refused with its place, never another history, in ${SEEDS} logs`, () => {
  const outcomes = { right: 0, refused: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = new World(seed);
    world.append(world.open(), 1 + world.int(20));
    world.happen(400);
    const told = world.acknowledged;
    world.end();
    const before = world.check(world.open(), told);
    const where = world.rot();
    try {
      assert.equal(world.check(world.open(), told), before, where);
      outcomes.right += 1;
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      assert.equal(error.code, "HW-3004", where);
      assert.match(error.message, /log\/\d{8}-\d{8}/, where);
      outcomes.refused += 1;
    }
  }
  assert.ok(outcomes.right > SEEDS / 10 && outcomes.refused > SEEDS / 10, JSON.stringify(outcomes));
});

test("the simulated disk is one on which things can be lost: without the fence an old owner's groups count", () => {
  let lost = 0;
  for (let seed = 1; seed <= 50; seed++) {
    const random = new Random(seed);
    const luck = { failure: 0, fullness: 0, slowness: 0, tear: 0 };
    const disk = new SimDisk();
    const possible: (() => void)[] = [];
    const later = (_: string, happen: () => void) => void possible.push(happen);
    const open = (ignoresFence: boolean) => new SimJournal(disk, luck, random, later, ignoresFence);
    const told: string[] = [];
    const append = (journal: SimJournal, key: string) =>
      journal.append([{ key, value: Buffer.from("x") }], (error) => {
        if (error === null) told.push(key);
      });
    const first = open(false);
    append(first, "a");
    while (possible.length > 0) possible.shift()?.();
    const second = open(true);
    append(first, "b");
    append(second, "c");
    while (possible.length > 0) possible.shift()?.();
    const third = open(false);
    if (told.some((key) => third.get(key) === undefined)) lost += 1;
    assert.ok(new SimLogDisk(disk, luck, random, later).names().length >= 3);
  }
  assert.equal(lost, 50);
});
