import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { StreamService, type StreamsOptions } from "headwater/streams";
import { StreamsClient } from "headwater/streams/client";
import { NatsServers } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { served } from "./served-member.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ count: 1 });
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address()}/streams${names++}?replicas=1`;

async function open(t: TestContext, journal: string, name: string, options: StreamsOptions = {}) {
  const service = await StreamService.open({ journal, member: { name }, ...options });
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await service.close();
    isClosed = true;
  };
  t.after(close);
  return { service, streams: await service.tenant("default"), close };
}

/** The numbers of a stream as one reader hears them, from the first on. */
function numbersOf(t: TestContext, { streams }: Awaited<ReturnType<typeof open>>, name: string): number[] {
  const numbers: number[] = [];
  const stop = new AbortController();
  t.after(() => stop.abort());
  void (async () => {
    for await (const { number } of streams.subscribe(name, { from: 1, signal: stop.signal }))
      numbers.push(number);
  })().catch(() => {});
  return numbers;
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

test("every process takes definitions, rows, reads and subscriptions, and tokens count everywhere at once", async (t) => {
  const journal = newCluster();
  const delivered: string[] = [];
  const outputs = { stdout: async (text: string) => void delivered.push(...text.trim().split("\n")) };
  const a = await open(t, journal, "a", { outputs });
  const b = await open(t, journal, "b", { outputs });
  const s = await b.streams.registerStream("s", { n: "bigint" });
  await a.streams.registerQuery("doubled", "SELECT n * 2 AS m FROM s");
  await b.streams.registerOutput("doubled", "stdout:", { from: 1 });
  const [atA, atB] = [numbersOf(t, a, "doubled"), numbersOf(t, b, "doubled")];
  await a.streams.pushEvents(s, [{ n: 1 }]);
  await b.streams.pushEvents(s, [{ n: 2 }, { n: 3 }]);
  for (const numbers of [atA, atB]) {
    await until(() => numbers.length === 3);
    assert.deepEqual(numbers, upTo(3));
  }

  // A token that one process makes counts in the other, until it is revoked.
  const token = await a.service.addToken("default", ["read"]);
  const granted = await b.service.granted(token);
  assert.deepEqual(granted?.scopes, ["read"]);
  const ended: string[] = [];
  b.service.watch(granted, ({ code }) => ended.push(code));
  assert.equal(await a.service.revokeToken("default", granted.id), true);
  assert.deepEqual(ended, ["HW-4011"]);
  assert.equal(await b.service.granted(token), null);

  // Tenants, quotas and what is shared.
  await b.service.tenant("town");
  await until(() => a.service.has("town"));
  await a.streams.setQuotas({ streams: 7 });
  assert.equal(b.streams.quotas.streams, 7);
  await a.streams.share("s", ["town"]);
  await until(async () => (await (await b.service.tenant("town")).shared()).length === 1);

  // The head ends, and the other goes on where it was.
  await until(() => delivered.length === 3);
  await a.close();
  await b.streams.pushEvents(s, [{ n: 4 }]);
  await until(() => atB.length === 4 && delivered.length === 4);
  assert.deepEqual(atB, upTo(4));
  assert.deepEqual(
    delivered.map((line) => /"m":(\d+)/.exec(line)?.[1]),
    ["2", "4", "6", "8"],
  );
  assert.equal(await b.service.granted(token), null);
});

test("a service of two commands goes on when the head is killed under load: no row is lost or doubled, and subscribers go on", async (t) => {
  const journal = newCluster();
  const folder = await mkdtemp(join(tmpdir(), "headwater-serve-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const first = await waitFor("for the first command", served(t, journal, "first", folder));
  const second = await waitFor("for the second command", served(t, journal, "second", folder));
  assert.equal(second.token, first.token);
  const client = new StreamsClient(second.url, { token: second.token });
  await client.define("CREATE STREAM s (n bigint NOT NULL)");
  await client.define("CREATE MATERIALIZED VIEW sums AS SELECT count(*) AS c, sum(n) AS total FROM s");
  const numbers: number[] = [];
  const stop = new AbortController();
  t.after(() => stop.abort());
  void (async () => {
    for await (const { number } of client.subscribe("s", { from: 1, signal: stop.signal }))
      numbers.push(number);
  })().catch(() => {});
  let [pushed, isOver] = [0, false];
  const producer = client.producer("s", "p");
  const working = (async () => {
    while (!isOver) {
      await producer.push([{ n: pushed + 1 }]);
      pushed += 1;
    }
  })();
  await until(() => pushed >= 20);
  first.child.kill("SIGKILL");
  const before = pushed;
  await until(() => pushed >= before + 20);
  isOver = true;
  await waitFor("for the last push", working);
  await until(() => numbers.length >= pushed);
  assert.deepEqual(numbers, upTo(pushed));
  const [row] = await client.readView("sums");
  assert.deepEqual([Number(row?.c), Number(row?.total)], [pushed, (pushed * (pushed + 1)) / 2]);
});
