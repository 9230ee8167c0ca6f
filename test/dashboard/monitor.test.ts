import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "headwater";
import { Histogram } from "#src/dashboard/histogram.js";
import { Monitor } from "#src/dashboard/monitor.js";
import fc from "../properties.js";
import { until } from "../waits.js";
import Shop from "./programs/shop.js";

test("percentiles are those of the sorted durations, to a tenth", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.001, max: 100_000, noNaN: true }), { minLength: 1, maxLength: 300 }),
      fc.constantFrom(0.5, 0.9, 0.99, 1),
      (durations, share) => {
        const histogram = new Histogram();
        for (const ms of durations) histogram.add(ms);
        const exact =
          durations.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(share * durations.length)) - 1] ?? 0;
        const found = histogram.quantile(share) ?? 0;
        assert.ok(Math.abs(found / exact - 1) < 0.1, `${found} for ${exact}`);
      },
    ),
  );
});

test("events, failures and what one event waited for are told, and nothing is observed before a page looks", async () => {
  await using service = await run(Shop, { onError: () => {} });
  const monitor = new Monitor(service);
  await service.root.name("before");
  monitor.wake();
  await service.root.name("after");
  await assert.rejects(service.root.shelves(3).fail());
  await until(() => monitor.recent.list({}).events.length === 2);
  assert.deepEqual(
    monitor.recent.list({}).events.map(({ context, method, ok }) => [context, method, ok]),
    [
      ["Shop.shelves(3)", "fail", false],
      ["Shop", "name", true],
    ],
  );
  const [failed] = monitor.recent.list({ failedOnly: true }).events;
  assert.equal(failed?.error, "RangeError");
  assert.deepEqual(
    monitor.busy
      .top(10)
      .map(({ address }) => address)
      .toSorted(),
    ["Shop", "Shop.shelves(3)"],
  );
  assert.equal(monitor.recent.story("Shop", failed?.ticket ?? 0)?.event, failed);
  monitor.close();
});
