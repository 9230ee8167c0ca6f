import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type HostInfo, hostsOf, type RunOptions, run } from "headwater";
import { statusOf } from "#src/cluster/index.js";
import { NatsServers } from "../nats-servers.js";
import { refused } from "../refused.js";
import { until, waitFor } from "../waits.js";
import { MemberProcess } from "./member-process.js";
import Bank from "./programs/bank.js";

const ACCOUNTS = 12;
const module = fileURLToPath(new URL("./programs/bank.ts", import.meta.url));
const OFFER = { module, hosts: 1, hostsAs: "processes" } satisfies RunOptions;

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ count: 1 });
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address()}/hosts${names++}?replicas=1`;

async function join(t: TestContext, journal: string, name: string, options: RunOptions = OFFER) {
  const service = await run(Bank, { journal, member: { name }, onWarning: () => {}, ...options });
  t.after(() => service.stop({ graceMs: 0 }));
  return service;
}

const isOf = (name: string) => (host: HostInfo) =>
  host.state === "running" && host.member?.startsWith(`${name}-`) === true;

describe("hosts of other members", () => {
  test("run events of contexts that are placed on them, and contexts move between members", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a");
    const b = await join(t, journal, "b", { ...OFFER, hosts: 2 });
    const hosts = hostsOf(a);
    await until(() => hosts.list().filter(isOf("b")).length === 2);
    const here = hosts.list().find(({ member }) => member === null);
    const [there, other] = hosts.list().filter(isOf("b"));
    assert.ok(here && there && other);
    for (let i = 0; i < ACCOUNTS; i++) await a.root.transfer(i, (i + 1) % ACCOUNTS, i);
    for (const host of [there.id, here.id, other.id, there.id]) {
      const moves = Array.from({ length: ACCOUNTS }, (_, i) => hosts.move(`Bank.accounts(${i})`, host));
      const transfers = Array.from({ length: 100 }, (_, i) => b.root.transfer(i % ACCOUNTS, (i * 7) % 5, 1));
      await waitFor("for the moves", Promise.all(moves));
      await Promise.all(transfers);
      for (let i = 0; i < ACCOUNTS; i++) assert.equal(hosts.where(`Bank.accounts(${i})`), host);
      assert.equal(await b.root.total(ACCOUNTS), ACCOUNTS * 100);
    }
    await hosts.settled();
    assert.ok(hosts.contexts().filter(({ host }) => host === there.id).length >= ACCOUNTS);

    const status = await statusOf(journal);
    assert.deepEqual(
      status.hosts?.map(({ id, member }) => [id, member?.[0] ?? "the head's"]),
      [
        [here.id, "the head's"],
        [there.id, "b"],
        [other.id, "b"],
      ],
    );

    // One that is killed comes again, with another number; one that is removed does not.
    hosts.kill(there.id);
    assert.equal(await b.root.total(ACCOUNTS), ACCOUNTS * 100);
    await until(() => hosts.list().some((host) => isOf("b")(host) && host.id > other.id));
    await hosts.remove(other.id);
    assert.equal(hosts.list().filter(isOf("b")).length, 1);
    await refused(hosts.move("Bank.accounts(1)", other.id), "HW-6011");
    assert.equal(await b.root.total(ACCOUNTS), ACCOUNTS * 100);
  });

  test("are not taken by a head that runs all events in one thread", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a", {});
    const b = await join(t, journal, "b");
    assert.equal(await b.root.transfer(1, 2, 1), 1);
    assert.throws(() => hostsOf(a), { code: "HW-6014" });
    assert.equal((await statusOf(journal)).hosts, null);
  });
});

test("processes with hosts are killed under load, and what they had goes on elsewhere", async (t) => {
  const journal = newCluster();
  const processes = new Map<string, MemberProcess>();
  const start = async (name: string) => {
    const started = new MemberProcess(t, name, journal, { hosts: 1, hostsAs: "processes" });
    processes.set(name, started);
    await started.joined;
  };
  await waitFor("for the members", Promise.all(["m1", "m2", "m3"].map(start)));
  const service = await run(Bank, { journal, member: { name: "driver", takesOver: false } });
  t.after(() => service.stop({ graceMs: 0 }));
  const placed = async () =>
    (await statusOf(journal)).hosts?.filter(({ state }) => state === "running") ?? [];
  await until(async () => (await placed()).length === 3);

  const acknowledged: string[] = [];
  let isOver = false;
  const working = Array.from({ length: 8 }, async (_, worker) => {
    for (let i = 0; !isOver; i++) {
      const operation = `${worker}/${i}`;
      await service.root.once(operation, (worker + i) % ACCOUNTS, (worker * i) % ACCOUNTS);
      acknowledged.push(operation);
    }
  });
  const goesOn = () => {
    const least = acknowledged.length + 50;
    return until(() => acknowledged.length >= least, `until ${least} operations`);
  };
  await goesOn();

  // A host that runs events, then the head.
  const host = (await placed()).find(({ member, contexts }) => member !== null && contexts > 0);
  assert.ok(host?.member, "contexts are on hosts of other members");
  const kill = async (member: string) => {
    const name = member.replace(/-[^-]+$/, "");
    processes.get(name)?.signal("SIGKILL");
    await processes.get(name)?.ended();
    processes.delete(name);
  };
  await kill(host.member);
  await goesOn();
  await waitFor("for a new member", start("m4"));
  await until(async () => (await placed()).length === 3);
  await goesOn();
  const head = (await statusOf(journal)).members.find(({ isHead }) => isHead);
  assert.ok(head && head.state !== "gateway");
  await kill(head.member);
  await goesOn();
  await until(async () => (await placed()).filter(({ member }) => member !== null).length === 1);
  await goesOn();
  isOver = true;
  await waitFor("for all operations", Promise.all(working));
  assert.equal(await service.root.count(), acknowledged.length);
  assert.equal(await service.root.total(ACCOUNTS), ACCOUNTS * 100);
  const times = await Promise.all(acknowledged.map((operation) => service.root.operations(operation).read()));
  assert.deepEqual([...new Set(times)], [1]);
});
