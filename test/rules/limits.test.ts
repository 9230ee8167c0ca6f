import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates, turns, watch } from "../gates.js";
import { refused } from "../refused.js";

/** HW-1301, HW-1302 and HW-1401: every queue has an end, and so has the service. */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Printer extends Context {
  lines = 0;
  async print(gate: string) {
    await gates.pass(gate);
    this.lines += 1;
  }
}
class Worker extends Context {
  done = 0;
  async work(gate: string) {
    await gates.pass(gate);
    this.done += 1;
    return this.done;
  }
  startMany(count: number) {
    this.done += 1;
    for (let i = 0; i < count; i++) this.event.start(this.above(Worker)).add();
  }
  startSlow(count: number) {
    for (let i = 0; i < count; i++) this.event.start(this.above(Worker)).work("slow");
  }
  askMany(count: number) {
    this.done += 1;
    for (let i = 0; i < count; i++) this.event.send("ada", i);
  }
  arm(name: string) {
    this.event.after(0, this.ring, name);
  }
  ring(name: string) {
    void gates.pass(name);
  }
  add() {
    this.done += 1;
  }
  @readonly look() {
    return this.done;
  }
}

test("HW-1301: a full logical node refuses requests, says so, and takes them again when there is room", async () => {
  const service = await run(Worker, { limits: { inFlight: 2 } });
  const { root } = service;
  const taken = [root.work("slow"), root.work("slow")];
  await refused(root.work("slow"), "HW-1301", "Worker", "2 unfinished events");
  const room = service.room();
  const watched = watch(room);
  await turns();
  assert.equal(watched.settled, false);
  gates.open("slow");
  await room;
  assert.deepEqual(await Promise.all(taken), [1, 2]);
  assert.equal(await root.work("slow"), 3);
  await service.stop();
});

test("HW-1301: what is said is how many events are unfinished, which may be more than the limit for requests", async () => {
  await using service = await run(Worker, { limits: { inFlight: 2 } });
  const { root } = service;
  await root.startSlow(5);
  await refused(root.look(), "HW-1301", "has 5 unfinished events", "fewer than 2");
  gates.open("slow");
  await service.idle();
});

test("HW-1301: an event that starts more events than there is room for is refused as a whole", async () => {
  const service = await run(Worker, { limits: { started: 10 } });
  await refused(service.root.startMany(20), "HW-1301", "Worker");
  assert.equal(await service.root.look(), 0);
  await service.root.startMany(5);
  await service.idle();
  assert.equal(await service.root.look(), 6);
  await service.stop();
});

test("HW-1302: an event that asks for too much is refused as a whole", async () => {
  const service = await run(Worker, { limits: { effectsPerEvent: 3 } });
  const heard: unknown[] = [];
  service.client("ada", (message) => heard.push(message));
  await refused(service.root.askMany(4), "HW-1302", "Worker", "3");
  assert.equal(await service.root.look(), 0);
  await service.root.askMany(3);
  await service.idle();
  assert.deepEqual(heard, [0, 1, 2]);
  await service.stop();
});

test("HW-1401: a service that stops answers what it has taken and takes no more", async () => {
  const service = await run(Worker);
  const taken = service.root.work("slow");
  await gates.reached("slow");
  const stopped = service.stop();
  await refused(service.root.work("slow"), "HW-1401", "takes no more requests");
  const watched = watch(stopped);
  await turns();
  assert.equal(watched.settled, false, "it waits for what it has taken");
  gates.open("slow");
  assert.equal(await taken, 1);
  await stopped;
  await refused(service.root.look(), "HW-1401");
  await service.stop();
});

test("HW-1401: what takes longer than the grace period is cut off and told so", async () => {
  const service = await run(Worker);
  const taken = service.root.work("never opened");
  await gates.reached("never opened");
  const cutOff = refused(taken, "HW-1401", "before this request had ended", "graceMs");
  await service.stop({ graceMs: 0 });
  await cutOff;
});

test("a stopped service has no timers left", async () => {
  const stopped = await run(Worker);
  const other = await run(Worker);
  await stopped.root.arm("stopped");
  await stopped.stop();
  await other.root.arm("other");
  await gates.reached("other");
  assert.equal(gates.visits("stopped"), 0);
  await other.stop();
});

test("idle waits for started events and messages under way, not for timers", async () => {
  class Chain extends Context {
    steps = 0;
    next(left: number) {
      this.steps += 1;
      if (left > 0) this.event.start(this.above(Chain)).next(left - 1);
      else this.event.send(this.event.peer(Printer)).print("print");
      this.event.after(3_600_000, this.next, 0);
    }
    @readonly look() {
      return this.steps;
    }
  }
  const service = await run({ chain: Chain, printer: Printer });
  await service.nodes.chain.next(20);
  const idle = service.idle();
  const watched = watch(idle);
  await gates.reached("print");
  await turns();
  assert.equal(watched.settled, false);
  assert.equal(await service.nodes.chain.look(), 21);
  gates.open("print");
  await idle;
  await service.stop();
});
