import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { install, isMoved, stage, statistics, uninstall } from "#src/fluxion/runtime/index.js";
import type { Settings } from "#src/fluxion/runtime/settings.js";

const manifest = new URL("./stages/manifest.json", import.meta.url).href;
const begin = (settings: Partial<Settings>) => install({ manifest, ...settings });
const nowhere = () => assert.fail("it ran on the main loop");
const call = (
  id: string,
  inputs: unknown[] = [],
  receivers: unknown[] = [],
  local: () => unknown = nowhere,
) => stage({ id, inputs, receivers, local });
const statisticsOf = (id: string) => statistics().find((each) => each.id === id);

/** A folder in which files are gates and notes. */
function folder(t: TestContext): (name: string) => string {
  const made = mkdtempSync(join(tmpdir(), "headwater-stages-"));
  t.after(() => rmSync(made, { recursive: true }));
  return (name) => join(made, name);
}
const open = (gate: string) => writeFileSync(gate, "");

/** Writes down what is done to it. */
function witness(): { readonly seen: unknown[]; readonly object: Record<string, unknown> } {
  const seen: unknown[] = [];
  const object: Record<string, unknown> = new Proxy(
    {},
    {
      get: (_, name) => {
        if (name === "then") return undefined;
        return (...args: unknown[]) => {
          seen.push([name, ...args]);
          return object;
        };
      },
      set: (_, name, value) => seen.push([name, "=", value]) > 0,
    },
  );
  return { seen, object };
}

