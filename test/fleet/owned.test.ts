import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { hostsOf, type ProgramHosts, parkedOf, type RunOptions, run, type Service } from "headwater";
import { Random } from "#src/random.js";
import { until } from "../waits.js";
import Ledgers, { type Account, Entries } from "./programs/ledgers.js";
import LaterLedgers from "./programs/ledgers-later.js";

const module = new URL("./programs/ledgers.ts", import.meta.url).href;
const later = new URL("./programs/ledgers-later.ts", import.meta.url).href;
const killed = fileURLToPath(new URL("./programs/ledgers-killed.ts", import.meta.url));
const LEDGERS = 3;
const CLIENTS = 6;

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-owned-"));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

/** By ledger: the entries that are in it for certain, each client's in the order in which it has made them. */
type Acknowledged = readonly string[][][];

/** Clients that enter something all the time, one thing after the other, until they are told to stop, and 30 times at least. */
function load({ root }: Service<Ledgers>): { stop(): Promise<Acknowledged> } {
  const acknowledged: string[][][] = Array.from({ length: LEDGERS }, () =>
    Array.from({ length: CLIENTS }, () => []),
  );
  let isOver = false;
  const client = async (number: number): Promise<void> => {
    for (let i = 0; !isOver || i < 30; i++) {
      const entry = `k${i % 7}:${i}:${number}.${i}`;
      const a = (number + i) % LEDGERS;
      const b = (a + 1) % LEDGERS;
      switch (i % 5) {
        case 0:
          await root.both(a, b, entry);
          acknowledged[a]?.[number]?.push(entry);
          acknowledged[b]?.[number]?.push(entry);
          break;
        case 1:
          await assert.rejects(root.ledgers(a).fail(entry), RangeError);
          break;
        case 2:
          await root.oneOf(a, b, entry);
          acknowledged[b]?.[number]?.push(entry);
          break;
        default:
          await root.ledgers(a).enter(entry);
          acknowledged[a]?.[number]?.push(entry);
      }
    }
  };
  const work = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  return {
    stop: async () => {
      isOver = true;
      await work;
      return acknowledged;
    },
  };
}

function assertWhole(account: Account): void {
  assert.deepEqual(account, Entries.account(account.entries), "the engine is what its entries make of it");
}

/** Each ledger has what was acknowledged and nothing else, once, and each client's entries in their order. */
async function check({ root }: Service<Ledgers>, acknowledged: Acknowledged): Promise<void> {
  let entries = 0;
  for (const [ledger, clients] of acknowledged.entries()) {
    const account = await root.ledgers(ledger).seen();
    assertWhole(account);
    for (const [client, own] of clients.entries())
      assert.deepEqual(
        account.entries.filter((entry) => entry.includes(`:${client}.`)),
        own,
        `ledger ${ledger}, client ${client}`,
      );
    assert.equal(account.entries.length, clients.flat().length);
    entries += account.entries.length;
  }
  assert.ok(entries > 100, `${entries} entries are enough for checkpoints`);
}

async function shuffle(hosts: ProgramHosts, random: Random, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const { id } = random.pick(hosts.list().filter(({ state }) => state === "running"));
    await hosts.move(`Ledgers.ledgers(${random.int(LEDGERS)})`, id);
  }
}

const WAYS: readonly [name: string, isKept: boolean, options: RunOptions][] = [
  ["threads", false, {}],
  ["threads, with a journal", true, {}],
  ["threads, with a journal and one order of commits", true, { commitOrder: "total" }],
  ["processes", false, { hostsAs: "processes" }],
  ["processes, with a journal", true, { hostsAs: "processes" }],
];

for (const [seed, [name, isKept, options]] of WAYS.entries()) {
  test(`under load, engines move between ${name}, and every record is applied once and in its order`, async (t) => {
    const journal = isKept ? { journal: await folder(t) } : {};
    await using service = await run(Ledgers, { hosts: 2, module, ...options, ...journal });
    const hosts = hostsOf(service);
    const work = load(service);
    await shuffle(hosts, new Random(seed), 16);
    const [added] = await hosts.add(1);
    await hosts.move(service.root.ledgers(0), added ?? 0);
    await hosts.remove(0);
    const acknowledged = await work.stop();
    await check(service, acknowledged);
    if (!isKept) return;
    await service.stop();
    await using again = await run(Ledgers, { hosts: 2, module, ...journal });
    await check(again, acknowledged);
  });
}

