import assert from "node:assert/strict";
import { test } from "node:test";
import { openStreams, type TenantStreams } from "headwater/streams";
import { refused } from "../refused.js";
import { until } from "../waits.js";

/**
 * Stormy, section 3.1, figure 1: the streams S1 and S7, Q1 and Q2 over S1, Q3 over Q2's results, Q4 over Q2's results and S7. The
 * graph is built and taken down while events flow.
 */
const QUERIES = {
  q1: "SELECT n FROM s1 WHERE n % 2 = 0",
  q2: "SELECT n, n % 10 AS k FROM s1",
  q3: "SELECT n FROM q2 WHERE k <> 3",
  q4: "SELECT q2.n, s7.name FROM q2 JOIN s7 ON q2.k = s7.k WITH (state_retention = 'forever')",
} as const;

async function numbersOf(streams: TenantStreams, name: string): Promise<number[]> {
  const found: number[] = [];
  for (let from = 1; ; ) {
    const { rows, next } = await streams.page(name, from);
    if (rows.length === 0) return found;
    for (const { number, json } of rows) {
      assert.equal(number, from++);
      found.push((JSON.parse(json) as { n: number }).n);
    }
    from = next;
  }
}

/** All events that a query lets through, from the first that it has seen to the last. */
function assertWhole(found: readonly number[], isLetThrough: (n: number) => boolean): void {
  const [first = 0, last = -1] = [found[0], found.at(-1)];
  const expected = Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(isLetThrough);
  assert.deepEqual(found, expected);
}

test("figure 1: queries come and go while events flow, and none of them misses an event or sees one twice", async (t) => {
  const streams = await openStreams();
  t.after(() => streams.service.close());
  await streams.define("CREATE STREAM s1 (n bigint NOT NULL)");
  await streams.define("CREATE STREAM s7 (k bigint NOT NULL, name text NOT NULL)");
  await streams.pushEvents("s7", [{ k: 3, name: "three" }]);
  let [pushed, isOver] = [0, false];
  const source = (async () => {
    for (let sequence = 1; !isOver; sequence++) {
      await streams.pushEvents("s1", [{ n: pushed }, { n: pushed + 1 }, { n: pushed + 2 }], {
        producer: "p",
        sequence,
      });
      pushed += 3;
    }
  })();
  const more = async () => {
    const before = pushed;
    await until(() => pushed > before + 30);
  };
  const found = new Map<string, number[]>();
  for (const [name, sql] of Object.entries(QUERIES)) {
    await more();
    await streams.registerQuery(name, sql, { backfill: name === "q4" });
  }
  await more();
  await refused(streams.deregister("q2"), "HW-5404", "q3", "q4");
  for (const name of ["q4", "q3", "q2", "q1"]) {
    await more();
    found.set(name, await numbersOf(streams, name));
    await streams.deregister(name);
  }
  await streams.registerQuery("q1", QUERIES.q1);
  await more();
  isOver = true;
  await source;
  const isEven = (n: number) => n % 2 === 0;
  assertWhole(found.get("q1") ?? [], isEven);
  assertWhole(found.get("q2") ?? [], () => true);
  assertWhole(found.get("q3") ?? [], (n) => n % 10 !== 3);
  assertWhole(found.get("q4") ?? [], (n) => n % 10 === 3);
  for (const [name, numbers] of found) assert.ok(numbers.length > 2, `${name} has seen events`);
  assert.deepEqual(
    streams.list().map(({ name, readers }) => [name, readers]),
    [
      ["s1", ["q1"]],
      ["s7", []],
      ["q1", []],
    ],
  );
});
