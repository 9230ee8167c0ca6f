import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { carryOut } from "#src/core/carry-out.js";
import { Core } from "#src/core/core.js";
import { CoreContext } from "#src/core/core-context.js";
import { Ready } from "#src/core/ready.js";
import { Random } from "#src/random.js";
import { Counters, type Job, pump } from "./manual.js";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

test("the manual's loop is the one that is tested", () => {
  const [, loop = ""] = /```ts fragment\n([\s\S]*?)```/.exec(read("../../src/core/README.md")) ?? [];
  assert.ok(loop.startsWith("function pump"));
  assert.ok(read("./manual.ts").includes(`export ${loop}`));
});

test("with the manual's loop, contexts that are only in the journal come to what they come to one event at a time", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = new Random(seed);
    const core = new Core<Job>();
    const [counters, expected] = [new Counters(), new Map<number, number>()];
    const root = new CoreContext<Job>(null);
    const contexts = Array.from({ length: 4 }, () => new CoreContext<Job>(root));
    let answered = 0;
    for (let i = 0; i < 100; i++) {
      const [counter, adds] = [random.int(4), 1 + random.int(9)];
      const is = (expected.get(counter) ?? 0) + adds;
      expected.set(counter, is);
      const answer = (sum: number) => {
        answered += 1;
        assert.equal(sum, is, `seed ${seed}, event ${i + 1}`);
      };
      const payload: Job = { counter, adds, sum: 0, answer };
      core.request({ context: contexts[counter] as CoreContext<Job>, mode: "write", views: [], payload });
      if (random.chance(0.3)) pump(core, counters);
    }
    pump(core, counters);
    assert.equal(answered, 100);
  }
});

test("duties are done in the order of the manual", () => {
  const core = new Core<string>();
  const root = new CoreContext<string>(null, "root");
  const request = (
    payload: string,
    context: CoreContext<string>,
    views: readonly CoreContext<string>[] = [],
  ) => core.request({ context, mode: "write", views, payload });
  const done: string[] = [];
  const all = (ready = core.ready()) =>
    carryOut(ready, {
      ticketed: ({ payload }) => done.push(`ticket ${payload}`),
      append: (first) => first && done.push(`append ${first.payload}`),
      see: ({ event }) => done.push(`see ${event.payload}`),
      enter: ({ event }) => done.push(`enter ${event.payload}`),
      settle: ({ payload }) => done.push(`settle ${payload}`),
      send: ({ body }) => done.push(`send ${String(body)}`),
    });
  const [one, two, three] = [new CoreContext(root), new CoreContext(root), new CoreContext(root)];
  const first = request("first", one);
  const second = request("second", two);
  all();
  assert.deepEqual(done.splice(0), ["enter first", "enter second"]);
  const messages = [{ to: "client:a", body: "hello" }];
  core.finish(first, { failed: false, starts: [], messages });
  all();
  assert.deepEqual(done.splice(0), ["append first"]);
  // Now something of each kind is ready at once.
  core.journaled(first);
  core.deliver("elsewhere", 1, { context: one, mode: "write", views: [], payload: "message" });
  core.finish(second, { failed: false, starts: [], messages: [] });
  request("viewer", three, [root]);
  all();
  assert.deepEqual(done.splice(0), [
    "ticket message",
    "append second",
    "see viewer",
    "enter message",
    "enter viewer",
    "settle first",
    "send hello",
  ]);
  all(new Ready());
  assert.deepEqual(done, []);
});