describe("stages in workers", () => {
  before(() => begin({ threads: 2, move: "all" }));
  after(() => uninstall());

  test("a stage returns what it returns and throws what it throws", async () => {
    assert.equal(await call("render", ["hi"]), "<p>hi</p>");
    await assert.rejects(call("render", ["bad"]), (error: Error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.stack ?? "", /cannot render bad\n {4}at render \(.*stages\.mjs:7/);
      assert.doesNotMatch(error.stack ?? "", /fluxion\/runtime/);
      return true;
    });
    assert.equal(statisticsOf("render")?.inWorkers, 2);
  });

  test("effects are carried out on the receivers, in order", async () => {
    const { seen, object } = witness();
    const query = Object.assign(Object.create(null) as object, { text: "hi" });
    await call("handler", [query], [object]);
    assert.deepEqual(seen, [
      ["status", 201],
      ["set", "x-thread", "some"],
      ["json", { html: "<p>hi</p>", query }],
    ]);
  });

  test("a stage that returns a receiver returns that", async () => {
    const { object } = witness();
    assert.equal(await call("returnsReceiver", [], [object]), object);
  });

  test("a stage that runs on the main loop after all gets the inputs as they were at the call", async () => {
    const list = [1];
    const late = stage({ id: "returnsFunction", inputs: [list], receivers: [], local: ([inputs]) => inputs });
    list.push(2);
    assert.deepEqual(await late, [1]);
  });

  test("simple values come out as they went in, there and back", async () => {
    const simple = ["", "a", "é€😀", "half \ud83d", "x".repeat(100_000), 0, -0, 1.5, 2 ** 53, Number.NaN];
    const others = [Number.NEGATIVE_INFINITY, true, false, null, undefined, 2n ** 70n];
    for (const value of [...simple, ...others]) {
      assert.ok(Object.is(await call("echo", [value]), value), String(value));
    }
    const all = [...simple, ...others];
    assert.deepEqual(await call("echoAll", all), all);
    assert.deepEqual(await call("echoAll", new Array(200_000).fill(7)), new Array(200_000).fill(7));
  });

  test("simple values in effects come out as they went in", async () => {
    const { seen, object } = witness();
    await call("effects", ["half \ud83d", -0, undefined], [object, object]);
    assert.deepEqual(seen, [
      ["log"],
      ["send", "half \ud83d", -0, undefined],
      ["body", "=", undefined],
      ["type", "html"],
    ]);
  });

  test("what was done before a throw is done, then it is thrown", async () => {
    const { seen, object } = witness();
    const error = { name: "RangeError", message: "late", code: "E_LATE", status: 418 };
    await assert.rejects(call("throwsLate", [], [object, object]), error);
    assert.deepEqual(seen, [
      ["log", "before"],
      ["status", 500],
    ]);
  });

  test("an effect that throws is the last, and its error is that of the stage", async () => {
    const fails = () => {
      throw new RangeError("no such status");
    };
    await assert.rejects(call("handler", [{ text: "x" }], [{ status: fails }]), /no such status/);
  });

  test("what is assigned stays one object, also if it is assigned twice and changed later", async () => {
    const req: Record<string, unknown> = {};
    let calls = 0;
    await call("middleware", ["abc"], [req, () => calls++]);
    assert.deepEqual(req, { body: { text: "abc", length: 3 }, again: { text: "abc", length: 3 } });
    assert.equal(req.body, req.again);
    assert.equal(calls, 1);
  });

  test("arguments of methods are those of the moment of the call", async () => {
    const { seen, object } = witness();
    await call("mutatesAfter", [], [object]);
    assert.deepEqual(seen, [
      ["json", [1]],
      ["json", [1, 2]],
    ]);
  });

  test("what cannot be copied there or back runs on the main loop", async () => {
    assert.equal(await call("echo", [() => 1], [], () => "local"), "local");
    assert.equal(await call("returnsFunction", [], [], () => "local"), "local");
    assert.equal(await call("returnsInstance", [], [], () => "local"), "local");
    assert.match(statisticsOf("returnsInstance")?.refusal ?? "", /class Own/);
    await assert.rejects(
      call("echo", [Symbol("s")], [], async () => Promise.reject(new Error("own"))),
      /own/,
    );
  });

  test("a stage that reads what only the main loop has runs there, even if it caught the error", async () => {
    assert.equal(await call("readsBack", [], [{}], () => "local"), "local");
  });

  test("a stage without a module that can be loaded runs on the main loop", async () => {
    assert.equal(await call("missing", [], [], () => "local"), "local");
    assert.equal(await call("broken", [], [], () => "local"), "local");
    assert.match(statisticsOf("broken")?.refusal ?? "", /does not load/);
  });

  test("a stage that ends its worker fails alone; the worker is replaced", async () => {
    const beside = call("later", [300]);
    await call("echo", [1]); // both threads are there
    await assert.rejects(call("exits"), { code: "HW-7101" });
    assert.equal(typeof (await beside), "number");
    for (let i = 0; i < 4; i++) await assert.rejects(call("exits"), { code: "HW-7101" });
    assert.deepEqual(await Promise.all([1, 2, 3, 4].map((i) => call("echo", [i]))), [1, 2, 3, 4]);
    assert.equal(statisticsOf("exits")?.lost, 5);
  });

  test("asynchronous context is that of the caller", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const next = () => seen.push(storage.getStore());
    await Promise.all(
      ["a", "b"].map((each) =>
        storage.run(each, async () => {
          await call("middleware", [each], [{}, next]);
          seen.push(storage.getStore());
        }),
      ),
    );
    assert.deepEqual(seen.toSorted(), ["a", "a", "b", "b"]);
  });

  test("nobody waits behind a slow stage while a thread is idle", async () => {
    const order: string[] = [];
    const slow = call("later", [1000]).then(() => order.push("slow"));
    await Promise.all([1, 2, 3, 4, 5].map((i) => call("echo", [i]).then(() => order.push(`quick ${i}`))));
    await slow;
    assert.equal(order.at(-1), "slow");
  });
});

test("a stage that waits in a thread which another one ends runs once", async (t) => {
  const at = folder(t);
  begin({ threads: 1, move: "all" });
  const exits = call("waitsAndExits", [at("gate")]);
  const innocent = [1, 2, 3].map((i) => call("notes", [at("notes"), `${i};`]));
  open(at("gate"));
  await assert.rejects(exits, { code: "HW-7101" });
  assert.deepEqual(await Promise.all(innocent), ["1;", "2;", "3;"]);
  assert.equal(readFileSync(at("notes"), "utf8"), "1;2;3;");
  assert.equal(statisticsOf("notes")?.lost, 0);
  await uninstall();
});

