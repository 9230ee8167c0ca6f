import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, MemoryJournal, run } from "headwater";
import { encode } from "#src/state/codec.js";
import { until } from "../server/town.js";

/** Answers in a journal, of this version and of earlier ones. */

class Till extends Context {
  cents = 0;

  add(cents: number) {
    this.cents += cents;
    return { cents: this.cents };
  }
}

const keysOf = (journal: MemoryJournal, prefix: string) => [...journal.range(prefix)].map(([key]) => key);

test("answers in a journal of an earlier version are found, and go when they are too old", async () => {
  const journal = new MemoryJournal();
  journal.append([{ key: "a/order 17", value: encode([true, { cents: 5 }, 0]) }], () => {});
  const service = await run(Till, { journal, limits: { answersMs: 40 } });
  assert.deepEqual(await service.as({ request: "order 17" }).root.add(5), { cents: 5 });
  assert.deepEqual(await service.root.add(1), { cents: 1 }, "it was not done again");
  let count = 0;
  while (keysOf(journal, "a/").length > 0) {
    await service.as({ request: `later ${++count}` }).root.add(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await service.as({ request: "order 17" }).root.add(5), { cents: 6 });
  await service.stop();
});

test("answers that are too old leave the journal, and those of the stated time stay", async () => {
  const journal = new MemoryJournal();
  const service = await run(Till, { journal, limits: { answersMs: 40 } });
  await service.as({ request: "first" }).root.add(1);
  const [first] = keysOf(journal, "r/");
  let count = 0;
  while (keysOf(journal, "r/").includes(String(first))) {
    const request = `later ${++count}`;
    const answer = await service.as({ request }).root.add(1);
    assert.deepEqual(await service.as({ request }).root.add(1), answer);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(count > 0);
  await service.stop();
});

test("with a journal, a request that is asked again is answered from it, and each caller has an answer of its own", async () => {
  const journal = new MemoryJournal();
  const service = await run(Till, { journal });
  const asked = { request: "order 17" };
  const [first, second] = await Promise.all([service.as(asked).root.add(5), service.as(asked).root.add(5)]);
  first.cents = 0;
  second.cents = 0;
  assert.deepEqual(await service.as(asked).root.add(5), { cents: 5 });
  await service.stop();
  const again = await run(Till, { journal });
  assert.deepEqual(await again.as(asked).root.add(5), { cents: 5 });
  await again.stop();
  await until(() => keysOf(journal, "r/").length === 1);
});
