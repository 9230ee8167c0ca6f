import assert from "node:assert/strict";
import { test } from "node:test";
import { type Ref, run } from "headwater";
import ads, { type AdServer, REPORTS, type Report, SERVERS } from "../../examples/ads.js";
import wordcount, { SPLITTERS, type Strategy } from "../../examples/wordcount.js";
import { until } from "../waits.js";

const BATCHES = 6;
const STRATEGIES: readonly Strategy[] = ["none", "seal", "order"];
const wordcountModule = new URL("../../examples/wordcount.ts", import.meta.url).href;
const adsModule = new URL("../../examples/ads.ts", import.meta.url).href;

async function counted(strategy: Strategy) {
  const pin = { Splitter1: 0, Counter1: 0, Order: 0, Splitter2: 1, Counter2: 1 };
  await using service = await run(wordcount, { hosts: 2, module: wordcountModule, placement: { pin } });
  const { Splitter1, Splitter2, Counter1, Counter2 } = service.nodes;
  const asked = Array.from({ length: BATCHES }, (_, batch) =>
    [Splitter1, Splitter2].map((splitter, i) =>
      splitter.split(SPLITTERS[i] ?? "", batch, ["a b a", `c${batch} b ${i}`], strategy),
    ),
  );
  await Promise.all(asked.flat());
  const counters = [Counter1, Counter2];
  const taken = async () => (await Counter1.count()) + (await Counter2.count());
  await until(async () => (await taken()) === 12 * BATCHES);
  const counts = await Promise.all(counters.map((counter) => counter.counts(BATCHES)));
  return Array.from({ length: BATCHES }, (_, i) => Object.assign({}, ...counts.map((own) => own[i])));
}

test("the word count has the same counts over two hosts with every strategy, in total and for each batch", async () => {
  const expected = Array.from({ length: BATCHES }, (_, i) => ({ a: 4, b: 4, [`c${i}`]: 2, 0: 1, 1: 1 }));
  for (const strategy of STRATEGIES) assert.deepEqual(await counted(strategy), expected, strategy);
});

test("a batch whose seals are not all there has no counts, and others do not wait for it", async () => {
  await using service = await run(wordcount);
  const { Splitter1, Splitter2, Counter1, Counter2 } = service.nodes;
  await Splitter1.split("Splitter1", 0, ["a b"], "seal");
  await Splitter1.split("Splitter1", 1, ["a b"], "seal");
  await Splitter2.split("Splitter2", 1, ["a b"], "seal");
  await until(async () => (await Counter1.count()) + (await Counter2.count()) === 6);
  const all = await Promise.all([Counter1, Counter2].map((counter) => counter.counts(2)));
  const total = (batch: number) => Object.assign({}, ...all.map((own) => own[batch]));
  assert.deepEqual([total(0), total(1)], [{}, { a: 2, b: 2 }]);
});

for (const isShared of [false, true])
  for (const strategy of STRATEGIES)
    test(`all replicas of the ad network's report give one answer: ${strategy}, ${isShared ? "shared" : "own"} campaigns`, async () => {
      await using service = await run(ads, { hosts: 2, module: adsModule });
      const nodes: Readonly<Record<string, unknown>> = service.nodes;
      const servers = SERVERS.slice(0, 3);
      const campaignOf = (server: string, burst: number) => (isShared ? `${burst}` : `${server} ${burst}`);
      await Promise.all(
        servers.flatMap((server, i) =>
          [0, 1].map((burst) => {
            const campaign = campaignOf(server, burst);
            const given = { campaign, ads: ["x", "x", "x", `y${i}`], servers: isShared ? servers : [server] };
            return (nodes[server] as Ref<AdServer>).log(server, given, strategy);
          }),
        ),
      );
      const campaigns = [
        ...new Set(servers.flatMap((server) => [0, 1].map((burst) => campaignOf(server, burst)))),
      ];
      const expected = campaigns.map((_, i) => (isShared ? ["y0", "y1", "y2"] : [`y${Math.floor(i / 2)}`]));
      for (const name of REPORTS) {
        const report = nodes[name] as Ref<Report>;
        await until(async () => (await report.count()) === 24);
        assert.deepEqual(await report.poor(campaigns, 3), expected);
      }
    });
