import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, HeadwaterError, run } from "headwater";
import { type AnswerLimits, Answers } from "#src/host/deduplication/answers.js";
import { AnswersInMemory } from "#src/host/deduplication/kept-answers.js";
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

const WEB = { caller: "address 10.0.0.1", part: "HTTP" };
const OTHER = { caller: "address 10.0.0.2", part: "HTTP" };

/** Answers in memory, by a clock that is set by hand. */
function answersFor(limits: Partial<AnswerLimits> = {}) {
  const clock = { now: 0 };
  const all = { answersMs: 100, bytesMax: 1_000_000, ...limits };
  return { clock, answers: new Answers(() => clock.now, all, new AnswersInMemory()) };
}

test("answers are kept for the stated time at least, and are gone in the end", async () => {
  const { clock, answers } = answersFor();
  let asked = 0;
  const ask = (id: string) => answers.once(id, WEB, async () => ++asked);
  assert.equal(await ask("a"), 1);
  for (clock.now = 0; clock.now <= 100; clock.now += 10) assert.equal(await ask("a"), 1);
  for (clock.now = 100; clock.now <= 400; clock.now += 10) await ask("b");
  assert.equal(await ask("a"), asked, "it is a new request after such a time");
});

test("an answer is kept for its time also when the clock is set forward once, or back", async () => {
  for (const jump of [3_600_000, -3_600_000]) {
    const { clock, answers } = answersFor();
    let asked = 0;
    const ask = (id: string) => answers.once(id, WEB, async () => ++asked);
    await ask("a");
    clock.now += jump;
    for (let ms = 0; ms < 50; ms += 10) {
      clock.now += 10;
      assert.equal(await ask("a"), 1);
    }
  }
});

test("when a caller's share is used up, its new requests are refused, and none of its answers is forgotten", async () => {
  const { clock, answers } = answersFor({ bytesMax: 30_000 });
  const done: string[] = [];
  const ask = (id: string, payer = WEB) => answers.once(id, payer, async () => done.push(id));
  let count = 0;
  for (; count < 1000; count++) {
    const outcome = await ask(`a${count}`).catch((error: HeadwaterError) => error.code);
    if (outcome === "HW-4030") break;
  }
  assert.ok(count > 10 && count < 1000, `${count} requests`);
  await refused(ask(`a${count}`), "HW-4030");
  assert.equal(await ask("other", OTHER), count + 1, "another caller is not held up by that");
  for (let i = 0; i < count; i++) assert.equal(await ask(`a${i}`), i + 1, "asked again, it is answered");
  assert.equal(done.length, count + 1, "and nothing was done twice");
  for (clock.now = 0; clock.now <= 200; clock.now += 25) await ask("other", OTHER);
  await ask(`a${count}`);
  assert.equal(done.at(-1), `a${count}`, "there is room again when the old ones are gone");
});

test("however large answers are, no more bytes are kept than stated, and no request is done twice", async () => {
  const { answers } = answersFor({ bytesMax: 100_000 });
  let asked = 0;
  const ask = (id: string) => answers.once(id, WEB, async () => `${++asked}${"x".repeat(10_000)}`);
  const under = Array.from({ length: 50 }, (_, i) => ask(String(i)));
  await Promise.all(under);
  assert.ok(answers.bytes <= 100_000, `${answers.bytes} bytes`);
  const again = await Promise.allSettled(under.map((_, i) => ask(String(i))));
  assert.equal(asked, 50);
  const codes = again.map((each) =>
    each.status === "rejected" ? (each.reason as HeadwaterError).code : "ok",
  );
  assert.deepEqual([...new Set(codes)].toSorted(), ["HW-4031", "ok"]);
});

test("each caller gets an answer of its own", async () => {
  const { answers } = answersFor();
  const ask = () => answers.once("a", WEB, async () => ({ list: [1] })) as Promise<{ list: number[] }>;
  const [first, second] = await Promise.all([ask(), ask()]);
  first.list.push(2);
  second.list.push(3);
  assert.deepEqual(await ask(), { list: [1] });
});

