import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Key, MemoryJournal, type Page, readonly, run, type TimerId, tracked } from "headwater";
import { refused } from "../refused.js";

/** Contexts are listed a page at a time, and deleted with everything below them. */

class Chair extends Context<number> {
  taken = 0;
  take() {
    this.taken += 1;
    return this.taken;
  }
  @readonly look() {
    return this.taken;
  }
}
class Room extends Context<string> {
  visits = 0;
  names = tracked.map<string, number>();
  timer: TimerId | null = null;
  rung = 0;
  chairs = this.children(Chair);

  visit(who: string) {
    this.visits += 1;
    this.names.set(who, this.visits);
    return this.visits;
  }
  async visitLater(who: string) {
    await new Promise(setImmediate);
    return this.visit(who);
  }
  arm(ms: number) {
    this.timer = this.event.after(ms, this.ring);
  }
  ring() {
    this.rung += 1;
  }
  async sitAll(count: number) {
    await Promise.all(Array.from({ length: count }, (_, chair) => this.chairs(chair).take()));
  }
  async empty() {
    this.event.start(this.above(House)).close(this.key);
  }
  giveUp() {
    this.downgrade();
  }
  @readonly look() {
    return { visits: this.visits, names: [...this.names.keys()], rung: this.rung };
  }
  @readonly async list(after?: number, limit?: number) {
    return this.event.list(this.chairs, limit === undefined ? { after } : { after, limit });
  }
}
class Hall extends Context {
  lamps = 3;
  light() {
    this.lamps += 1;
  }
}
class House extends Context {
  rooms = this.children(Room);
  hall = this.child(Hall);
  closed = 0;

  async close(room: string) {
    this.closed += 1;
    await this.event.delete(this.rooms(room));
  }
  async closeAndFail(room: string): Promise<never> {
    await this.event.delete(this.rooms(room));
    throw new RangeError("no");
  }
  async closeAndUse(room: string) {
    await this.event.delete(this.rooms(room));
    const fresh = await this.rooms(room).look();
    await this.rooms(room).visit("after");
    return fresh;
  }
  async tryToClose(room: string) {
    await this.closeIn(room).catch(() => {});
    return (await this.event.list(this.rooms)).keys;
  }
  private async closeIn(room: string) {
    await this.event.delete(this.rooms(room));
    await this.rooms(room).list(0, 5000);
  }
  async sideBySide() {
    const [, before, , after] = await Promise.all([
      this.rooms("slow").visitLater("ada"),
      this.event.list(this.rooms),
      this.event.delete(this.rooms("slow")),
      this.event.list(this.rooms),
    ]);
    return [before.keys, after.keys];
  }
  async makeAndList(room: string) {
    await this.rooms(room).visit("ada");
    await this.rooms("only looked at").look();
    return (await this.event.list(this.rooms)).keys;
  }
  async pages(limit: number) {
    const pages: Page<string>[] = [];
    let after: string | undefined;
    do {
      const page = await this.event.list(this.rooms, { after, limit });
      pages.push(page);
      after = page.next;
    } while (after !== undefined);
    return pages.map(({ keys }) => keys);
  }
  async giveUpAndList() {
    this.downgrade();
    return this.event.list(this.rooms);
  }
  async giveUpBelowAndDelete() {
    this.downgrade();
    await this.rooms("a").giveUp();
    await this.event.delete(this.rooms("a"));
  }
  async deleteAll() {
    const { keys } = await this.event.list(this.rooms, { limit: 1000 });
    await Promise.all(keys.map((key) => this.event.delete(this.rooms(key))));
    await this.event.delete(this.hall);
  }
  async deleteSelf() {
    await this.event.delete(this.above(House));
  }
  @readonly async deleteReadonly() {
    await this.event.delete(this.rooms("a"));
  }
  @readonly async list(limit?: number) {
    return this.event.list(this.rooms, limit === undefined ? {} : { limit });
  }
}

/** In memory, with a journal that keeps few contexts in memory, and with one that keeps all. */
const KINDS = {
  "in memory": () => ({}),
  "with a journal": () => ({ journal: new MemoryJournal() }),
  "with contexts that are not in memory": () => ({ journal: new MemoryJournal(), limits: { contexts: 2 } }),
};

