import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Ref, run } from "headwater";

/**
 * What an event costs may grow with what it does, and not with the square of that: then these would take many times as long as
 * a test may take, on any machine, and not seconds.
 */

class Leaf extends Context<number> {
  n = 0;
  add() {
    this.n += 1;
  }
}
class Root extends Context {
  leaves = this.children(Leaf);
  rang = 0;
  async addToEach(count: number) {
    await Promise.all(Array.from({ length: count }, (_, i) => this.leaves(i).add()));
  }
  async addToOne(count: number) {
    await Promise.all(Array.from({ length: count }, () => this.leaves(0).add()));
  }
  armAndCancel(count: number) {
    const timers = Array.from({ length: count }, () => this.event.after(1_000_000, this.ring));
    for (const timer of timers.reverse()) this.event.cancel(timer);
  }
  arm(count: number) {
    return Array.from({ length: count }, () => this.event.after(1_000_000, this.ring));
  }
  cancel(timers: readonly string[]) {
    for (const timer of timers.toReversed()) this.event.cancel(timer);
  }
  ring() {
    this.rang += 1;
  }
}
class Link extends Context<number> {
  n = 0;
  next = this.children(Link);
  async reach(depth: number): Promise<number> {
    this.n += 1;
    return depth === 0 ? 0 : 1 + (await this.next(0).reach(depth - 1));
  }
}
class Chain extends Context {
  links = this.children(Link);
  reach(depth: number) {
    return this.links(depth).reach(depth);
  }
}

const MANY = 200_000;
const DEEP = 8000;

const many: Record<string, (root: Ref<Root>, count: number) => Promise<unknown>> = {
  "calls side by side": (root, count) => root.addToEach(count),
  "calls one after the other in one context": (root, count) => root.addToOne(count),
  "timers armed and cancelled by one event": (root, count) => root.armAndCancel(count),
  "timers armed by one event and cancelled by another": async (root, count) =>
    root.cancel(await root.arm(count)),
};
for (const [what, act] of Object.entries(many)) {
  test(`${MANY} ${what} end before the limit of a test`, async () => {
    await using service = await run(Root, { limits: { effectsPerEvent: 2 * MANY } });
    await act(service.root, MANY);
  });
}

test(`a chain of ${DEEP} calls, each in a context below the last, ends before the limit of a test`, async () => {
  await using service = await run(Chain);
  assert.equal(await service.root.reach(DEEP), DEEP);
});
