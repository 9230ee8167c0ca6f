import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MemoryJournal } from "headwater";
import { StreamService } from "headwater/streams";
import { refused } from "../refused.js";
import { until } from "../waits.js";

const numbers = async (service: StreamService, tenant: string, name: string) => {
  const { rows } = await (await service.tenant(tenant)).page(name, 1);
  return rows.map(({ number, json }) => [number, (JSON.parse(json) as { n: number }).n]);
};

test("tenants read what is shared with them, each row once and in order, over restarts and further tenants", async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ push: fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }) }) },
    { weight: 1, arbitrary: fc.constant("restart" as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const journal = new MemoryJournal();
      let service = await StreamService.open({ journal });
      const acme = await service.tenant("acme");
      await acme.registerStream("s", { n: "bigint" });
      await acme.share("s", ["zoo"]);
      const zoo = await service.tenant("zoo");
      await zoo.registerQuery("big", "SELECT n FROM acme.s WHERE n > 3");
      await zoo.share("big", "all");
      await (await service.tenant("far")).registerQuery("all_of_it", "SELECT n FROM zoo.big");
      const pushed: number[] = [];
      for (const each of steps) {
        if (each === "restart") {
          await service.close();
          service = await StreamService.open({ journal });
        } else {
          await (await service.tenant("acme")).pushEvents(
            "s",
            each.push.map((n) => ({ n })),
          );
          pushed.push(...each.push);
        }
      }
      const expected = pushed.filter((n) => n > 3).map((n, i) => [i + 1, n]);
      const reached = async () => (await numbers(service, "far", "all_of_it")).length >= expected.length;
      await until(reached, "until all rows have reached the third tenant");
      assert.deepEqual(await numbers(service, "zoo", "big"), expected);
      assert.deepEqual(await numbers(service, "far", "all_of_it"), expected);
      await service.close();
    }),
    { numRuns: 15 },
  );
});

test("a subscriber of the reading tenant is woken, windows close with the owner's watermark, and tables bring their rows", async (t) => {
  const service = await StreamService.open();
  t.after(() => service.close());
  const [acme, zoo] = [await service.tenant("acme"), await service.tenant("zoo")];
  await acme.registerStream("s", { n: "bigint", at: "timestamp" }, { time: { column: "at" } });
  await acme.registerStream("prices", { item: "text", cents: "bigint" }, { key: ["item"] });
  await acme.pushEvents("prices", [{ item: "a", cents: 1 }]);
  for (const name of ["s", "prices"]) await acme.share(name, ["zoo"]);
  assert.deepEqual(
    (await zoo.shared()).map(({ name, kind }) => [name, kind]),
    [
      ["acme.s", "stream"],
      ["acme.prices", "table"],
    ],
  );
  await zoo.define(
    "CREATE MATERIALIZED VIEW held AS SELECT item, sum(cents) AS cents FROM acme.prices GROUP BY item",
  );
  await zoo.registerQuery(
    "per_second",
    "SELECT window_end, count(*) AS n FROM TUMBLE(acme.s, at, INTERVAL '1 second') GROUP BY window_end EMIT ON WINDOW CLOSE",
  );
  const rows = zoo.subscribe("per_second", { from: 1 });
  const first = rows.next();
  await acme.pushEvents("s", [
    { n: 1, at: 100 },
    { n: 2, at: 5000 },
  ]);
  assert.equal((await first).value?.number, 1);
  await rows.return(undefined);
  await acme.pushEvents("prices", [
    { item: "a", cents: 5 },
    { item: "b", cents: 7 },
  ]);
  await until(async () => (await zoo.readView("held")).length === 2);
  assert.deepEqual(
    (await zoo.readView("held")).map(({ item, cents }) => [item, Number(cents)]),
    [
      ["a", 5],
      ["b", 7],
    ],
  );
});

test("what is in use is neither unshared nor deregistered, and only its owner pushes into it", async (t) => {
  const service = await StreamService.open();
  t.after(() => service.close());
  const [acme, zoo, bee] = [
    await service.tenant("acme"),
    await service.tenant("zoo"),
    await service.tenant("bee"),
  ];
  await acme.registerStream("s", { n: "bigint" });
  await refused(zoo.registerQuery("q", "SELECT n FROM acme.s"), "HW-5103");
  await acme.share("s", ["zoo"]);
  await zoo.registerQuery("q", "SELECT n FROM acme.s");
  await refused(bee.registerQuery("q", "SELECT n FROM acme.s"), "HW-5103");
  for (const stop of [() => acme.unshare("s"), () => acme.deregister("s"), () => acme.share("s", ["bee"])])
    await refused(stop(), "HW-5404", "the tenant zoo");
  await refused(zoo.pushEvents("acme.s", [{ n: 1 }]), "HW-5403");
  await refused(zoo.seal("acme.s", ""), "HW-5403");
  await refused(zoo.deregister("acme.s"), "HW-5401");
  assert.deepEqual(
    acme.list().map(({ name, readers }) => [name, readers]),
    [["s", []]],
  );
  await zoo.deregister("q");
  await acme.share("s", ["bee"]);
  await acme.unshare("s");
  await acme.deregister("s");
  assert.deepEqual([acme.list(), zoo.list(), await zoo.shared()], [[], [], []]);
});