for (const [kind, options] of Object.entries(KINDS)) {
  test(`${kind}: a context exists when an event has changed it or one below it, and looking does not make it`, async () => {
    await using service = await run(House, options());
    const { root } = service;
    assert.deepEqual(await root.list(), { keys: [], next: undefined });
    await root.rooms("b").visit("ada");
    await root.rooms("a").look();
    await root.rooms("c").chairs(7).take();
    await assert.rejects(root.closeAndFail("x"));
    assert.deepEqual((await root.list()).keys, ["b", "c"]);
    assert.deepEqual(await root.makeAndList("d"), ["b", "c", "d"]);
    assert.deepEqual((await root.rooms("c").list()).keys, [7]);
  });

  test(`${kind}: what one method asks for side by side happens in the order of the program text`, async () => {
    await using service = await run(House, options());
    assert.deepEqual(await service.root.sideBySide(), [["slow"], []]);
  });

  test(`${kind}: pages have every child once, in one order, however many below each`, async () => {
    await using service = await run(House, options());
    const { root } = service;
    const names = Array.from({ length: 57 }, (_, i) => `${i % 3 === 0 ? "é" : "room"} ${i}`);
    for (const [i, name] of names.entries()) {
      await root.rooms(name).visit("ada");
      if (i % 5 === 0) await root.rooms(name).sitAll(50);
    }
    const whole = (await root.list(1000)).keys;
    assert.deepEqual([...whole].sort(), [...names].sort());
    for (const limit of [1, 10, 56, 57]) {
      const pages = await root.pages(limit);
      assert.deepEqual(pages.flat(), whole);
      for (const page of pages.slice(0, -1)) assert.equal(page.length, limit);
    }
    const keys = (await root.rooms(names[0] as string).list(undefined, 1000)).keys as Key[];
    assert.deepEqual(
      [...keys].sort((a, b) => Number(a) - Number(b)),
      Array.from({ length: 50 }, (_, i) => i),
    );
  });

  test(`${kind}: a deleted context is as if it had never been made, with all below it and its timers`, async () => {
    await using service = await run(House, options());
    const { root } = service;
    await root.rooms("a").visit("ada");
    await root.rooms("a").sitAll(30);
    await root.rooms("a").arm(3_600_000);
    await root.rooms("b").visit("bob");
    assert.deepEqual((await root.list()).keys, ["a", "b"]);
    await root.close("a");
    assert.deepEqual((await root.list()).keys, ["b"]);
    assert.deepEqual(await root.rooms("a").look(), { visits: 0, names: [], rung: 0 });
    assert.equal(await root.rooms("a").chairs(3).look(), 0);
    assert.deepEqual((await root.rooms("a").list()).keys, []);
    assert.equal(await root.rooms("a").visit("cleo"), 1);
    assert.deepEqual(await root.rooms("a").look(), { visits: 1, names: ["cleo"], rung: 0 });
    assert.deepEqual((await root.list()).keys, ["a", "b"]);
  });

  test(`${kind}: a failed event and a caught failure delete nothing`, async () => {
    await using service = await run(House, options());
    const { root } = service;
    await root.rooms("a").visit("ada");
    await root.rooms("a").sitAll(3);
    await assert.rejects(root.closeAndFail("a"), /no/);
    assert.deepEqual(await root.rooms("a").look(), { visits: 1, names: ["ada"], rung: 0 });
    assert.equal(await root.rooms("a").chairs(2).look(), 1);
    assert.deepEqual(await root.closeAndUse("a"), { visits: 0, names: [], rung: 0 });
    assert.deepEqual(await root.rooms("a").look(), { visits: 1, names: ["after"], rung: 0 });
    await root.deleteAll();
    assert.deepEqual((await root.list()).keys, []);
  });

  test(`${kind}: events that were queued for a deleted context run on a fresh one, in their order`, async () => {
    await using service = await run(House, options());
    const { root } = service;
    await root.rooms("a").visit("ada");
    const results = await Promise.all([
      root.rooms("a").visit("bob"),
      root.close("a"),
      root.rooms("a").visit("cleo"),
      root.rooms("a").chairs(1).take(),
      root.list(),
    ]);
    assert.deepEqual(results, [2, undefined, 1, 1, { keys: ["a"], next: undefined }]);
  });
}

