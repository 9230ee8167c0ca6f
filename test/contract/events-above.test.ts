import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Context,
  type ContextClass,
  MemoryJournal,
  type OutsideResult,
  outside,
  readonly,
  run,
  type TimerId,
} from "headwater";
import { refused } from "../refused.js";
import { until } from "../waits.js";

/** Timers and results of outside calls that start their events on a context above the one that asked. */

const charge = outside("events-above-charge", (cents: number) => `paid ${cents}`);

class Seat extends Context<number> {
  holder: string | null = null;
  timer: TimerId | null = null;

  hold(who: string, ms: number) {
    this.holder = who;
    this.timer = this.event.after(ms, this.above(Show)).expire(this.key, who);
    return this.timer;
  }
  buy() {
    if (this.timer !== null) this.event.cancel(this.timer);
    this.timer = null;
    this.event.outside(charge, 100, this.above(Show)).paid(this.key, this.holder ?? "nobody");
  }
  free() {
    const was = this.holder;
    this.holder = null;
    this.timer = null;
    return was;
  }
  holdBeside(ms: number) {
    this.event.after(ms, this.above(Show).desk).note("too far");
  }
  payBeside() {
    this.event.outside(charge, 1, this.above(Show).seats(99)).take();
  }
  take(_result: OutsideResult<string>) {}
  @readonly look() {
    return this.holder;
  }
}
class Desk extends Context {
  lines: string[] = [];
  note(line: string) {
    this.lines.push(line);
    if (line.includes("bob")) throw new RangeError("no bob here");
  }
  @readonly read() {
    return this.lines;
  }
}
class Show extends Context {
  seats = this.children(Seat);
  desk = this.child(Desk);
  expired = 0;

  async expire(seat: number, who: string) {
    this.expired += 1;
    const was = await this.seats(seat).free();
    await this.desk.note(`${who} lost seat ${seat}, held by ${was}`);
  }
  async paid(result: OutsideResult<string>, seat: number, who: string) {
    await this.desk.note(`${who} ${result.ok ? result.value : "did not pay"} for seat ${seat}`);
  }
  @readonly count() {
    return this.expired;
  }
}

test("a timer that concerns two contexts starts one event above both", async () => {
  await using service = await run(Show);
  await service.root.seats(1).hold("ada", 0);
  await until(async () => (await service.root.count()) === 1);
  assert.equal(await service.root.seats(1).look(), null);
  assert.deepEqual(await service.root.desk.read(), ["ada lost seat 1, held by ada"]);
});

test("if that event fails, both stay as they were", async () => {
  const failed: string[] = [];
  await using service = await run(Show, { onError: ({ error }) => failed.push(String(error)) });
  await service.root.seats(1).hold("bob", 0);
  await until(async () => failed.length === 1);
  assert.match(failed[0] ?? "", /no bob here/);
  assert.deepEqual(
    [await service.root.seats(1).look(), await service.root.count(), await service.root.desk.read()],
    ["bob", 0, []],
  );
});

test("the context that set the timer cancels it, and the result of an outside call carries arguments", async () => {
  await using service = await run(Show);
  const seat = service.root.seats(2);
  await seat.hold("ada", 3_600_000);
  await seat.buy();
  await until(async () => (await service.root.desk.read()).length === 1);
  assert.deepEqual(await service.root.desk.read(), ["ada paid 100 for seat 2"]);
  assert.equal(await service.root.count(), 0);
});

test("a timer and a call that were asked for before a restart start their events above after it", async () => {
  const journal = new MemoryJournal();
  const first = await run(Show, { journal });
  await first.root.seats(3).hold("ada", 200);
  await first.root.seats(4).hold("cleo", 3_600_000);
  await first.stop();
  const second = await run(Show, { journal });
  await second.root.seats(4).buy();
  await until(async () => (await second.root.desk.read()).length === 2);
  const lines = await second.root.desk.read();
  assert.deepEqual([...lines].sort(), ["ada lost seat 3, held by ada", "cleo paid 100 for seat 4"]);
  await second.stop();
});

test("HW-1021 and HW-1022: events cannot be started like that on contexts that are not above", async () => {
  await using service = await run(Show);
  await refused(service.root.seats(1).holdBeside(1), "HW-1021", "Show.seats(1)", "which Show.desk is not");
  await refused(service.root.seats(1).payBeside(), "HW-1022", "Show.seats(1)", "which Show.seats(99) is not");
});

/** A tree of folders: `this.above(Folder)` is the folder itself. */
class Folder extends Context<string> {
  folders: Folders = this.children(Folder as ContextClass<Folder>);
  size = 0;

  add(bytes: number) {
    this.size += bytes;
    const parent = this.event.parent(Folder);
    if (parent !== undefined) this.event.start(parent).add(bytes);
    else {
      const drive = this.event.parent(Drive);
      if (drive !== undefined) this.event.start(drive).add(bytes);
    }
  }
  who() {
    const { ticket, node, address, sender } = this.event;
    return { ticket, node, address, sender };
  }
  @readonly look() {
    return this.size;
  }
}
type Folders = ReturnType<typeof foldersOf>;
declare function foldersOf(): import("headwater").Children<Folder>;

class Drive extends Context {
  folders = this.children(Folder);
  total = 0;
  heard: unknown[] = [];

  add(bytes: number) {
    this.total += bytes;
  }
  hear(what: string) {
    this.heard.push([what, this.event.sender, this.event.parent(Folder)]);
  }
  @readonly look() {
    return [this.total, this.heard];
  }
}
class Clerk extends Context<string> {
  tell() {
    this.event.send(this.event.peer(Drive)).hear("hello");
  }
}
class Office extends Context {
  clerks = this.children(Clerk);
}

test("a context of a class that is its own child names its parent", async () => {
  await using service = await run(Drive);
  const { root } = service;
  await root.folders("a").folders("b").folders("c").add(5);
  await service.idle();
  const sizes = [
    root.folders("a"),
    root.folders("a").folders("b"),
    root.folders("a").folders("b").folders("c"),
  ];
  assert.deepEqual(await Promise.all(sizes.map((folder) => folder.look())), [5, 5, 5]);
  assert.deepEqual((await root.look())[0], 5);
});

test("a method knows its event's ticket, its logical node, its address, and who sent a message", async () => {
  await using service = await run({ disk: Drive, office: Office });
  const { disk, office } = service.nodes;
  const first = await disk.folders("a").folders("b").who();
  const second = await disk.folders("a").who();
  assert.deepEqual(first, {
    ticket: first.ticket,
    node: "disk",
    address: 'disk.folders("a").folders("b")',
    sender: undefined,
  });
  assert.ok(first.ticket > 0 && second.ticket > first.ticket);
  await office.clerks("eve").tell();
  await service.idle();
  const sender = { node: "office", address: 'office.clerks("eve")' };
  assert.deepEqual((await disk.look())[1], [["hello", sender, undefined]]);
});
