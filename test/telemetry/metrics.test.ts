import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryJournal, run } from "headwater";
import { Metrics } from "headwater/observe";
import { DurationHistogram } from "#src/telemetry/series.js";
import Shop from "../dashboard/programs/shop.js";
import fc from "../properties.js";
import { until } from "../waits.js";

/** The samples of a text of Prometheus, by their names with labels. Fails on a line that the format does not have. */
function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const typed = new Set<string>();
  assert.ok(text.endsWith("\n"));
  for (const line of text.trimEnd().split("\n")) {
    const [, kind, described = ""] = /^# (HELP|TYPE) (\w+) \S/.exec(line) ?? [];
    if (kind === "TYPE") typed.add(described);
    if (kind !== undefined) continue;
    const [, name = "", labels = "", value = ""] =
      /^(\w+)(\{(?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$/.exec(line) ?? [];
    assert.ok(name !== "" && value !== "", line);
    assert.ok(typed.has(name) || typed.has(name.replace(/_(bucket|sum|count)$/, "")), `${name} has no type`);
    assert.ok(!samples.has(name + labels), `${line} comes twice`);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

const CALLS = ["put", "fail", "name", "take"] as const;

test("the figures are those of the calls that were made, whatever the calls", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...CALLS), { maxLength: 30 }), async (calls) => {
      await using service = await run(Shop, { journal: new MemoryJournal(), onError: () => {} });
      const metrics = new Metrics(service, { isHealthy: async () => true });
      for (const [i, call] of calls.entries()) {
        if (call === "put") await service.root.shelves(i).put('"\n\\', i);
        else if (call === "fail")
          await service.root
            .shelves(i)
            .fail()
            .catch(() => {});
        else if (call === "name") await service.root.name(`n${i}`);
        else await service.root.till.take(1);
      }
      const counted = async (prefix: string) =>
        [...samplesOf(await metrics.text())]
          .filter(([name]) => name.startsWith(prefix))
          .reduce((sum, [, value]) => sum + value, 0);
      await until(async () => (await counted("headwater_events_total")) === calls.length);
      const samples = samplesOf(await metrics.text());
      const made = (method: (typeof CALLS)[number]) => calls.filter((each) => each === method).length;
      const at = (labels: string) => samples.get(`headwater_events_total{node="Shop",${labels}}`) ?? 0;
      assert.equal(at('place="Shop.shelves",method="put",outcome="ok"'), made("put"));
      assert.equal(at('place="Shop.shelves",method="fail",outcome="failed"'), made("fail"));
      assert.equal(at('place="Shop.till",method="take",outcome="ok"'), made("take"));
      const total = 'headwater_event_seconds_count{node="Shop",part="total"}';
      assert.equal(samples.get(total) ?? 0, calls.length);
      assert.equal(samples.get("headwater_healthy"), 1);
      metrics.stop();
    }),
    { numRuns: 20 },
  );
});

test("a histogram's buckets count what is not above them, and names from outside cannot break a line", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 100_000, noNaN: true })),
      fc.string(),
      (durations, label) => {
        const histogram = new DurationHistogram("h", "help\nhelp");
        for (const ms of durations) histogram.observe({ label }, ms);
        const samples = samplesOf(`${histogram.lines().join("\n")}\n`);
        for (const [name, value] of samples) {
          const le = /le="([^"]+)"\}$/.exec(name)?.[1];
          if (le === undefined) continue;
          const bound = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
          assert.equal(value, durations.filter((ms) => ms / 1000 <= bound).length, name);
        }
        assert.equal(samples.size === 0, durations.length === 0);
      },
    ),
  );
});

test("a metric has as many series as it may, and counts the rest together", () => {
  const histogram = new DurationHistogram("h", "help", 10);
  for (let i = 0; i < 100; i++) histogram.observe({ who: String(i) }, 1);
  const samples = samplesOf(`${histogram.lines().join("\n")}\n`);
  assert.equal(samples.get('h_count{who="other"}'), 90);
});
