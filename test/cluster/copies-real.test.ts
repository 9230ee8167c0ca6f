import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Context, type OwnedEngine, owned, run } from "headwater";
import { StreamService, type StreamsOptions } from "headwater/streams";
import { StreamsClient } from "headwater/streams/client";
import { statusOf } from "#src/cluster/index.js";
import { NatsServers } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { served } from "./served-member.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ count: 1 });
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address()}/copies${names++}?replicas=1`;

async function open(t: TestContext, journal: string, member: NonNullable<StreamsOptions["member"]>) {
  const service = await StreamService.open({ journal, member });
  t.after(() => service.close());
  return { service, streams: await service.tenant("default") };
}

/** What `headwater cluster status` shows of copies, by the names that members were given. */
async function copiesIn(journal: string) {
  const { members } = await statusOf(journal);
  return new Map(
    members.map(({ member, about }) => [
      member.replace(/-[0-9a-f]{8}$/, ""),
      { made: 0, diverged: 0, count: 0, ...about?.copies },
    ]),
  );
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

test("reads and subscriptions are served by a process's own copy, and see all that was acknowledged anywhere", async (t) => {
  const journal = newCluster();
  const a = await open(t, journal, { name: "a" });
  const b = await open(t, journal, { name: "b" });
  const s = await a.streams.registerStream("s", { k: "bigint", v: "bigint" });
  await a.streams.define("CREATE MATERIALIZED VIEW sums AS SELECT k, count(*) AS c FROM s GROUP BY k");
  await until(async () => (await copiesIn(journal)).get("b")?.count === 1);
  /** What was asked of the graph, at the head. */
  const asked = new Map<string, number>();
  a.service.program.observe(["event"], (fact) => {
    if (fact.kind !== "event" || !fact.context.endsWith(".graph")) return;
    asked.set(fact.method, (asked.get(fact.method) ?? 0) + 1);
  });
  const numbers: number[] = [];
  const stop = new AbortController();
  t.after(() => stop.abort());
  void (async () => {
    for await (const { number } of b.streams.subscribe("s", { from: 1, signal: stop.signal }))
      numbers.push(number);
  })().catch(() => {});
  const ROUNDS = 30;
  for (let i = 1; i <= ROUNDS; i++) {
    await (i % 2 === 0 ? a : b).streams.pushEvents(s, [{ k: 1, v: i }]);
    const reads = await Promise.all([
      b.streams.readView("sums"),
      b.streams.query("SELECT c FROM sums").then(({ batches }) => [{ c: batches[0]?.cell(0, 0) }]),
      b.streams.page("s", 1).then(({ rows }) => [{ c: rows.length }]),
    ]);
    for (const [row] of reads) assert.equal(Number(row?.c), i);
  }
  await until(() => numbers.length === ROUNDS);
  assert.deepEqual(numbers, upTo(ROUNDS));
  for (const method of ["rows", "view", "snapshot", "positions"])
    assert.equal(asked.get(method), undefined, method);
  const positions = asked.get("position") ?? 0;
  assert.ok(positions > 0 && positions <= 2 * ROUNDS, `${positions} questions for ${3 * ROUNDS} reads`);
});

/** It says that it is the same in every process, and is not. */
class Draws implements OwnedEngine<void> {
  static made = 0;
  readonly #number = Draws.made++;
  readonly memoryBytes = 8;
  digest = 0;

  apply(): void {
    this.digest += this.#number;
  }

  *checkpoint() {}

  load(): void {}
}

class Table extends Context {
  draws = owned(() => new Draws());

  draw(): void {
    this.draws.apply(new Uint8Array(1));
  }
}

test("an engine that is not the same in each process is found out, and said", async (t) => {
  const journal = newCluster();
  const start = async (name: string) => {
    const service = await run(Table, { journal, member: { name } });
    t.after(() => service.stop());
    return service;
  };
  const a = await start("a");
  const b = await start("b");
  const codes: string[] = [];
  b.observe(["warning"], (fact) => {
    if (fact.kind === "warning") codes.push(fact.error.code);
  });
  await until(async () => {
    await a.root.draw();
    return codes.length > 0;
  });
  assert.equal(codes[0], "HW-3160");
  const { count = 1, diverged = 0 } = (await copiesIn(journal)).get("b") ?? {};
  assert.ok(count === 0 && diverged > 0, `${count} ${diverged}`);
});

test("members that are paused keep their copies, those that are killed are replaced, and results are numbered without a gap", async (t) => {
  const journal = newCluster();
  const folder = await mkdtemp(join(tmpdir(), "headwater-copies-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const start = (name: string) =>
    waitFor(`for the member ${name}`, served(t, journal, name, folder, ["--replicas", "2"]));
  const one = await start("one");
  const two = await start("two");
  const three = await start("three");
  const atOne = new StreamsClient(one.url, { token: one.token });
  await atOne.define("CREATE STREAM s (n bigint NOT NULL)");
  await atOne.define("CREATE MATERIALIZED VIEW sums AS SELECT count(*) AS c, sum(n) AS total FROM s");
  /** The member that has the copy: with two replicas, one besides the head. */
  const keeper = async () => {
    const found = [...(await copiesIn(journal))].find(([, { count }]) => count === 1);
    return found?.[0] ?? null;
  };
  await until(keeper);
  const name = await keeper();
  const [keeping, other] = name === "two" ? [two, three] : [three, two];
  const client = new StreamsClient(other.url, { token: other.token });
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
    for (; !isOver; pushed++) await producer.push([{ n: pushed + 1 }]);
  })();
  const more = async () => {
    const then = pushed + 10;
    await until(() => pushed >= then);
  };
  await more();
  // The member with the copy is paused while rows come, and goes on with its copy.
  keeping.child.kill("SIGSTOP");
  await more();
  keeping.child.kill("SIGCONT");
  await until(async () => (await keeper()) === name);
  for (const { made, diverged } of (await copiesIn(journal)).values()) assert.ok(made <= 1 && diverged === 0);
  // The head is killed, then the member that had the copy: each time the rest goes on.
  one.child.kill("SIGKILL");
  await more();
  keeping.child.kill("SIGKILL");
  await more();
  const four = await start("four");
  await until(async () => (await copiesIn(journal)).get("four")?.count === 1);
  await more();
  isOver = true;
  await waitFor("for the last push", working);
  await until(() => numbers.length >= pushed);
  assert.deepEqual(numbers, upTo(pushed));
  const atFour = new StreamsClient(four.url, { token: other.token });
  for (const each of [client, atFour]) {
    const [row] = await each.readView("sums");
    assert.deepEqual([Number(row?.c), Number(row?.total)], [pushed, (pushed * (pushed + 1)) / 2]);
  }
  for (const { diverged } of (await copiesIn(journal)).values()) assert.equal(diverged, 0);
  const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [main, "cluster", "status", journal]);
  assert.match(
    stdout,
    /^copies in four-\w+: 1\n {2}Streams\.tenants\("default"\)\.graph\.engine, at record \d+$/m,
  );
});