test("a request whose answer is still to come is never forgotten", async () => {
  const { clock, answers } = answersFor();
  let release = (_: number) => {};
  const slow = answers.once("slow", WEB, () => new Promise<number>((resolve) => (release = resolve)));
  for (clock.now = 0; clock.now < 1000; clock.now += 20)
    await answers.once(`${clock.now}`, WEB, async () => 0);
  const again = answers.once("slow", WEB, async () => 2);
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

test("what the service says when it has no room, stops or its journal fails is not remembered as an answer", async () => {
  for (const code of ["HW-1401", "HW-3006", "HW-3007", "HW-4030"] as const) {
    const { answers } = answersFor();
    const refusal = () => Promise.reject(new HeadwaterError(code, "not now."));
    await refused(answers.once("r1", WEB, refusal), code);
    assert.equal(answers.bytes, 0);
    assert.equal(await answers.once("r1", WEB, async () => "done"), "done");
    const heard: unknown[] = [];
    const waiting = { resolve: (value: unknown) => heard.push(value), reject: () => heard.push(code) };
    const series = answers.series("ada", WEB);
    series.once(1, 0, waiting)?.reject(new HeadwaterError(code, "not now."));
    series.once(1, 0, waiting)?.resolve("done");
    assert.equal(series.once(1, 0, waiting), null);
    assert.deepEqual(heard, [code, "done", "done"]);
  }
});

/** Somebody who notes what came of requests. */
function listener() {
  const heard: unknown[] = [];
  const waiting = (name: string) => ({
    resolve: (value: unknown) => heard.push([name, value]),
    reject: (error: unknown) =>
      heard.push([name, error instanceof HeadwaterError ? error.code : String(error)]),
  });
  return { heard, waiting };
}

test("a numbered request that comes again gets the answer of the first, before and after it is there", () => {
  const { heard, waiting } = listener();
  const series = answersFor().answers.series("ada", WEB);
  const first = series.once(1, 0, waiting("first"));
  assert.equal(series.once(1, 0, waiting("again")), null);
  first?.reject(new Error("no refunds"));
  assert.equal(series.once(1, 0, waiting("late")), null);
  const error = "Error: no refunds";
  assert.deepEqual(heard, [
    ["first", error],
    ["again", error],
    ["late", error],
  ]);
});

test("numbered answers are forgotten when the client has them or when they are too old, and are refused then", () => {
  const { heard, waiting } = listener();
  const { clock, answers } = answersFor();
  const ada = answers.series("ada", WEB);
  const ask = (number: number) => {
    const answer = ada.once(number, 0, waiting("asked"));
    answer?.resolve(number);
    return heard.at(-1);
  };
  for (let number = 1; number <= 10; number++) ask(number);
  ada.answered(6);
  assert.equal(ada.size, 5);
  assert.deepEqual(ask(5), ["asked", "HW-4031"]);
  answers.leave("ada");
  clock.now = 100;
  assert.equal(answers.series("ada", WEB).size, 5, "it is back in time");
  assert.deepEqual(ask(6), ["asked", 6]);
  for (clock.now = 100; clock.now <= 300; clock.now += 25) ask(clock.now);
  assert.deepEqual(ask(6), ["asked", "HW-4031"]);
  answers.leave("ada");
  for (clock.now = 300; clock.now <= 600; clock.now += 25) answers.series("bob", WEB);
  assert.equal(answers.bytes, 0);
});

test("a client that comes back when all its answers would be gone has no request done twice", () => {
  const { heard, waiting } = listener();
  const { clock, answers } = answersFor();
  answers.series("ada", WEB).once(1, 0, waiting("first"))?.resolve("done");
  answers.leave("ada");
  for (clock.now = 0; clock.now <= 500; clock.now += 25) answers.series("bob", WEB);
  const ada = answers.series("ada", WEB);
  assert.equal(ada.once(1, 1, waiting("again")), null);
  ada.once(2, 1, waiting("new"))?.resolve("done");
  assert.deepEqual(heard, [
    ["first", "done"],
    ["again", "HW-4031"],
    ["new", "done"],
  ]);
});

test("a client that never says what it has uses up its own share, and no other client's", () => {
  const { heard, waiting } = listener();
  const { answers } = answersFor({ bytesMax: 1_000_000 });
  const ada = answers.series("ada", { caller: "address 10.0.0.1", part: "ada" });
  let number = 0;
  do ada.once(++number, 0, waiting("ada"))?.resolve("x".repeat(1000));
  while (number < 10_000 && !String(heard.at(-1)).includes("HW-4030"));
  assert.ok(number > 50 && number < 500, `${number} answers`);
  for (const caller of ["address 10.0.0.1", "address 10.0.0.2"]) {
    const bob = answers.series(`bob ${caller}`, { caller, part: "bob" });
    bob.once(1, 0, waiting("bob"))?.resolve("done");
    assert.deepEqual(heard.at(-1), ["bob", "done"]);
  }
  ada.answered(number);
  ada.once(number, 0, waiting("ada"))?.resolve("done");
  assert.deepEqual(heard.at(-1), ["ada", "done"], "it says what it has, and goes on");
});

test("a numbered request whose answer is still to come is never forgotten", () => {
  const { heard, waiting } = listener();
  const { clock, answers } = answersFor();
  const series = answers.series("ada", WEB);
  const slow = series.once(1, 0, waiting("slow"));
  for (let number = 2; number <= 10; number++) series.once(number, 0, waiting("quick"))?.resolve(number);
  answers.leave("ada");
  for (clock.now = 0; clock.now <= 500; clock.now += 25) answers.series("bob", WEB);
  assert.equal(answers.series("ada", WEB).once(1, 0, waiting("again")), null);
  slow?.resolve("done");
  assert.deepEqual(heard.slice(-2), [
    ["slow", "done"],
    ["again", "done"],
  ]);
});
