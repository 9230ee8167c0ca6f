import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MemoryJournal } from "headwater";
import { openStreams } from "headwater/streams";
import { StreamsClient } from "headwater/streams/client";
import { WebSocket } from "ws";
import { packageWith } from "../cli/headwater.js";
import { Killed } from "../cli/killed.js";
import { freePort } from "../cli/ports.js";
import { refused } from "../refused.js";
import { until } from "../waits.js";
import { served } from "./served.js";

const CLICKS =
  "CREATE STREAM clicks (id bigint NOT NULL, campaign text NOT NULL) WITH (seal = 'campaign', producers = 'ads-1, ads-2')";
const POOR = "SELECT campaign, id FROM clicks GROUP BY campaign, id HAVING count(*) < 2";

async function opened(t: TestContext, options: Parameters<typeof openStreams>[0] = {}) {
  const streams = await openStreams(options);
  t.after(() => streams.service.close());
  return streams;
}

async function answers(streams: Awaited<ReturnType<typeof opened>>, name = "poor") {
  const { rows } = await streams.page(name, 1);
  return rows.map(({ weight, json }) => [weight, JSON.parse(json)] as const);
}

test("a query waits until every producer has sealed a partition, and answers once for it, in one round", async (t) => {
  const journal = new MemoryJournal();
  const first = await openStreams({ journal });
  await first.define(CLICKS);
  await first.registerQuery("poor", POOR);
  await first.pushEvents("clicks", [{ id: 1, campaign: "x" }], { producer: "ads-1", seals: [["x"]] });
  await refused(first.sealed("clicks", ["x"]), "HW-5412", "ads-2");
  await refused(first.sealed("clicks", ["y"]), "HW-5412", "has not begun");
  assert.deepEqual(await answers(first), []);
  await first.service.close();
  const streams = await opened(t, { journal });
  assert.deepEqual((await streams.describe("clicks")).seals?.open, 1);
  const waits = streams.sealed("poor", ["x"], { waitMs: 600_000 });
  await streams.pushEvents("clicks", [{ id: 1, campaign: "x" }], { producer: "ads-2", sequence: 0 });
  const last = { producer: "ads-2", sequence: 1, seals: [["x"]] };
  await streams.pushEvents("clicks", [{ id: 2, campaign: "x" }], last);
  assert.equal((await streams.pushEvents("clicks", [{ id: 2, campaign: "x" }], last)).isRepeated, true);
  await waits;
  assert.deepEqual(await answers(streams), [[1, { campaign: "x", id: 2 }]]);
  const late = streams.pushEvents("clicks", [{ id: 3, campaign: "x" }], { producer: "ads-1" });
  await refused(late, "HW-5411", '["x"] is sealed');
});

test("producers are declared anew while rows flow", async (t) => {
  const streams = await opened(t);
  await streams.define(CLICKS);
  await streams.registerQuery("poor", POOR);
  const push = (producer: string, campaign: string, seals: string[][] = []) =>
    streams.pushEvents("clicks", [{ id: 1, campaign }], { producer, seals });
  await push("ads-1", "old", [["old"]]);
  await streams.declareProducers("clicks", ["ads-2", "ads-3"]);
  await refused(push("ads-1", "new"), "HW-5411", '"ads-1" is no declared producer');
  await refused(push("ads-3", "old"), "HW-5411", "had begun before");
  await push("ads-3", "new", [["new"]]);
  await refused(streams.sealed("clicks", ["new"]), "HW-5412", "ads-2");
  await streams.declareProducers("clicks", ["ads-3"]);
  await Promise.all([streams.sealed("clicks", ["old"]), streams.sealed("clicks", ["new"])]);
  const rows = ["new", "old"].map((campaign) => [1, { campaign, id: 1 }] as const);
  assert.deepEqual(await answers(streams), rows);
  await refused(streams.declareProducers("clicks", []), "HW-5403");
});

test("a registrant chooses seals, and EXPLAIN shows them with the producers", async (t) => {
  const streams = await opened(t);
  await streams.define(CLICKS);
  await streams.define(`CREATE MATERIALIZED VIEW v WITH (coordination = 'seal on (campaign)') AS ${POOR}`);
  const shown = await streams.explain("v");
  assert.match(shown, /a partition is held until its producers have sealed it: clicks by campaign/);
  assert.match(shown, /by the producers ads-1, ads-2/);
  assert.doesNotMatch(shown, /for ever/);
  await refused(streams.registerQuery("a", POOR, { coordination: "seal on (id)" }), "HW-5451");
  const byId = "SELECT id FROM clicks GROUP BY id HAVING count(*) < 2";
  await refused(streams.registerQuery("b", byId, { coordination: "seal" }), "HW-5451");
  await refused(streams.registerQuery("c", POOR, { backfill: true }), "HW-5403", "sealed from now on");
  await refused(streams.registerQuery("d", POOR, { partitions: 2 }), "HW-5452");
  const counted = "SELECT campaign, count(*) AS n FROM v GROUP BY campaign";
  await refused(streams.registerQuery("counted", counted), "HW-5451");
  await streams.registerQuery("counted", `${counted} EMIT CHANGES`);
  for (const producer of ["ads-1", "ads-2"])
    await streams.pushEvents("clicks", [{ id: producer === "ads-1" ? 1 : 2, campaign: "x" }], {
      ...{ producer, seals: [["x"]] },
    });
  assert.deepEqual(await streams.readView("v"), [
    { campaign: "x", id: 1 },
    { campaign: "x", id: 2 },
  ]);
  assert.deepEqual(await answers(streams, "counted"), [[1, { campaign: "x", n: 2 }]]);
});

