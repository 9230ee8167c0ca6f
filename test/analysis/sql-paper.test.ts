import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { analyze, derivePaths, deriveQuery, readDataflow } from "headwater/analysis";

/** Figure 6, as it is printed. */
const FIGURE_6 = {
  THRESH: "select id from clicks group by id having count(*) > 1000",
  POOR: "select id from clicks group by id having count(*) < 100",
  WINDOW: "select window, id from clicks group by window, id having count(*) < 100",
  CAMPAIGN: "select campaign, id from clicks group by campaign, id having count(*) < 100",
} as const;

type QueryName = keyof typeof FIGURE_6;

const CLICKS = { clicks: ["id", "campaign", "window"] };

describe("the queries of figure 6 at the reporting server (section VI.B.1)", () => {
  const annotations: Record<QueryName, { annotation: string; gate: string[] }> = {
    THRESH: { annotation: "CR", gate: [] },
    POOR: { annotation: "OR", gate: ["id"] },
    WINDOW: { annotation: "OR", gate: ["id", "window"] },
    CAMPAIGN: { annotation: "OR", gate: ["id", "campaign"] },
  };
  for (const [name, sql] of Object.entries(FIGURE_6)) {
    test(`${name} has the paper's annotations`, async () => {
      const { paths, persistent } = await deriveQuery(sql, CLICKS, { continuous: false, openRequests: true });
      const found = paths.map(({ from, annotation, gate }) => ({ from, annotation, gate }));
      assert.deepEqual(found, [
        { from: "clicks", annotation: "CW", gate: [] },
        { from: "request", ...annotations[name as QueryName] },
      ]);
      assert.equal(persistent, true);
    });
  }

  test("as standing queries over the stream of clicks, they are like Count of section VI.A", async () => {
    const found = await Promise.all(
      Object.values(FIGURE_6).map(async (sql) => {
        const { paths } = await deriveQuery(sql, CLICKS);
        return paths.map(({ annotation, gate }) => [annotation, gate]);
      }),
    );
    assert.deepEqual(found, [
      [["CW", []]],
      [["OW", ["id"]]],
      [["OW", ["id", "window"]]],
      [["OW", ["id", "campaign"]]],
    ]);
    const count = "select word, batch, count(*) from words group by word, batch";
    const { paths } = await deriveQuery(count, { words: ["word", "batch"] });
    assert.deepEqual([paths[0]?.annotation, paths[0]?.gate], ["OW", ["word", "batch"]]);
  });
});

/** Figures 3 and 4, with the reporting server's annotations derived from its query. */
async function adNetwork(name: QueryName, seal: string): Promise<string> {
  const text = `
Cache:
  annotation:
    - { from: request, to: response, label: CR }
    - { from: response, to: response, label: CW }
    - { from: request, to: request, label: CR }
Report:
  Rep: true
  sql: ${FIGURE_6[name]}
  tables:
    clicks: [id, campaign, window]
    request: [id]
  to: response
  request: request
  open-requests: true
streams:
  clicks: { to: Report.clicks${seal} }
  requests: { to: Cache.request }
  misses: { from: Cache.request, to: Report.request }
  reports: { from: Report.response, to: Cache.response }
  gossip: { from: Cache.response, to: Cache.response }
  answers: { from: Cache.response }
`;
  const graph = await readDataflow(text, { deriveFromSql: derivePaths });
  return analyze(graph)
    .outputs.map(({ stream, label }) => `${stream.name}: ${label}`)
    .join();
}

describe("the labels of the ad network, with annotations derived from figure 6 (section VI.B.2)", () => {
  const labels: [QueryName, seal: string, label: string][] = [
    ["THRESH", "", "Async"],
    ["POOR", "", "Diverge"],
    ["POOR", ", seal: [campaign]", "Diverge"],
    ["WINDOW", "", "Diverge"],
    ["WINDOW", ", seal: [window]", "Async"],
    ["CAMPAIGN", "", "Diverge"],
    ["CAMPAIGN", ", seal: [campaign]", "Async"],
    ["CAMPAIGN", ", seal: [window]", "Diverge"],
  ];
  for (const [name, seal, label] of labels) {
    test(`${name}${seal} is ${label}`, async () => {
      assert.equal(await adNetwork(name, seal), `answers: ${label}`);
    });
  }
});

test("a watermark seals time windows (the prefix seal that the paper's dependencies cannot express)", async () => {
  const sql = `
    select window_start, id, count(*) as n from tumble(clicks, ts, interval '1 hour')
    group by window_start, id`;
  const { paths, dependencies } = await derivePaths(sql, { clicks: ["id", "ts"] }, "counts");
  const labelWith = (key: readonly string[], prefix: boolean) => {
    const clicks = {
      name: "clicks",
      from: null,
      to: { component: "Count", interface: "clicks" },
      seals: [{ key, prefix }],
    };
    const counts = { name: "counts", from: { component: "Count", interface: "counts" }, to: null, seals: [] };
    const components = [{ name: "Count", paths }];
    return analyze({ components, streams: [clicks, counts], dependencies, accepted: [] }).outputs[0]?.label;
  };
  assert.equal(labelWith(["ts"], true), "Async");
  assert.equal(labelWith(["ts"], false), "Run");
  assert.equal(labelWith(["id"], false), "Async");
});
