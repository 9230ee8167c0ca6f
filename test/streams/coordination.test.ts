import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { openStreams } from "headwater/streams";
import { blocksOf } from "../house/blocks.js";
import { ROOT } from "../house/source.js";
import { refused } from "../refused.js";

const CLICKS =
  "CREATE STREAM clicks (id bigint NOT NULL, campaign text NOT NULL, ts timestamp NOT NULL, WATERMARK FOR ts AS ts)";
const POOR = "SELECT id FROM clicks GROUP BY id HAVING count(*) < 100";

async function opened(t: TestContext) {
  const streams = await openStreams();
  t.after(() => streams.service.close());
  await streams.define(CLICKS);
  return streams;
}

/** The SQL and the text behind it, of every part of the page that explains a query. */
function pairsIn(page: string) {
  const blocks = blocksOf(readFileSync(join(ROOT, "docs", page), "utf8"));
  return blocks.flatMap(({ language, text: sql }, i) => {
    const next = blocks[i + 1];
    return language === "sql" && /^explain /i.test(sql) && next?.language === "text"
      ? [{ sql, text: next.text }]
      : [];
  });
}

describe("EXPLAIN says what docs/coordination.md says", () => {
  const pairs = pairsIn("coordination.md");
  for (const name of ["thresh", "poor", "window", "campaign"])
    assert.ok(
      pairs.some(({ sql }) => sql.includes(`-- ${name}`)),
      `the page does not explain ${name}`,
    );
  for (const { sql, text } of pairs)
    test(sql.split("\n")[0] ?? "", async (t) => {
      const streams = await opened(t);
      assert.equal(await streams.explain(sql), text.trimEnd());
    });
});

test("a query whose answers depend on order is refused with the words that make it so and the choices", async (t) => {
  const streams = await opened(t);
  await refused(
    streams.registerQuery("poor", POOR),
    "HW-5451",
    "1:42  clicks is OW_{id}: count(*) < 100",
    "EMIT CHANGES",
    "seal clicks on {id}",
    "coordination = 'order'",
    "coordination = 'accept', reason",
  );
  assert.deepEqual(
    streams.list().map(({ name }) => name),
    ["clicks"],
  );
});

test("each of the choices is enough, in the SQL text or as options", async (t) => {
  const streams = await opened(t);
  await streams.registerQuery("a", `${POOR} EMIT CHANGES`);
  await streams.registerQuery("b", `${POOR} WITH (coordination = 'order')`);
  await streams.registerQuery("c", `${POOR} WITH (coordination = 'accept', reason = 'it''s a sample')`);
  await streams.registerQuery("d", POOR, { coordination: "accept", reason: "a sample" });
  await streams.define(`CREATE MATERIALIZED VIEW e AS ${POOR}`);
  await streams.define(`CREATE MATERIALIZED VIEW f WITH (coordination = 'order', reason = 'r') AS ${POOR}`);
  assert.deepEqual(
    streams
      .list()
      .map(({ coordination }) => coordination)
      .slice(1),
    [
      null,
      { kind: "order", reason: "chosen at registration" },
      { kind: "accept", reason: "it's a sample" },
      { kind: "accept", reason: "a sample" },
      null,
      { kind: "order", reason: "r" },
    ],
  );
  assert.match(await streams.explain("EXPLAIN c"), /accepted: it's a sample/);
});

test("choices that make no sense are refused", async (t) => {
  const streams = await opened(t);
  await refused(streams.registerQuery("q", POOR, { coordination: "accept" }), "HW-5451", "reason");
  await refused(streams.registerQuery("q", POOR, { coordination: "order", partitions: 0 }), "HW-5452", "0");
  await refused(streams.registerQuery("q", POOR, { coordination: "hope" }), "HW-5451", "hope", "order");
  await refused(streams.registerQuery("q", POOR, { coordination: "seal" }), "HW-5451", "seal clicks on {id}");
});

test("a window of a stream with a watermark waits for it, and a query over the answers waits for nothing", async (t) => {
  const streams = await opened(t);
  const counts = `SELECT window_start, id, count(*) AS n FROM TUMBLE(clicks, ts, INTERVAL '1 minute') GROUP BY 1, 2`;
  await streams.registerQuery("counts", counts);
  await streams.registerQuery("many", "SELECT id FROM counts WHERE n > 1");
  const click = (minute: number) => ({ id: 1, campaign: "x", ts: new Date(60_000 * minute).toISOString() });
  await streams.pushEvents("clicks", [click(0), click(0.5)]);
  assert.deepEqual((await streams.page("counts", 1)).rows, []);
  await streams.pushEvents("clicks", [click(1)]);
  const [only, ...more] = (await streams.page("counts", 1)).rows;
  assert.deepEqual([only?.weight, more.length], [1, 0]);
  assert.deepEqual(
    (await streams.page("many", 1)).rows.map(({ json }) => json),
    ['{"id":1}'],
  );
});

test("windows over the answers of windows close with the watermark that is passed on, whatever batches rows come in", async (t) => {
  const minutes = `SELECT window_end AS at, id, count(*) AS n FROM TUMBLE(clicks, ts, INTERVAL '1 minute') GROUP BY window_start, 1, 2`;
  const hours = `SELECT window_end AS at, max(n) AS most FROM TUMBLE(minutes, at, INTERVAL '5 minutes') GROUP BY window_start, 1`;
  const rows = [0, 10, 70, 75, 80, 130, 290, 310, 660, 1000].map((second) => ({
    ...{ id: 1, campaign: "x", ts: new Date(1000 * second).toISOString() },
  }));
  const answered = async (size: number) => {
    const streams = await opened(t);
    await streams.registerQuery("minutes", minutes);
    await streams.registerQuery("hours", hours);
    for (let i = 0; i < rows.length; i += size) await streams.pushEvents("clicks", rows.slice(i, i + size));
    return (await streams.page("hours", 1)).rows.map(({ weight, json }) => [weight, json]);
  };
  // The minute that ends at 300 belongs to the window that begins there.
  const expected = [
    [1, '{"at":"1970-01-01T00:05:00Z","most":3}'],
    [1, '{"at":"1970-01-01T00:10:00Z","most":1}'],
    [1, '{"at":"1970-01-01T00:15:00Z","most":1}'],
  ];
  for (const size of [1, 3, 10]) assert.deepEqual(await answered(size), expected);
});

test("a query over answers that depend on order is told where that begins, and an accepted label covers what hands it on", async (t) => {
  const streams = await opened(t);
  await streams.registerQuery("poor", `${POOR} WITH (coordination = 'accept', reason = 'a sample')`);
  await streams.registerQuery("even", "SELECT id FROM poor WHERE id % 2 = 0");
  await refused(streams.registerQuery("total", "SELECT count(*) FROM poor"), "HW-5451", "poor");
  await streams.registerQuery("total", "SELECT count(*) FROM poor EMIT CHANGES");
});
