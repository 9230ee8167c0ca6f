import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "headwater";
import { LOG_LEVELS, logFacts } from "headwater/observe";
import Shop from "../dashboard/programs/shop.js";
import { until } from "../waits.js";

test("each level writes what it says and all above it, as one JSON object per line", async () => {
  const written = new Map<string, { level: string; kind: string }[]>();
  await using service = await run(Shop, { onError: () => {} });
  for (const level of LOG_LEVELS) {
    const lines: { level: string; kind: string }[] = [];
    written.set(level, lines);
    logFacts(service, { level, write: (line) => void lines.push(JSON.parse(line) as never) });
  }
  await service.root.name("a");
  await service.root
    .shelves(1)
    .fail()
    .catch(() => {});
  await until(() => written.get("debug")?.length === 2);
  for (const [i, level] of LOG_LEVELS.entries()) {
    const expected = written.get("debug")?.filter((each) => LOG_LEVELS.indexOf(each.level as never) >= i);
    assert.deepEqual(written.get(level), expected, level);
  }
  const [first, second] = written.get("debug") ?? [];
  assert.deepEqual(
    [first, second].map((each) => [each?.level, each?.kind]),
    [
      ["debug", "event"],
      ["warn", "event"],
    ],
  );
  const { time, error } = second as unknown as { time: string; error: string };
  assert.equal(new Date(time).toISOString(), time);
  assert.equal(error, "RangeError");
});
