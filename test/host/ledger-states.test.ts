import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type ContextClass, type Ref, tracked } from "headwater";
import type { Slot } from "#src/host/context/slot.js";
import { loadState } from "#src/host/context/stored-state.js";
import { Program } from "#src/host/node/program.js";
import { DEFAULT_LIMITS } from "#src/host/ports/limits.js";
import { memoryPorts } from "#src/host/ports/ports.js";
import { Ledger } from "#src/host/store/ledger.js";
import { MemoryJournal } from "#src/journal/memory.js";
import { keyOf } from "#src/model/path.js";
import { Random } from "#src/random.js";
import { assertSame } from "./kept.js";

class Shelf extends Context<number> {
  changes = 0;
  items = tracked.map<string, { readonly count: number }>();
  order = tracked.list<string>();

  async put(item: string, fails: boolean) {
    this.changes++;
    this.items.set(item, { count: (this.items.get(item)?.count ?? 0) + 1 });
    this.order.push(item);
    if (fails) throw new Error("nothing was put");
  }
  take() {
    const item = this.order.shift();
    if (item !== undefined) this.items.delete(item);
  }
}
class Corner extends Context<string> {
  armed = 0;
  setTimer() {
    this.armed++;
    this.event.after(1e6, this.setTimer);
  }
}
class Shop extends Context {
  corners = this.children(Corner);
  names = tracked.set<string>();
  shelves = this.children(Shelf);

  /** Gives the shop up early, so that others build on what it may yet undo. */
  async move(item: string, from: number, to: number, fails: boolean) {
    this.names.add(item);
    this.downgrade();
    await this.shelves(from).take();
    await this.shelves(to).put(item, false);
    await this.shelves(to)
      .put(item, fails)
      .catch(() => {});
    if (fails) throw new Error("nothing was moved");
  }
  rename(before: string, after: string) {
    if (this.names.delete(before)) this.names.add(after);
  }
}

function start(journal: MemoryJournal) {
  const options = {
    commitOrder: "observer",
    limits: DEFAULT_LIMITS,
    ledger: new Ledger(journal, 1000),
  } as const;
  const program = new Program({ Shop: Shop as unknown as ContextClass }, memoryPorts, options);
  return { program, root: program.rootOf("Shop") as unknown as Ref<Shop> };
}

function* contextsOf(slot: Slot): Iterable<Slot> {
  yield slot;
  for (const child of slot.made()) yield* contextsOf(child);
}

test("whatever events did, gave up and undid, the journal has the states of their contexts", async () => {
  const random = new Random(7);
  const journal = new MemoryJournal();
  for (let runs = 0; runs < 5; runs++) {
    const { program, root } = start(journal);
    const asked: Promise<unknown>[] = [];
    for (let i = 0; i < 120; i++) {
      const [item, shelf, fails] = [`item${random.int(9)}`, random.int(3), random.chance(0.3)];
      const act = random.int(4);
      if (act === 0) asked.push(root.shelves(shelf).put(item, fails));
      else if (act === 1) asked.push(root.shelves(shelf).take());
      else if (act === 2) asked.push(root.rename(item, `item${random.int(9)}`));
      else asked.push(root.move(item, shelf, random.int(3), fails));
      if (random.chance(0.2)) await Promise.allSettled(asked);
    }
    const ended = await Promise.allSettled(asked);
    assert.ok(ended.some(({ status }) => status === "rejected"));
    await program.until(() => program.isIdle);
    for (const slot of contextsOf(program.node("Shop").root)) {
      const stored = loadState(journal, slot);
      assertSame(slot, stored, slot.state);
    }
    await program.stop(0);
  }
});

test("contexts and requests with names that are too long for a journal, or have no UTF-8, are kept as well", async () => {
  const journal = new MemoryJournal();
  const names = ["é".repeat(1024), `${"é".repeat(1023)}e`, "\ud800", "#"];
  const { program } = start(journal);
  const ask = (name: string) => program.rootOf("Shop", { request: name }) as unknown as Ref<Shop>;
  for (const name of names) await ask(name).corners(name).setTimer();
  for (const name of names) await ask(name).corners(name).setTimer(); // is answered, but not run again
  await program.stop(0);
  const timers = [...new Ledger(journal, 1000).timers("Shop")];
  assert.deepEqual(
    timers
      .map(
        ([
          ,
          {
            path: [step],
          },
        ]) => step && keyOf(step),
      )
      .toSorted(),
    names.toSorted(),
  );
  const again = start(journal);
  for (const name of names) {
    const asked = again.program.rootOf("Shop", { request: name }) as unknown as Ref<Shop>;
    await asked.corners(name).setTimer();
  }
  assert.equal([...new Ledger(journal, 1000).timers("Shop")].length, names.length);
  await again.program.stop(0);
});
