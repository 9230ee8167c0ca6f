import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MemoryJournal } from "headwater";
import { openStreams, StreamService } from "headwater/streams";
import { refused } from "../refused.js";

async function opened(t: TestContext) {
  const streams = await openStreams();
  t.after(() => streams.service.close());
  return streams;
}

test("rows that are pushed come out of a query, numbered, and a subscriber waits for more", async (t) => {
  const streams = await opened(t);
  await streams.define("CREATE STREAM clicks (who text NOT NULL, n bigint)");
  const big = await streams.registerQuery("big", "SELECT who, n FROM clicks WHERE n > 10");
  await streams.pushEvents("clicks", [
    { who: "ada", n: 5 },
    { who: "bob", n: 50 },
  ]);
  const seen: unknown[] = [];
  for await (const row of streams.subscribe(big, { from: 1 })) {
    seen.push([row.number, row.row.who]);
    if (seen.length === 1) void streams.pushEvents("clicks", [{ who: "cleo", n: 11 }]);
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, [
    [1, "bob"],
    [2, "cleo"],
  ]);
});

test("pushes at the same time are gathered, and each gets its own answer", async (t) => {
  const streams = await opened(t);
  await streams.define("CREATE STREAM s (n bigint)");
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => streams.pushEvents("s", [{ n }, { n }])),
  );
  assert.deepEqual(
    answers.map(({ first }) => first),
    Array.from({ length: 50 }, (_, n) => 2 * n + 1),
  );
});

test("a table holds the last row of each key, and is read by key and by range", async (t) => {
  const streams = await opened(t);
  await streams.define("CREATE TABLE prices (item text PRIMARY KEY, cents bigint)");
  const rows = ["a", "b", "c", "a"].map((item, cents) => ({ item, cents }));
  await streams.pushEvents("prices", rows);
  assert.deepEqual(await streams.readView("prices", { from: ["a"], to: ["b"] }), [
    { item: "a", cents: 3 },
    { item: "b", cents: 1 },
  ]);
});

test("everything is there after a restart from the journal", async () => {
  const journal = new MemoryJournal();
  const first = await openStreams({ journal });
  await first.define("CREATE STREAM s (n bigint)");
  await first.registerQuery("odd", "SELECT n FROM s WHERE n % 2 = 1");
  await first.pushEvents("s", [{ n: 1 }, { n: 2 }], { producer: "p", sequence: 7 });
  const token = await first.service.addToken("acme", ["read"]);
  await first.service.close();
  const second = await openStreams({ journal });
  assert.deepEqual(await second.pushEvents("s", [{ n: 1 }, { n: 2 }], { producer: "p", sequence: 7 }), {
    first: 1,
    rows: 2,
    duplicates: 0,
    isRepeated: true,
  });
  await second.pushEvents("s", [{ n: 3 }], { producer: "p", sequence: 8 });
  assert.deepEqual(
    (await second.page("odd", 1)).rows.map(({ number, json }) => [number, json]),
    [
      [1, '{"n":1}'],
      [2, '{"n":3}'],
    ],
  );
  assert.equal((await second.service.granted(token))?.tenant, "acme");
  await second.service.close();
});

test("tenants do not see each other, and quotas hold for each", async (t) => {
  const service = await StreamService.open();
  t.after(() => service.close());
  const [acme, zoo] = [await service.tenant("acme"), await service.tenant("zoo")];
  await acme.define("CREATE STREAM s (n bigint)");
  await refused(zoo.pushEvents("s", [{ n: 1 }]), "HW-5401");
  await refused(zoo.page("s", 1), "HW-5401");
  await refused(zoo.registerQuery("q", "SELECT n FROM s"), "HW-5103");
  assert.deepEqual(zoo.list(), []);
  await zoo.setQuotas({ streams: 1, eventsPerSecond: 10 });
  const raced = await Promise.allSettled(
    ["a", "b", "c"].map((name) => zoo.define(`CREATE STREAM ${name} (n bigint)`)),
  );
  assert.equal(raced.filter(({ status }) => status === "fulfilled").length, 1);
  const many = Array.from({ length: 10 }, (_, n) => ({ n }));
  const [stream = ""] = zoo.list().map(({ name }) => name);
  await zoo.pushEvents(stream, many);
  await refused(zoo.pushEvents(stream, many), "HW-5408");
  await acme.pushEvents("s", many);
});

test("a token that is revoked, expired or changed is nobody's", async (t) => {
  const service = await StreamService.open();
  t.after(() => service.close());
  const token = await service.addToken("acme", ["push"]);
  const granted = await service.granted(token);
  assert.deepEqual(granted?.scopes, ["push"]);
  assert.equal(await service.granted(`${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`), null);
  assert.equal(await service.granted(token.replace("acme", "zoo")), null);
  assert.equal(await service.granted(await service.addToken("acme", ["push"], 1)), null);
  await service.revokeToken("acme", granted?.id ?? "");
  assert.equal(await service.granted(token), null);
});

test("a tenant with a share of the CPU waits between its rounds, and may not retain more than its quota", async (t) => {
  const service = await StreamService.open();
  t.after(() => service.close());
  const [slow, free] = [await service.tenant("slow"), await service.tenant("free")];
  for (const tenant of [slow, free]) {
    await tenant.registerStream("s", { n: "bigint" });
    await tenant.registerQuery("q", "SELECT n FROM s WHERE n % 2 = 0");
  }
  await slow.setQuotas({ cpuShare: 0.01, retentionBytes: 1000 });
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ n }));
  const order: string[] = [];
  const pushed = [slow, free].map(async (tenant) => {
    for (let i = 0; i < 3; i++) await tenant.pushEvents("s", rows);
    order.push(tenant.name);
  });
  await Promise.all(pushed);
  assert.deepEqual(order, ["free", "slow"]);
  await refused(slow.registerStream("t", { n: "bigint" }), "HW-5408");
  await slow.registerStream("t", { n: "bigint" }, { retention: { bytes: 1000 } });
});
