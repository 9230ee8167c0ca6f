import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, run } from "headwater";
import { Answers } from "#src/host/answers.js";

class Till extends Context {
  cents = 0;

  add(cents: number) {
    if (cents < 0) throw new Error("no refunds");
    this.cents += cents;
    return { cents: this.cents, by: this.event.caller };
  }
}

test("a request made again under the same name has its effect once and gets the first answer", async () => {
  await using service = await run(Till);
  const once = { client: "ada", request: "r1" };
  const [first, second] = await Promise.all([service.as(once).root.add(5), service.as(once).root.add(5)]);
  assert.deepEqual(first, { cents: 5, by: "ada" });
  assert.deepEqual(second, first);
  assert.deepEqual(await service.as(once).root.add(5), first);
  assert.deepEqual(await service.as({ request: "r2" }).root.add(1), { cents: 6, by: undefined });
});

test("a failure is an answer, too", async () => {
  await using service = await run(Till);
  for (let i = 0; i < 2; i++) await assert.rejects(service.as({ request: "r1" }).root.add(-1), /no refunds/);
  assert.deepEqual(await service.root.add(1), { cents: 1, by: undefined });
});

test("answers are remembered for the stated time, and no more of them than stated", async () => {
  let now = 0;
  let asked = 0;
  const answers = new Answers(() => now, 100, 3);
  const ask = (id: string) => answers.once(id, async () => ++asked);
  assert.equal(await ask("a"), 1);
  now = 100;
  assert.equal(await ask("a"), 1);
  now = 101;
  assert.equal(await ask("a"), 2);
  for (const id of ["b", "c", "d"]) await ask(id);
  assert.equal(await ask("d"), 5);
  assert.equal(await ask("a"), 6, "the oldest made room");
});

test("a request whose answer is still to come is never forgotten", async () => {
  const answers = new Answers(() => 0, 100, 1);
  let release = (_: number) => {};
  const slow = answers.once("slow", () => new Promise<number>((resolve) => (release = resolve)));
  for (const id of ["a", "b", "c"]) await answers.once(id, async () => id);
  const again = answers.once("slow", async () => 2);
  release(1);
  assert.deepEqual(await Promise.all([slow, again]), [1, 1]);
});