for (const hostsAs of ["threads", "processes"] as const) {
  test(`${hostsAs} end under an engine that has just applied a record, also in the middle of moves`, async (t) => {
    const at = await folder(t);
    await using service = await run(Ledgers, {
      hosts: 2,
      hostsAs,
      module,
      journal: join(at, "journal"),
      onWarning: () => {},
    });
    const hosts = hostsOf(service);
    const { root } = service;
    const work = load(service);
    const random = new Random(7);
    const burnt: string[] = [];
    for (let round = 0; round < 4; round++) {
      const ledger = root.ledgers(round % LEDGERS);
      const entry = `k0:1:${CLIENTS}.${round}`; // as if it were one more client's
      burnt.push(entry);
      const [burning] = await Promise.all([
        ledger.burn(entry, join(at, `fuse ${round}`), 1),
        hosts.move(ledger, round % 2).catch(notMade),
        shuffle(hosts, random, 2).catch(notMade),
      ]);
      assert.ok(burning > 0);
    }
    const acknowledged = await work.stop();
    await check(service, withBurnt(acknowledged, burnt));
    assert.ok(hosts.list().reduce((sum, { restarts }) => sum + restarts, 0) >= burnt.length);
  });
}

function notMade(error: { code?: string }): void {
  assert.ok(error.code === "HW-6015" || error.code === "HW-6011", String(error));
}

/** With the entries that have ended hosts, in the ledgers they were made in. */
function withBurnt(acknowledged: Acknowledged, burnt: readonly string[]): Acknowledged {
  return acknowledged.map((clients, ledger) => [
    ...clients,
    burnt.filter((_, round) => round % LEDGERS === ledger),
  ]);
}

test("an event that is parked because it ends its hosts leaves nothing in its engine until it is replayed", async (t) => {
  const at = await folder(t);
  const options = { hosts: 2, hostsAs: "processes", module, onWarning: () => {}, onError: () => {} } as const;
  const journal = join(at, "journal");
  await using service = await run(Ledgers, { ...options, journal });
  const { root } = service;
  for (let i = 0; i < 30; i++) await root.ledgers(1).enter(`k${i % 3}:${i}:before${i}`);
  await root.order(1, "k1:1000:parked", join(at, "fuse"), 6);
  await until(() => parkedOf(service).list().length > 0);
  assert.equal(await root.ledgers(1).enter("k2:5:after"), 31);
  const hosts = hostsOf(service);
  await hosts.move(root.ledgers(1), 1 - hosts.where(root.ledgers(1)));
  const account = await root.ledgers(1).seen();
  assertWhole(account);
  assert.ok(!account.entries.some((entry) => entry.includes("parked")));
  await service.stop();

  await using again = await run(Ledgers, { ...options, journal });
  const parked = parkedOf(again);
  for (const { id } of parked.list()) assert.equal(await parked.replay(id), 32);
  const { entries } = await again.root.ledgers(1).seen();
  assert.equal(entries.at(-1), "k1:1000:parked");
  assertWhole(await again.root.ledgers(1).seen());
});

/** Runs the program until it has said so many lines, and kills it with all its hosts. Returns what it had said. */
async function killedAfter(lines: number, journal: string, name: string): Promise<string[]> {
  const child = spawn(process.execPath, ["--import", "tsx", killed, journal, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (said.length === lines) child.kill("SIGKILL");
  }
  return said;
}

test("the whole program is killed in the middle of moves; a later version finds what was acknowledged, once and in order", async (t) => {
  const journal = await folder(t);
  const said: string[] = [];
  for (const [i, name] of ["a", "b"].entries()) said.push(...(await killedAfter(60 + 23 * i, journal, name)));
  await using service = await run(LaterLedgers, { hosts: 2, module: later, journal });
  const hosts = hostsOf(service);
  const ledger = service.root.ledgers(1);
  const found = await ledger.seen();
  // The last one of each process may be there without an answer.
  assert.deepEqual(
    found.entries.filter((entry) => said.includes(entry)),
    said,
  );
  assert.ok(found.entries.length <= said.length + 2);
  assert.equal(new Set(found.entries).size, found.entries.length);

  await hosts.move(ledger, 1 - hosts.where(ledger));
  const entered: string[] = [];
  for (let i = 0; i < 40; i++) {
    entered.push(`k${i % 4}:${i}:later${i}`);
    assert.equal(await ledger.enter(entered.at(-1) ?? ""), found.entries.length + i + 1);
    if (i % 10 === 0) await hosts.move(ledger, 1 - hosts.where(ledger));
  }
  await service.stop();
  await using again = await run(LaterLedgers, { hosts: 2, module: later, journal });
  const { later: own, ...account } = await again.root.ledgers(1).seen();
  assertWhole(account);
  assert.deepEqual(account.entries, [...found.entries, ...entered]);
  assert.deepEqual(own, entered);
});
