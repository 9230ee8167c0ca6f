import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { hostsOf, type Policy, run } from "headwater";
import { handOver, statusOf } from "#src/cluster/index.js";
import { HOSTS } from "#src/host/service.js";
import { Random } from "#src/random.js";
import { NatsServers } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { MemberProcess } from "./member-process.js";
import Bank, { Operation } from "./programs/bank.js";

const ACCOUNTS = 16;
const module = fileURLToPath(new URL("./programs/bank.ts", import.meta.url));
const OFFER = { module, hosts: 1, hostsAs: "processes" } as const;

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ count: 1 });
});
after(() => servers.stop());

async function join(t: TestContext, journal: string, name: string, policy?: Policy) {
  const hosts = policy === undefined ? 1 : { min: 1, max: 8, policy };
  const service = await run(Bank, { journal, member: { name }, onWarning: () => {}, ...OFFER, hosts });
  t.after(() => service.stop({ graceMs: 0 }));
  return service;
}

type Joined = Awaited<ReturnType<typeof join>>;

/** The running host of a member, as the head of that name sees it; undefined while there is none, or it is not the head yet. */
function hostOf(head: Joined, headName: string, member: string): number | undefined {
  const all = head[HOSTS]?.list() ?? [];
  return all.find(
    (host) => host.state === "running" && (host.member ?? `${headName}-`).startsWith(`${member}-`),
  )?.id;
}

test("pins, moves and separate places outlive their head, and name hosts by their members", async (t) => {
  const journal = `${servers.address()}/kept?replicas=1`;
  const services: Record<string, Joined> = { a: await join(t, journal, "a") };
  services.b = await join(t, journal, "b");
  const c = new MemberProcess(t, "c", journal, {
    hosts: 1,
    hostsAs: "processes",
    member: { name: "c", takesOver: false },
  });
  await waitFor("for c", c.joined);
  const random = new Random(3);
  const wanted = new Map<string, string>();
  const members = ["a", "b", "c"];
  for (const [headName, next] of [
    ["a", "b"],
    ["b", "a"],
    ["a", "b"],
  ] as const) {
    const head = services[headName];
    assert.ok(head);
    await until(() => members.every((member) => hostOf(head, headName, member) !== undefined));
    const hosts = hostsOf(head);
    const isSo = () =>
      [...wanted].every(([address, member]) => hosts.where(address) === hostOf(head, headName, member));
    await until(isSo, `until everything is where it was wanted, with ${headName} as the head`);
    for (let i = 0; i < 8; i++) {
      const account = random.int(ACCOUNTS);
      const member = random.pick(members);
      const host = hostOf(head, headName, member);
      assert.ok(host !== undefined);
      const address = `Bank.accounts(${account})`;
      // A pinned context cannot be moved. References are as good as addresses.
      if (account % 2 === 0) await hosts.pin(i % 2 === 0 ? address : head.root.accounts(account), host);
      else await hosts.move(address, host);
      wanted.set(address, member);
    }
    if (headName === "b") {
      const [unpinned] = [...wanted.keys()].filter((address) => /[02468]\)$/.test(address));
      assert.ok(unpinned);
      await hosts.unpin(unpinned);
      wanted.delete(unpinned);
    }
    await hosts.separate(Operation);
    for (let i = 0; i < ACCOUNTS; i++) await head.root.transfer(i, (i + 1) % ACCOUNTS, 1);
    assert.ok(isSo());
    await waitFor("for the handover", handOver(journal, next));
  }
  assert.equal(await services.a?.root.total(ACCOUNTS), ACCOUNTS * 100);
});

test("a policy spreads contexts over the hosts of several processes, and again when its head has ended", async (t) => {
  const journal = `${servers.address()}/spread?replicas=1`;
  const policy: Policy = ({ hosts }) => {
    const [fullest, ...others] = hosts
      .filter(({ state }) => state === "running")
      .sort((x, y) => y.contexts.length - x.contexts.length);
    const emptiest = others.at(-1);
    const context = fullest?.contexts.find(
      (each) => each.context.includes("accounts") && each.bound !== true,
    );
    if (
      emptiest === undefined ||
      context === undefined ||
      (fullest?.contexts.length ?? 0) - emptiest.contexts.length < 2
    )
      return [];
    return [{ kind: "move", context: context.context, to: emptiest.id, reason: "there are fewer" }];
  };
  const a = await join(t, journal, "a", policy);
  const b = await join(t, journal, "b", policy);
  const c = new MemberProcess(t, "c", journal, {
    hosts: 1,
    hostsAs: "processes",
    member: { name: "c", takesOver: false },
  });
  await waitFor("for c", c.joined);
  let isOver = false;
  const working = (async () => {
    for (let i = 0; !isOver; i++) await b.root.transfer(i % ACCOUNTS, (i * 5) % ACCOUNTS, 1);
  })();
  const placed = async (): Promise<number[]> => {
    const { hosts } = await statusOf(journal);
    return (hosts ?? []).filter(({ state }) => state === "running").map(({ contexts }) => contexts);
  };
  const isSpread = (count: number) => async () => {
    const counts = await placed();
    return counts.length === count && counts.every((contexts) => contexts >= 2);
  };
  await until(() => hostOf(a, "a", "c") !== undefined && hostOf(a, "a", "b") !== undefined);
  const own = hostOf(a, "a", "a") ?? -1;
  for (let i = 0; i < ACCOUNTS; i++) await hostsOf(a).move(`Bank.accounts(${i})`, own);
  await until(isSpread(3), "until all three processes have some");
  await a.stop();
  await until(isSpread(2), "until both that are left have some");
  isOver = true;
  await waitFor("for the last transfer", working);
  assert.equal(await b.root.total(ACCOUNTS), ACCOUNTS * 100);
});
