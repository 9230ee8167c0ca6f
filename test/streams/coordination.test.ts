import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseQuery, resolveQuery } from "#src/sql/index.js";
import {
  type CoordinationChoice,
  examine,
  explain,
  type StreamFacts,
} from "#src/streams/coordination/index.js";

const CLICKS: StreamFacts = {
  name: "clicks",
  columns: [
    { name: "id", type: "int8", nullable: false },
    { name: "campaign", type: "text", nullable: false },
    { name: "ts", type: "timestamp", nullable: false },
  ],
  key: [],
  watermark: null,
  isEstimated: false,
  seals: [],
  isSingleWriter: false,
};

async function examined(sql: string, stream = CLICKS, coordination: CoordinationChoice | null = null) {
  const query = resolveQuery(await parseQuery(sql), sql, { [stream.name]: [...stream.columns] });
  const found = examine([stream], [{ name: "q", query, coordination }]).queries.get("q");
  assert.ok(found !== undefined);
  return found;
}

const THRESH = "select id from clicks group by id having count(*) > 1000";
const POOR = "select id from clicks group by id having count(*) < 100";
const WINDOW =
  "select window_start, id from tumble(clicks, ts, interval '1 hour') group by window_start, id having count(*) < 100";
const CAMPAIGN = "select campaign, id from clicks group by campaign, id having count(*) < 100";

const ORDERED: CoordinationChoice = { kind: "order", reason: "a replay gives the same answers" };

describe("the four queries of figure 6 of Blazes, as standing queries", () => {
  test("THRESH is confluent and needs nothing", async () => {
    const query = await examined(THRESH);
    assert.deepEqual([query.label, query.coordination.inForce.kind, query.isOpen], ["Async", "none", false]);
    assert.match(explain(query), /clicks → q {2}CW\n.*a threshold that stays reached/);
  });

  test("POOR depends on the order of clicks, and only a seal on its key, an order or a word helps", async () => {
    for (const stream of [CLICKS, { ...CLICKS, seals: [["campaign"]] }, { ...CLICKS, watermark: "ts" }]) {
      const query = await examined(POOR, stream);
      assert.deepEqual([query.label, query.isOpen], ["Run", true]);
      assert.match(explain(query), /seal {4}clicks → q on \{id\}/);
    }
    assert.equal((await examined(POOR, { ...CLICKS, seals: [["id"]] })).isOpen, false);
    const ordered = await examined(POOR, CLICKS, ORDERED);
    assert.deepEqual([ordered.isOpen, ordered.coordination.inForce.kind], [false, "order"]);
    assert.match(explain(ordered), /one order for all inputs: the tickets of the graph/);
    assert.equal((await examined(POOR, CLICKS, { kind: "accept", reason: "a sample" })).isOpen, false);
  });

  test("WINDOW waits for the watermark; an estimated one leaves late rows, which shows", async () => {
    const sealed = await examined(WINDOW, { ...CLICKS, watermark: "ts" });
    assert.deepEqual([sealed.isOpen, sealed.coordination.inForce.kind], [false, "seal"]);
    const estimated = await examined(WINDOW, { ...CLICKS, watermark: "ts", isEstimated: true });
    assert.deepEqual([estimated.label, estimated.isOpen], ["Run", true]);
  });

  test("CAMPAIGN waits for the seal of its campaign", async () => {
    const sealed = await examined(CAMPAIGN, { ...CLICKS, seals: [["campaign"]] });
    assert.deepEqual([sealed.isOpen, sealed.coordination.inForce.kind], [false, "seal"]);
    assert.deepEqual(sealed.partition, { kind: "by", columns: ["id", "campaign"] });
  });

  test("with EMIT CHANGES, each of them answers at once and retracts", async () => {
    for (const sql of [POOR, WINDOW, CAMPAIGN]) {
      const query = await examined(`${sql} emit changes`, {
        ...CLICKS,
        watermark: "ts",
        seals: [["campaign"]],
      });
      assert.deepEqual([query.isOpen, query.coordination.inForce.kind], [false, "none"]);
      assert.match(explain(query), /accepted: EMIT CHANGES/);
    }
  });
});

test("a query over a query that depends on order depends on it, too, and is told where it begins", async () => {
  const poor = await examined(POOR);
  const sql = "select count(*) as n from q";
  const columns = { q: poor.query.plan.columns.map((column) => ({ ...column })) };
  const over = resolveQuery(await parseQuery(sql), sql, columns);
  const queries = [
    { name: "q", query: poor.query, coordination: null },
    { name: "total", query: over, coordination: null },
  ];
  const found = examine([CLICKS], queries).queries;
  assert.equal(found.get("total")?.isOpen, true);
  assert.ok(
    found.get("total")?.faults.some(({ after }) => after !== null) || found.get("q")?.faults.length === 1,
  );
});
