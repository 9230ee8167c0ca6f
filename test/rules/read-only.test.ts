import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates, turns, watch } from "../gates.js";
import { refused } from "../refused.js";

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Page extends Context<number> {
  text = "";
  write(text: string) {
    this.text = text;
  }
  async writeAt(gate: string, text: string) {
    await gates.pass(gate);
    this.text = text;
  }
  @readonly read() {
    return this.text;
  }
  @readonly async readAt(gate: string) {
    await gates.pass(gate);
    return this.text;
  }
  @readonly scribble() {
    this.text = "scribble";
  }
}
class Book extends Context {
  reads = 0;
  marks: string[] = [];
  pages = this.children(Page);

  mark(name: string) {
    this.marks.push(name);
  }
  @readonly countReads() {
    this.reads += 1;
  }
  @readonly addMark() {
    this.marks.push("x");
  }
  @readonly armTimer() {
    this.event.after(0, this.mark, "x");
  }
  @readonly async writeBelow() {
    await this.pages(1).write("no");
  }
  @readonly async readBelow(gate: string) {
    const before = await this.pages(1).read();
    await gates.pass(gate);
    return [before, await this.pages(1).read()];
  }
  async letScribble() {
    await this.pages(1).scribble();
  }
  async readAndWrite() {
    const text = await this.pages(1).read();
    await this.pages(1).write(`${text}!`);
    return this.pages(1).read();
  }
  @readonly remember(name: string) {
    this.event.start(this.above(Book)).mark(name);
    this.event.send("ada", name);
    return this.marks.length;
  }
  @readonly look() {
    return { reads: this.reads, marks: this.marks };
  }
}

test("HW-1010: a read-only method that changes its context is refused, and the change undone", async () => {
  const { root, stop } = await run(Book);
  await refused(root.countReads(), "HW-1010", "Book.countReads", "reads");
  await refused(root.addMark(), "HW-1010", "Book.addMark", "marks");
  await refused(root.letScribble(), "HW-1010", "Book.pages(1).scribble", "text");
  assert.deepEqual(await root.look(), { reads: 0, marks: [] });
  assert.equal(await root.pages(1).read(), "");
  await stop();
});

test("HW-1010 or HW-1021: a timer is part of the state, so a read-only event can set none", async () => {
  const { root, stop } = await run(Book);
  await assert.rejects(root.armTimer(), (error: { code?: string }) =>
    /^HW-10(10|21)$/.test(error.code ?? ""),
  );
  await stop();
});

test("HW-1011: a read-only event cannot call a method that may write", async () => {
  const { root, stop } = await run(Book);
  await refused(root.writeBelow(), "HW-1011", "Book.pages(1).write", "@readonly");
  assert.equal(await root.pages(1).read(), "");
  await stop();
});

test("an event that may write can call read-only methods below, between its writes", async () => {
  const { root, stop } = await run(Book);
  assert.equal(await root.readAndWrite(), "!");
  await stop();
});

test("read-only events run side by side, in the same context and above it", async () => {
  const { root, stop } = await run(Book);
  const readings = [root.pages(1).readAt("one"), root.pages(1).readAt("two"), root.readBelow("three")];
  await Promise.all([gates.reached("one"), gates.reached("two"), gates.reached("three")]);
  gates.open("three", "two", "one");
  assert.deepEqual(await Promise.all(readings), ["", "", ["", ""]]);
  await stop();
});

test("a read-only event waits for earlier events that may write where it reads", async () => {
  const { root, stop } = await run(Book);
  const writing = root.pages(1).writeAt("slow", "new");
  const readings = [root.pages(1).read(), root.readBelow("open")];
  gates.open("open");
  const watched = readings.map(watch);
  await gates.reached("slow");
  await turns();
  assert.deepEqual(watched, [{ settled: false }, { settled: false }]);
  gates.open("slow");
  await writing;
  assert.deepEqual(await Promise.all(readings), ["new", ["new", "new"]]);
  await stop();
});

test("a read-only event sees one state from beginning to end, whatever later events want to write", async () => {
  const { root, stop } = await run(Book);
  await root.pages(1).write("old");
  const reading = root.readBelow("between");
  await gates.reached("between");
  const writing = root.pages(1).write("new");
  await turns();
  gates.open("between");
  assert.deepEqual(await reading, ["old", "old"]);
  await writing;
  assert.equal(await root.pages(1).read(), "new");
  await stop();
});

test("a read-only event may start later events and send messages", async () => {
  const service = await run(Book);
  const heard: unknown[] = [];
  service.client("ada", (message) => heard.push(message));
  assert.equal(await service.root.remember("p. 7"), 0);
  await service.idle();
  assert.deepEqual((await service.root.look()).marks, ["p. 7"]);
  assert.deepEqual(heard, ["p. 7"]);
  await service.stop();
});
