import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Key, readonly, reads, run, tracked } from "headwater";
import { Gates } from "../gates.js";
import { refused, refusedAtOnce } from "../refused.js";

const gates = new Gates();

class Hall extends Context {
  guests = tracked.set<string>();
  log = tracked.list<string>();
  rooms = this.children(Room);

  enter(guest: string) {
    this.guests.add(guest);
    return this.log.push(guest);
  }
  fail(guest: string) {
    this.guests.clear();
    this.log.splice(0, 1, guest, guest);
    throw new Error("no");
  }
  @readonly all() {
    return { guests: [...this.guests], log: this.log.slice() };
  }
  @readonly lies() {
    this.guests.add("liar");
  }
  async slow() {
    this.guests.add("slow");
    this.downgrade();
    await gates.pass("slow");
    return [...this.guests];
  }
  async late() {
    this.downgrade();
    this.guests.add("late");
  }
  give() {
    return this.guests;
  }
  async lookBelow() {
    this.guests.add("half way");
    const seen = await this.rooms(1).look();
    this.guests.delete("half way");
    return seen;
  }
}

class Room extends Context<number> {
  seen = tracked.list<string>();

  @reads(Hall)
  look() {
    return [...this.event.read(Hall).guests];
  }

  @readonly count() {
    return this.seen.length;
  }
}
test("events see, undo, give up and read tracked collections as if one ran at a time", async () => {
  const service = await run(Hall);
  const { root } = service;
  assert.equal(await root.enter("ada"), 1);
  const slow = root.slow();
  await gates.reached("slow");
  const later = [root.enter("bob"), root.fail("cid").catch((error: Error) => error.message), root.all()];
  await new Promise(setImmediate); // they run while the slow one still looks at what it gave up
  gates.open("slow");
  assert.deepEqual(await slow, ["ada", "slow"]);
  const all = { guests: ["ada", "slow", "bob"], log: ["ada", "bob"] };
  assert.deepEqual(await Promise.all(later), [2, "no", all]);
  await refused(root.lies(), "HW-1010", "guests");
  await refused(root.late(), "HW-1009", "guests");
  await refused(root.give(), "HW-1006", "a tracked collection");
  assert.deepEqual(await root.lookBelow(), ["ada", "slow", "bob", "half way"]);
  assert.deepEqual(await root.rooms(1).look(), ["ada", "slow", "bob"]);
  await service.stop();
});

test("a plain field that grows large is warned of once, with its name and the remedy", async () => {
  class Table extends Context<Key> {
    rows: number[] = [];
    groups = new Map<string, number[]>();
    small = { a: 1 };
    grow(n: number) {
      this.rows = Array.from({ length: n }, (_, i) => i);
      this.small.a += 1;
    }
    nest() {
      for (let i = 0; i < 20; i++) this.groups.set(`g${i}`, new Array<number>(600).fill(i));
    }
  }
  class Tables extends Context {
    tables = this.children(Table);
  }
  const warnings: Error[] = [];
  const listen = (warning: Error) => void warnings.push(warning);
  process.on("warning", listen);
  const service = await run(Tables);
  await service.root.tables("a").grow(10_000);
  await new Promise(setImmediate);
  assert.equal(warnings.length, 0);
  await service.root.tables("a").grow(10_001);
  await service.root.tables("b").grow(20_000);
  await service.root.tables("b").nest();
  await new Promise(setImmediate);
  process.off("warning", listen);
  await service.stop();
  assert.deepEqual(
    warnings.map(({ name }) => name),
    ["HeadwaterLargeField", "HeadwaterLargeField"],
  );
  assert.match(warnings[0]?.message ?? "", /Table\.rows .*`rows = tracked\.list\(\)`/s);
  assert.match(warnings[1]?.message ?? "", /Table\.groups .*`groups = tracked\.map\(\)`/s);
});

test("a tracked collection can be declared only as a field", async () => {
  class Late extends Context {
    field: unknown = 0;
    make() {
      this.field = tracked.map();
    }
  }
  const service = await run(Late);
  await refused(service.root.make(), "HW-1102", "tracked.map()");
  await service.stop();
  refusedAtOnce(() => tracked.list(), "HW-1102", "tracked.list()");
});

test("a tracked collection inside other data is refused at the start", async () => {
  class Board {
    cells = tracked.set<string>();
  }
  class Nested extends Context {
    board = new Board();
  }
  class Above extends Context {
    below = this.child(Nested);
  }
  await refused(run(Above), "HW-1102", "Nested", "tracked.set()");
});

test("the names of tracked collections are free for methods and fields of a context", async () => {
  class Store extends Context {
    map = new Map<string, number>();
    list = tracked.list<string>();
    set(key: string, value: number) {
      this.map.set(key, value);
      return this.list.push(key);
    }
  }
  const service = await run(Store);
  assert.equal(await service.root.set("a", 1), 1);
  await service.stop();
});
