import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, HeadwaterError, run } from "headwater";
import { Answers } from "#src/host/answers.js";
import { Gates } from "../gates.js";
import { refused } from "../refused.js";

const gates = new Gates();

class Till extends Context {
  cents = 0;

  add(cents: number) {
    if (cents < 0) throw new Error("no refunds");
    this.cents += cents;
    return { cents: this.cents, by: this.event.caller };
  }

  async addBehind(gate: string) {
    await gates.pass(gate);
    return this.add(1);
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

test("a request that was refused because there was no room is tried when it is made again", async () => {
  await using service = await run(Till, { limits: { inFlight: 1 } });
  const once = { request: "r1" };
  const other = service.root.addBehind("till");
  await refused(service.as(once).root.add(5), "HW-1301");
  await refused(service.as(once).root.add(5), "HW-1301");
  gates.open("till");
  await other;
  await service.room();
  assert.deepEqual(await service.as(once).root.add(5), { cents: 6, by: undefined });
  assert.deepEqual(await service.as(once).root.add(5), { cents: 6, by: undefined });
});

test("what the service says when it stops or when its journal fails is not remembered as an answer", async () => {
  for (const code of ["HW-1401", "HW-3006", "HW-3007"] as const) {
    const answers = new Answers(() => 0, 100, 10);
    const refusal = () => Promise.reject(new HeadwaterError(code, "not now."));
    await refused(answers.once("r1", refusal), code);
    assert.equal(await answers.once("r1", async () => "done"), "done");
    const heard: unknown[] = [];
    const waiting = { resolve: (value: unknown) => heard.push(value), reject: () => heard.push(code) };
    const series = answers.series("ada");
    series.once(1, waiting)?.reject(new HeadwaterError(code, "not now."));
    series.once(1, waiting)?.resolve("done");
    assert.equal(series.once(1, waiting), null);
    assert.deepEqual(heard, [code, "done", "done"]);
  }
});

/** Somebody who notes what came of requests. */
function listener() {
  const heard: unknown[] = [];
  const waiting = (name: string) => ({
    resolve: (value: unknown) => heard.push([name, value]),
    reject: (error: unknown) => heard.push([name, String(error)]),
  });
  return { heard, waiting };
}

test("a numbered request that comes again gets the answer of the first, before and after it is there", () => {
  const { heard, waiting } = listener();
  const series = new Answers(() => 0, 100, 10).series("ada");
  const first = series.once(1, waiting("first"));
  assert.equal(series.once(1, waiting("again")), null);
  first?.reject(new Error("no refunds"));
  assert.equal(series.once(1, waiting("late")), null);
  const error = "Error: no refunds";
  assert.deepEqual(heard, [
    ["first", error],
    ["again", error],
    ["late", error],
  ]);
});

test("numbered answers are forgotten when the client has them, and before that only when too old or too many", () => {
  let now = 0;
  const { waiting } = listener();
  const answers = new Answers(() => now, 100, 5000);
  const ada = answers.series("ada");
  const isKnown = (number: number) => {
    const answer = ada.once(number, waiting("again"));
    answer?.resolve(0);
    return answer === null;
  };
  for (let number = 1; number <= 10; number++) ada.once(number, waiting("first"))?.resolve(number);
  ada.answered(6);
  assert.deepEqual([ada.size, answers.numbered], [5, 5]);
  answers.leave("ada");
  now = 100;
  assert.equal(answers.series("ada").size, 5, "it is back in time");
  for (let number = 11; number <= 9000; number++) ada.once(number, waiting("more"))?.resolve(number);
  assert.ok(ada.size <= 5001, `${ada.size} answers`);
  assert.equal(isKnown(9000), true);
  assert.equal(isKnown(7), false, "the oldest made room");
  answers.leave("ada");
  now = 201;
  answers.series("bob");
  assert.equal(answers.numbered, 0);
});

test("a numbered request whose answer is still to come is never forgotten", () => {
  const { heard, waiting } = listener();
  const answers = new Answers(() => 0, 100, 2);
  const series = answers.series("ada");
  const slow = series.once(1, waiting("slow"));
  for (let number = 2; number <= 10; number++) series.once(number, waiting("quick"))?.resolve(number);
  series.answered(11);
  answers.leave("ada");
  answers.series("bob");
  assert.equal(answers.series("ada").once(1, waiting("again")), null);
  slow?.resolve("done");
  assert.deepEqual(heard.slice(-2), [
    ["slow", "done"],
    ["again", "done"],
  ]);
});