test("what was deleted stays deleted after a restart, and the journal has nothing of it", async () => {
  const journal = new MemoryJournal();
  const long = "x".repeat(1000);
  const first = await run(House, { journal });
  await first.root.rooms("a").visit("ada");
  await first.root.rooms("a").sitAll(5);
  await first.root.rooms("a").arm(3_600_000);
  await first.root.rooms(long).visit("ada");
  await first.root.hall.light();
  const empty = [...journal.range("")].map(([key]) => key);
  await first.root.deleteAll();
  await first.stop();
  const second = await run(House, { journal });
  assert.deepEqual((await second.root.list()).keys, []);
  assert.deepEqual(await second.root.rooms("a").look(), { visits: 0, names: [], rung: 0 });
  await second.stop();
  const left = [...journal.range("")].map(([key]) => key);
  assert.ok(empty.some((key) => key.startsWith("c/House/House.rooms")));
  assert.deepEqual(
    left.filter((key) => /^[cdltw]\//.test(key)),
    [],
  );
});

test("contexts whose addresses are too long for a key of the journal are listed and deleted, too", async () => {
  class Deep extends Context<string> {
    n = 0;
    below: import("headwater").Children<Deep> = this.children(Deep as new () => Deep);
    add() {
      this.n += 1;
      return this.n;
    }
    async deleteBelow(key: string) {
      await this.event.delete(this.below(key));
    }
    @readonly async list() {
      return (await this.event.list(this.below)).keys;
    }
  }
  class Well extends Context {
    deep = this.children(Deep);
    async clear(key: string) {
      await this.event.delete(this.deep(key));
    }
    @readonly async list() {
      return (await this.event.list(this.deep)).keys;
    }
  }
  const journal = new MemoryJournal();
  await using service = await run(Well, { journal, limits: { contexts: 2 } });
  const [a, b, c] = ["a".repeat(700), "b".repeat(700), "c".repeat(700)] as const;
  const { root } = service;
  await root.deep(a).below(b).below(c).add();
  await root.deep(a).below(b).below("c").add();
  assert.deepEqual(await root.list(), [a]);
  assert.deepEqual(await root.deep(a).list(), [b]);
  assert.deepEqual(await root.deep(a).below(b).list(), ["c", c]);
  await root.deep(a).below(b).deleteBelow(c);
  assert.deepEqual(await root.deep(a).below(b).list(), ["c"]);
  assert.equal(await root.deep(a).below(b).below(c).add(), 1);
  await root.clear(a);
  assert.deepEqual(await root.list(), []);
  assert.equal(await root.deep(a).below(b).below(c).add(), 1);
});

test("HW-1031: only what the event holds is listed and deleted, and only downwards", async () => {
  await using service = await run(House);
  const { root } = service;
  await refused(root.giveUpAndList(), "HW-1031", "House cannot list", "before `this.downgrade()`");
  await refused(root.giveUpBelowAndDelete(), "HW-1031", 'has given up House.rooms("a")');
  await refused(root.deleteSelf(), "HW-1031", "House cannot be deleted: it is not below House");
  await refused(root.deleteReadonly(), "HW-1031", "read-only");
  await refused(root.list(0), "HW-1031", "from 1 to 1000, not 0");
  const list = (what: unknown) => root.rooms("a").list(what as number);
  await refused(list(Number.NaN), "HW-1015");
});

test("HW-1032: an event deletes only so many contexts at once; a page at a time, all of them go", async () => {
  await using service = await run(House, { limits: { deletes: 10 } });
  const { root } = service;
  await root.rooms("a").sitAll(40);
  await refused(root.close("a"), "HW-1032", 'House.rooms("a")', "10 is the most");
  assert.equal((await root.rooms("a").list()).keys.length, 40);
});

class Bin extends Context<number> {
  count = 0;
  fill() {
    this.count += 1;
  }
  seen() {
    return this.event.read(Yard).swept;
  }
}
class Yard extends Context<number> {
  swept = 0;
  bins = this.children(Bin);
  async sweepAndBack() {
    this.swept = 1;
    const seen = await this.bins(0).seen();
    this.swept = 0;
    return seen;
  }
  async listAndGo() {
    const list = this.event.list(this.bins);
    try {
      this.downgrade();
    } finally {
      await list;
    }
  }
  async listThenGo() {
    const { keys } = await this.event.list(this.bins);
    this.downgrade();
    return keys;
  }
}
class Estate extends Context {
  yards = this.children(Yard);
  @readonly async list() {
    return (await this.event.list(this.yards)).keys;
  }
}

test("HW-1031: a context is not given up before its list is there", async () => {
  await using service = await run(Estate);
  const yard = service.root.yards(1);
  await yard.bins(4).fill();
  await refused(yard.listAndGo(), "HW-1031", "Estate.yards(1)", "await the list first");
  assert.deepEqual(await yard.listThenGo(), [4]);
});

test("a context with the fields it began with does not exist, also if a call has seen others meanwhile", async () => {
  await using service = await run(Estate);
  assert.equal(await service.root.yards(1).sweepAndBack(), 1);
  assert.equal(await service.root.yards(2).sweepAndBack(), 1);
  assert.deepEqual(await service.root.list(), []);
});
