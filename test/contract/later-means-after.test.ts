import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run, type TimerId } from "headwater";
import { Gates, turns } from "../gates.js";

/** DESIGN.md, the contract, line 5: what an event asks for leaves when it commits, in the order it was asked for. */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Desk extends Context<string> {
  log: string[] = [];

  write(line: string) {
    this.log.push(line);
  }
  async say(text: string, gate?: string) {
    if (gate !== undefined) await gates.pass(gate);
    this.event.send("ada", text);
    this.event.start(this.above(Office).desks("log")).write(text);
  }
  async sayTwice(text: string, gate: string) {
    this.event.send("ada", `${text} before`);
    await gates.pass(gate);
    this.event.send("ada", `${text} after`);
  }
  @readonly read() {
    return this.log;
  }
}
class Office extends Context {
  desks = this.children(Desk);

  async startAndWait() {
    this.event.start(this.desks("a")).write("started");
    this.event.send("ada", "sent");
    await gates.pass("office");
    await this.desks("a").write("in the event");
  }
  startThree() {
    for (const line of ["one", "two", "three"]) this.event.start(this.desks("a")).write(line);
  }
  async inParallel() {
    this.event.send("ada", "first");
    await Promise.all([this.desks("x").say("slow", "slow"), this.desks("y").say("quick")]);
    this.event.send("ada", "last");
  }
  async nestedInParallel() {
    await Promise.all([this.desks("x").sayTwice("slow", "slow"), this.desks("y").sayTwice("quick", "quick")]);
  }
  async twiceTheSame() {
    const desk = this.desks("x");
    await Promise.all([desk.say("one", "slow"), desk.say("two"), this.desks("y").say("three")]);
  }
}

async function open() {
  const heard: unknown[] = [];
  const service = await run(Office);
  service.client("ada", (message) => heard.push(message));
  return { service, root: service.root, heard };
}

test("line 5: started events and messages leave only when their event has committed", async () => {
  const { service, root, heard } = await open();
  const event = root.startAndWait();
  await gates.reached("office");
  await turns();
  assert.deepEqual(heard, []);
  gates.open("office");
  await event;
  await service.idle();
  assert.deepEqual(await root.desks("a").read(), ["in the event", "started"]);
  assert.deepEqual(heard, ["sent"]);
  await service.stop();
});

test("line 5: events started on one context run in the order in which they were asked for", async () => {
  const { service, root } = await open();
  await root.startThree();
  await service.idle();
  assert.deepEqual(await root.desks("a").read(), ["one", "two", "three"]);
  await service.stop();
});

test("line 5: a started event comes after requests that got their ticket before its parent committed", async () => {
  const { service, root } = await open();
  const parent = root.startAndWait();
  await gates.reached("office");
  const between = root.desks("a").write("between");
  gates.open("office");
  await Promise.all([parent, between]);
  await service.idle();
  assert.deepEqual(await root.desks("a").read(), ["in the event", "between", "started"]);
  await service.stop();
});

test("line 5: the effects of parallel calls stand in the order of the calls, whichever finished first", async () => {
  const { service, root, heard } = await open();
  const event = root.inParallel();
  await gates.reached("slow");
  await turns();
  gates.open("slow");
  await event;
  await service.idle();
  assert.deepEqual(heard, ["first", "slow", "quick", "last"]);
  assert.deepEqual(await root.desks("log").read(), ["slow", "quick"]);
  await service.stop();
});

test("line 5: the effects of one call stay together", async () => {
  const { service, root, heard } = await open();
  const event = root.nestedInParallel();
  await Promise.all([gates.reached("slow"), gates.reached("quick")]);
  gates.open("quick");
  await turns();
  gates.open("slow");
  await event;
  await service.idle();
  assert.deepEqual(heard, ["slow before", "slow after", "quick before", "quick after"]);
  await service.stop();
});

test("line 5: parallel calls of one context take their turns in the order of the calls", async () => {
  const { service, root, heard } = await open();
  const event = root.twiceTheSame();
  await gates.reached("slow");
  await turns();
  gates.open("slow");
  await event;
  assert.deepEqual(heard, ["one", "two", "three"]);
  await service.stop();
});

class Clock extends Context {
  ticks: string[] = [];
  spare: TimerId | undefined;

  async arm() {
    this.event.after(0, this.tick, "early", 1);
    this.spare = this.event.after(0, this.tick, "cancelled in the same event", 2);
    this.event.cancel(this.spare);
    await gates.pass("arm");
    this.ticks.push("armed");
  }
  armSpare() {
    this.spare = this.event.after(0, this.tick, "cancelled", 0);
    this.event.after(1, this.tick, "late", 0);
  }
  cancelSpare() {
    if (this.spare !== undefined) this.event.cancel(this.spare);
  }
  tick(name: string, n: number) {
    this.ticks.push(`${name} ${n}`);
    void gates.pass(name);
  }
  @readonly look() {
    return this.ticks;
  }
}

test("line 5: a timer is armed when its event commits, and what it starts is a later event on the same context", async () => {
  const service = await run(Clock);
  const armed = service.root.arm();
  await gates.reached("arm");
  await turns(50);
  assert.equal(gates.visits("early"), 0);
  gates.open("arm");
  await armed;
  await gates.reached("early");
  await service.idle();
  assert.deepEqual(await service.root.look(), ["armed", "early 1"]);
  await service.stop();
});

test("line 5: a timer that a later event cancels before it fires does not fire", async () => {
  const service = await run(Clock);
  await Promise.all([service.root.armSpare(), service.root.cancelSpare()]);
  await gates.reached("late");
  await service.idle();
  assert.deepEqual(await service.root.look(), ["late 0"]);
  await service.stop();
});

class Printer extends Context {
  lines: string[] = [];
  print(line: string) {
    this.lines.push(line);
  }
  @readonly read() {
    return this.lines;
  }
}
class Writer extends Context {
  async write() {
    this.event.send(this.event.peer(Printer)).print("one");
    this.event.send(this.event.peer(Printer)).print("two");
    await gates.pass("write");
    this.event.send(this.event.peer(Printer)).print("three");
  }
}

test("line 5: messages to another logical node leave at commit, in order", async () => {
  const service = await run({ writer: Writer, printer: Printer });
  const written = service.nodes.writer.write();
  await gates.reached("write");
  await turns();
  assert.deepEqual(await service.nodes.printer.read(), []);
  gates.open("write");
  await written;
  await service.idle();
  assert.deepEqual(await service.nodes.printer.read(), ["one", "two", "three"]);
  await service.stop();
});
