import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AnonymousContext,
  Context,
  type FailedEvent,
  readonly,
  run,
  type Target,
  type TimerId,
} from "headwater";
import { refused } from "../refused.js";

/** HW-1018, HW-1020 and HW-1021: events, messages and timers aimed at the wrong place. */

class Printer extends Context {
  lines: string[] = [];
  print(line: string) {
    this.lines.push(line);
  }
  @readonly read() {
    return this.lines;
  }
}
class Adder extends AnonymousContext {
  arm() {
    this.event.after(0, this.arm);
  }
}
class Cell extends Context<number> {
  timer: TimerId | undefined;
  arm() {
    this.timer = this.event.after(3_600_000, this.arm);
    return this.timer;
  }
  cancel(timer: TimerId) {
    this.event.cancel(timer);
  }
}
class Maker extends Context {
  cells = this.children(Cell);
  adder = this.child(Adder);

  startOnPeer() {
    this.event.start(this.event.peer(Printer)).print("no");
  }
  sendToOwn() {
    this.event.send(this.cells(1)).arm();
  }
  startOn(target: string) {
    this.event.start(target as unknown as Target<Cell>).arm();
  }
  sendBack() {
    this.event.send(this.event.caller as string, "done");
  }
  sendToStranger() {
    this.event.send(this.event.peer(Stranger)).add();
  }
  sendNamed(name: string) {
    this.event.send(this.event.peer(Printer, name)).print(`to ${name}`);
  }
  sendUnnamed() {
    this.event.send(this.event.peer(Printer)).print("to whom?");
  }
  armFor(ms: number) {
    return this.event.after(ms, this.ring);
  }
  armForeign() {
    this.event.after(0, function ring() {});
  }
  ring() {}
}
class Stranger extends Context {
  add() {}
}

test("HW-1018: start is for this logical node, send for others, and both want a reference", async () => {
  const { nodes, stop } = await run({ maker: Maker, printer: Printer });
  await refused(nodes.maker.startOnPeer(), "HW-1018", "printer is part of", "this.event.send");
  await refused(nodes.maker.sendToOwn(), "HW-1018", "maker.cells(1)", "this.event.start");
  await refused(nodes.maker.startOn("cells(1)"), "HW-1018", "cells(1)");
  assert.deepEqual(await nodes.printer.read(), []);
  await stop();
});

test("HW-1018: who sends back to a caller that there is not is told to look first", async () => {
  const { root, client, stop } = await run(Maker);
  const heard: unknown[] = [];
  await client("ada", (message) => heard.push(message)).root.sendBack();
  assert.deepEqual(heard, ["done"]);
  await refused(root.sendBack(), "HW-1018", "undefined", "Check `this.event.caller`");
  await stop();
});

test("HW-1020: a logical node must be one of the program, and only one may fit", async () => {
  const service = await run({ maker: Maker, left: Printer, right: Printer });
  const { maker, left, right } = service.nodes;
  await refused(maker.sendToStranger(), "HW-1020", "Stranger", "maker, left, right");
  await refused(maker.sendUnnamed(), "HW-1020", "Printer");
  await refused(maker.sendNamed("middle"), "HW-1020", '"middle"');
  await maker.sendNamed("right");
  await service.idle();
  assert.deepEqual([await left.read(), await right.read()], [[], ["to right"]]);
  await service.stop();
});

test("HW-1021: a timer needs a delay and a method of its context", async () => {
  const { root, stop } = await run(Maker);
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY, "5" as unknown as number]) {
    await refused(root.armFor(ms), "HW-1021", "Maker", String(ms));
  }
  await refused(root.armForeign(), "HW-1021", "Maker", "this.method");
  await refused(root.adder.arm(), "HW-1021", "Maker.adder", "anonymous");
  await stop();
});

test("HW-1021: a context cancels only timers that it has set itself", async () => {
  const { root, stop } = await run(Maker);
  const timer = await root.cells(1).arm();
  await refused(root.cells(2).cancel(timer), "HW-1021", "Maker.cells(2)");
  await refused(root.cells(1).cancel("something"), "HW-1021", "something");
  await root.cells(1).cancel(timer);
  await root.cells(1).cancel(timer);
  await stop();
});

test("HW-1018: a refused start that is caught leaves the event as it was", async () => {
  class Tolerant extends Context {
    n = 0;
    go() {
      this.n = 1;
      try {
        this.event.send(this.above(Tolerant)).go();
      } catch {
        this.n = 2;
      }
      return this.n;
    }
  }
  const failed: FailedEvent[] = [];
  const service = await run(Tolerant, { onError: (failure) => failed.push(failure) });
  assert.equal(await service.root.go(), 2);
  await service.idle();
  assert.deepEqual(failed, []);
  await service.stop();
});