test("what waits in a thread behind a slow stage goes to one that is idle", async (t) => {
  const at = folder(t);
  begin({ threads: 2, move: "all" });
  const [slow, quick] = [call("waitsFor", [at("slow")]), call("waitsFor", [at("quick")])];
  const behind = call("echo", [1]); // waits in the thread of the slow one
  open(at("quick"));
  assert.deepEqual(await Promise.all([quick, behind]), [at("quick"), 1]);
  open(at("slow"));
  assert.equal(await slow, at("slow"));
  await uninstall();
});

test("the report of a stage does not wait for the stage that comes after it in its thread", async (t) => {
  const at = folder(t);
  begin({ threads: 1, move: "all" });
  for (let i = 0; i < 100; i++) await call("echo", [i]); // until it is quick
  const [first, second] = [call("echo", [1]), call("waitsFor", [at("gate")])];
  const third = call("later", [1]);
  assert.equal(await first, 1);
  open(at("gate"));
  assert.equal(await second, at("gate"));
  assert.equal(typeof (await third), "number");
  await uninstall();
});

test("a thread runs one stage at a time, also if it awaits", async () => {
  begin({ threads: 1, move: "all" });
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => call("alone"))), [1, 1, 1, 1]);
  await uninstall();
});

test("when the threads are stopped, what waits runs on the main loop", async (t) => {
  const at = folder(t);
  begin({ threads: 1, move: "all" });
  const running = assert.rejects(call("waitsFor", [at("never"), at("begun")]), { code: "HW-7101" });
  while (!existsSync(at("begun"))) await new Promise(setImmediate);
  const waiting = [1, 2].map((i) => call("notes", [at("notes"), `${i}`], [], () => `${i} here`));
  await uninstall();
  await running;
  assert.deepEqual(await Promise.all(waiting), ["1 here", "2 here"]);
  assert.throws(() => readFileSync(at("notes")), { code: "ENOENT" });
});

test("when too many stages wait, others run on the main loop", async () => {
  begin({ threads: 1, move: "all", waitingMax: 1 });
  await call("echo", [0]);
  const [first, second] = [call("later", [50]), call("echo", [1])];
  assert.equal(await call("echo", [2], [], () => "local"), "local");
  assert.deepEqual([typeof (await first), await second], ["number", 1]);
  assert.equal(statisticsOf("echo")?.noRoom, 1);
  await uninstall();
});

test("a stage that never returns ends with its worker, if there is a limit", async () => {
  begin({ threads: 1, move: "all", stageMsMax: 200 });
  const [endless, next] = [call("spin", [1e9]), call("echo", [1])];
  await assert.rejects(endless, { code: "HW-7101" });
  assert.equal(await next, 1);
  await uninstall();
});

test("a stage moves when it is heavy, and small ones stay", async () => {
  begin({ threads: 1, worthMs: 2 });
  const spin = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
    return 0;
  };
  const run = (id: string, ms: number) =>
    isMoved(id) ? call(id, [ms], [], () => spin(ms)) : Promise.resolve(spin(ms));
  for (let i = 0; i < 4; i++) await run("spin", 5);
  assert.equal(statisticsOf("spin")?.isMoved, true);
  while ((await run("spin", 5)) === 0) await new Promise(setImmediate); // until the thread has started
  assert.ok((statisticsOf("spin")?.inWorkers ?? 0) > 0);
  for (let i = 0; i < 1000; i++) if (isMoved("echo")) await call("echo", [1], [], () => 1);
  assert.equal(statisticsOf("echo")?.isMoved, false);
  assert.ok((statisticsOf("echo")?.here ?? 0) < 20);
  while (statisticsOf("spin")?.isMoved) await run("spin", 0.1); // comes back, or the test never ends
  await uninstall();
});

test("what a profile says is decided", async () => {
  begin({ threads: 1, profile: { echo: 5, render: 0.1 } });
  assert.deepEqual([isMoved("echo"), isMoved("render"), isMoved("nothing")], [true, false, false]);
  await uninstall();
});
