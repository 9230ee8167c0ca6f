import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Ref, run } from "headwater";

/** What an event costs may grow with what it does, and not with the square of that. */

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

/** How many times as much work it is to do it for four times as many. */
async function growth(few: number, act: (count: number) => Promise<unknown>): Promise<number> {
  const workOf = async (count: number) => {
    const before = process.cpuUsage().user;
    await act(count);
    return process.cpuUsage().user - before;
  };
  await workOf(few);
  const once = Math.min(await workOf(few), await workOf(few), await workOf(few));
  return Math.min(await workOf(4 * few), await workOf(4 * few)) / once;
}

const SQUARE = 4 ** 2;

const many: Record<string, (root: Ref<Root>, count: number) => Promise<unknown>> = {
  "calls side by side": (root, count) => root.addToEach(count),
  "calls one after the other in one context": (root, count) => root.addToOne(count),
  "timers armed and cancelled by one event": (root, count) => root.armAndCancel(count),
  "timers armed by one event and cancelled by another": async (root, count) =>
    root.cancel(await root.arm(count)),
};
for (const [what, act] of Object.entries(many)) {
  test(`four times as many ${what} take about four times the work`, async () => {
    await using service = await run(Root);
    const times = await growth(5000, (count) => act(service.root, count));
    assert.ok(times < SQUARE / 2, `${times} times`);
  });
}

test("a chain of calls four times as deep does not take sixty-four times the work", async () => {
  await using service = await run(Chain);
  const times = await growth(500, (depth) => service.root.reach(depth));
  assert.ok(times < (4 * SQUARE) / 2, `${times} times`);
});