test("what a tenant's streams may hold in all is bounded", async (t) => {
  const streams = await opened(t);
  await streams.setQuotas({ heldBytes: 100_000 });
  const seals = { columns: ["k"], producers: ["p"], holdBytes: 60_000 };
  await streams.registerStream("one", { k: "text" }, { seals });
  await refused(streams.registerStream("two", { k: "text" }, { seals }), "HW-5408", "60000");
  const small = { ...seals, holdBytes: 1 };
  await refused(streams.registerStream("f", { k: "double precision" }, { seals: small }), "HW-5403", '"k"');
});

test("seals come over HTTP, WebSocket and the client, and requests wait for them or are told who is missing", async (t) => {
  const service = await served(t);
  const { url, token, ask } = service;
  const client = new StreamsClient(url, { token });
  const clicks = await client.registerStream(
    "clicks",
    { id: "bigint", campaign: "text" },
    { seals: { columns: ["campaign"], producers: ["http", "socket", "client"] } },
  );
  await client.registerQuery("poor", POOR, { coordination: "seal" });
  const events = "/v1/streams/clicks/events?producer=http&sequence=0&seal=%5B%22x%22%5D";
  assert.equal((await ask("POST", events, '{"id":1,"campaign":"x"}')).status, 200);
  const body = JSON.stringify({ producer: "http", sequence: 1, partitions: [["y"]] });
  assert.equal((await ask("POST", "/v1/streams/clicks/seal", body)).status, 200);
  await client.producer(clicks, "client").push([{ id: 2, campaign: "x" }], [["x"]]);
  const early = await ask("GET", "/v1/streams/clicks/partition?partition=%5B%22x%22%5D");
  assert.equal(early.status, 503);
  assert.match(await early.text(), /HW-5412.*socket/);
  const waits = client.sealed("clicks", ["x"], 60_000);
  const ws = new WebSocket(`${url.replace("http", "ws")}/v1/socket`, {
    headers: { authorization: `Bearer ${token}` },
  });
  t.after(() => ws.terminate());
  await until(() => ws.readyState === WebSocket.OPEN, "until the socket is open");
  ws.send(
    JSON.stringify({
      ...{ id: 1, push: "clicks", producer: "socket", rows: [{ id: 1, campaign: "x" }], seals: [["x"]] },
    }),
  );
  await waits;
  assert.deepEqual(
    (await service.streams.page("poor", 1)).rows.map(({ json }) => JSON.parse(json) as unknown),
    [{ campaign: "x", id: 2 }],
  );
  for (const [path, text] of [
    ["/v1/streams/clicks/events?producer=http&seal=x", "{}"],
    ["/v1/streams/clicks/events?producer=http&seal=%5B1,2%5D", '{"id":1,"campaign":"z"}'],
  ] as const)
    assert.equal((await ask("POST", path, text)).status, 400);
  await client.declareProducers("clicks", ["http"]);
  await client.sealed("clicks", ["y"]);
});

test("a server that is killed while producers push and seal releases each partition once, with all its rows", async (t) => {
  const service = new Killed(t, packageWith(t, {}), await freePort());
  await service.ready();
  const client = service.client();
  const clicks = await client.registerStream(
    "clicks",
    { id: "bigint", campaign: "text" },
    { seals: { columns: ["campaign"], producers: ["a", "b"] } },
  );
  await client.registerQuery("poor", POOR);
  const [campaigns, kills] = [18, 3];
  let done = 0;
  const produced = ["a", "b"].map(async (name) => {
    const producer = client.producer(clicks, name);
    for (let i = 0; i < campaigns; i++) {
      const campaign = `c${i}`;
      await producer.push([
        { id: 1, campaign },
        { id: name === "a" ? 2 : 3, campaign },
      ]);
      await producer.seal([campaign]);
      done++;
    }
  });
  for (let kill = 1; kill <= kills; kill++) {
    await until(() => done >= (2 * campaigns * kill) / (kills + 1), "until some were sealed");
    await service.killAndStart();
  }
  await Promise.all(produced);
  const found: string[] = [];
  for await (const { weight, row } of client.subscribe("poor", { from: 1 })) {
    found.push(`${weight} ${JSON.stringify(row)}`);
    if (found.length === 2 * campaigns) break;
  }
  const expected = Array.from({ length: campaigns }, (_, i) =>
    [2, 3].map((id) => `1 ${JSON.stringify({ campaign: `c${i}`, id })}`),
  );
  assert.deepEqual(found.sort(), expected.flat().sort());
  assert.equal((await client.describe("poor")).next, 2 * campaigns + 1, "nothing came twice");
});
