import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { hostsOf, MemoryJournal, type ProgramHosts, run, type Service } from "headwater";
import { Random } from "#src/random.js";
import Bank from "./programs/bank.js";
import Store from "./programs/store.js";

const module = new URL("./programs/bank.ts", import.meta.url).href;
const store = new URL("./programs/store.ts", import.meta.url).href;
const [BRANCHES, ACCOUNTS] = [5, 4];

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-moves-"));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

/** Transfers, one after the other in each of several clients, until it is told to stop. What was done is in the accounts. */
function load({ root }: Service<Bank>, clients = 8): { stop(): Promise<number> } {
  let isOver = false;
  let done = 0;
  const work = Array.from({ length: clients }, async (_, client) => {
    for (let i = 0; !isOver; i++) {
      const [b, c] = [(client + i) % BRANCHES, (client * 3 + i) % BRANCHES];
      const [from, to] = [i % ACCOUNTS, (i + 1) % ACCOUNTS];
      const id = `${client}.${i}`;
      const request =
        i % 2 === 0 ? root.across([b, from], [c, to], 1, id) : root.branches(b).transfer(from, to, 1, id);
      await request.then(
        () => {
          done += 1;
        },
        (error: Error) => assert.match(error.message, /has only/),
      );
    }
  });
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(work);
      return done;
    },
  };
}

/** Each transfer that was acknowledged is in two accounts, once; no money has come or gone. */
async function check({ root }: Service<Bank>, transfers: number): Promise<void> {
  const accounts = await root.audit(BRANCHES, ACCOUNTS);
  assert.equal(
    accounts.reduce((sum, { balance }) => sum + balance, 0),
    100 * BRANCHES * ACCOUNTS,
  );
  const ids = accounts.flatMap(({ history }) => history.filter((id) => !id.startsWith("noted ")));
  const times = new Map<string, number>();
  for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1);
  assert.equal(times.size, transfers);
  assert.ok([...times.values()].every((count) => count === 2));
}

/** Moves contexts at random, so many times. */
async function shuffle(hosts: ProgramHosts, random: Random, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const there = hosts.contexts();
    if (there.length > 0) {
      const { id } = random.pick(hosts.list().filter(({ state }) => state === "running"));
      await hosts.move(random.pick(there).context, id);
    }
  }
}

test("a moved context is elsewhere, with those below it, and as it was", async () => {
  await using service = await run(Bank, { hosts: 2, module });
  const hosts = hostsOf(service);
  const branch = service.root.branches(3);
  await branch.transfer(0, 1, 7, "t");
  const [from, to] = [hosts.where(branch), 1 - hosts.where(branch)];
  await hosts.move(branch, to);
  assert.equal(hosts.where(branch.accounts(1)), to);
  assert.equal((await branch.accounts(1).seen()).balance, 107);
  await hosts.move("Bank.branches(3)", from);
  assert.equal(hosts.where(branch), from);
  assert.deepEqual(await branch.accounts(0).seen(), { balance: 93, history: ["t"] });
  const here = hosts.contexts().filter(({ context }) => context.startsWith("Bank.branches(3)"));
  assert.deepEqual(
    here.map(({ context, host }) => [context, host]),
    ["", ".accounts(1)", ".accounts(0)"].map((end) => [`Bank.branches(3)${end}`, from]),
  );
});

test("a context that does not exist yet can be moved, and one below another goes its own way", async () => {
  await using service = await run(Bank, { hosts: 2, module });
  const hosts = hostsOf(service);
  const { root } = service;
  await hosts.move(root.branches(1), 1);
  await hosts.move(root.branches(1).accounts(2), 0);
  assert.equal(await root.branches(1).transfer(1, 2, 5, "t"), 95);
  assert.deepEqual(
    new Map(hosts.contexts().map(({ context, host }) => [context, host])),
    new Map([
      ["Bank.branches(1)", 1],
      ["Bank.branches(1).accounts(2)", 0],
      ["Bank.branches(1).accounts(1)", 1],
    ]),
  );
  await hosts.move(root.branches(1), 0);
  await hosts.move(root.branches(1), 1);
  assert.equal(hosts.where(root.branches(1).accounts(2)), 1, "it has come along");
  assert.equal((await root.branches(1).accounts(2).seen()).balance, 105);
});

test("hosts are added and get their share; hosts are removed and leave nothing behind", async () => {
  await using service = await run(Bank, { hosts: 2, module });
  const hosts = hostsOf(service);
  const { root } = service;
  for (let i = 0; i < 30; i++) await root.branches(i).transfer(0, 1, i, `t${i}`);
  const stays = root.branches(3);
  const wish = 1 - hosts.where(stays);
  await hosts.move(stays, wish);
  assert.deepEqual(await hosts.add(2), [2, 3]);
  await hosts.settled();
  assert.deepEqual(
    hosts.list().map(({ id, state }) => [id, state]),
    [0, 1, 2, 3].map((id) => [id, "running"]),
  );
  assert.ok(hosts.list().every(({ contexts }) => contexts > 0));
  assert.equal(hosts.where(stays), wish, "what somebody has moved stays");
  await Promise.all([hosts.remove(0), hosts.remove(1)]);
  assert.deepEqual(
    hosts.list().map(({ id }) => id),
    [2, 3],
  );
  for (let i = 0; i < 30; i++) assert.equal((await root.branches(i).accounts(1).seen()).balance, 100 + i);
  await hosts.drain(3);
  assert.deepEqual(
    hosts.list().map(({ state, contexts }) => [state, contexts]),
    [
      ["running", 90],
      ["draining", 0],
    ],
  );
});

test("hosts say how they are doing", async () => {
  await using service = await run(Bank, { hosts: 2, module });
  const hosts = hostsOf(service);
  const work = load(service);
  while (hosts.list().some(({ load: said }) => said === null))
    await service.root.branches(0).accounts(0).seen();
  await work.stop();
  for (const { load: said } of hosts.list()) {
    assert.ok(said !== null && said.utilisation > 0 && said.utilisation <= 1);
    assert.ok(said.heapBytes > 0 && said.eventsPerSecond >= 0 && said.queueMs >= 0);
  }
});

for (const isKept of [false, true]) {
  test(`under load, contexts move, hosts come and go, and nobody can tell${isKept ? ", with a journal" : ""}`, async (t) => {
    const journal = isKept ? { journal: await folder(t) } : {};
    await using service = await run(Bank, { hosts: 2, module, ...journal });
    const hosts = hostsOf(service);
    const work = load(service);
    const random = new Random(isKept ? 1 : 2);
    await shuffle(hosts, random, 20);
    await hosts.add(2);
    await shuffle(hosts, random, 10);
    await Promise.all([hosts.remove(0), shuffle(hosts, random, 10).catch(notMade)]);
    await hosts.remove(1);
    const done = await work.stop();
    await service.idle();
    assert.ok(done > 0);
    await check(service, done);
  });
}

function notMade(error: { code?: string }): void {
  assert.ok(error.code === "HW-6015" || error.code === "HW-6011", String(error));
}

for (const whose of ["source", "target"] as const) {
  test(`the ${whose} of a move ends in the middle of it`, async (t) => {
    const directory = await folder(t);
    await using service = await run(Bank, { hosts: 2, module, journal: join(directory, "journal") });
    const hosts = hostsOf(service);
    const { root } = service;
    const work = load(service);
    const random = new Random(3);
    for (let round = 1; round <= 3; round++) {
      const branch = root.branches(round);
      await branch.transfer(0, 1, 0, `first ${round}`);
      const from = hosts.where(branch);
      const bomb = root.bombs(round);
      await hosts.move(bomb, whose === "source" ? from : 1 - from);
      const fuse = join(directory, `fuse ${round}`);
      const burnt = bomb.burn(fuse, 1);
      await Promise.all([hosts.move(branch, 1 - from), shuffle(hosts, random, 3)]);
      assert.equal(await burnt, 1);
      assert.equal(await readFile(fuse, "utf8"), "x");
    }
    const done = await work.stop();
    await service.idle();
    await check(service, done + 3);
  });
}

for (const isKept of [false, true]) {
  test(`a context of 100 MB moves while it is used${isKept ? ", with a journal" : ""}`, async (t) => {
    const [items, bytes] = [1000, 100_000];
    const journal = isKept ? { journal: await folder(t), durability: "written" as const } : {};
    const limits = { pieceBytes: 256 * 1024 }; // as a program would have it that is in a hurry to move so much
    await using service = await run(Store, { hosts: 2, module: store, limits, ...journal });
    const hosts = hostsOf(service);
    const shelf = service.root.shelves(1);
    for (let i = 0; i < items; i += 50) await shelf.fill(i, 50, bytes);
    const from = hosts.where(shelf);
    let isThere = false;
    let count = 0;
    const moving = hosts.move(shelf, 1 - from).then(() => {
      isThere = true;
    });
    while (!isThere) {
      count += 1;
      await shelf.add(`t${count}`);
      await shelf.put(`item ${count % items}`, "x".repeat(bytes));
    }
    await moving;
    const seen = await shelf.seen();
    assert.equal(hosts.where(shelf), 1 - from);
    assert.deepEqual(
      seen.log,
      Array.from({ length: count }, (_, i) => `t${i + 1}`),
    );
    assert.deepEqual([seen.size, seen.bytes, seen.count], [items, items * bytes, count]);
    assert.ok(count > 10, `while it was copied, ${count} events went on`);
  });
}

test("a large plain field moves, too", async () => {
  await using service = await run(Store, { hosts: 2, module: store });
  const hosts = hostsOf(service);
  const shelf = service.root.shelves(1);
  await shelf.write("x".repeat(2_000_000));
  await hosts.move(shelf, 1 - hosts.where(shelf));
  await shelf.write("y".repeat(1_000_000));
  await hosts.move(shelf, 1 - hosts.where(shelf));
  assert.equal((await shelf.seen()).label, 1_000_000);
});

test("what makes no sense is refused, and changes nothing", async () => {
  const alone = await run(Bank);
  assert.throws(() => hostsOf(alone), { code: "HW-6014" });
  await using service = await run(Bank, { hosts: 2, module });
  const hosts = hostsOf(service);
  const { root } = service;
  for (const host of [7, -1, 0.5, Number.NaN]) {
    await assert.rejects(hosts.move(root.branches(1), host), { code: "HW-6011" });
    await assert.rejects(hosts.remove(host), { code: "HW-6011" });
    await assert.rejects(hosts.pin("Bank.branches(*)", host), { code: "HW-6011" });
  }
  for (const what of [
    alone.root,
    "Bank.nothing(1)",
    "Shop",
    "Bank.branches",
    "Bank.branches(",
    {} as typeof root,
  ]) {
    await assert.rejects(hosts.move(what, 0), { code: "HW-6013" });
  }
  for (const count of [0, -1, 1.5, 1000]) await assert.rejects(hosts.add(count), { code: "HW-6012" });
  await assert.rejects(hosts.separate(String as never), { code: "HW-6013" });
  await hosts.drain(1);
  await assert.rejects(hosts.move(root.branches(1), 1), { code: "HW-6011" });
  await assert.rejects(hosts.remove(0), { code: "HW-6012" });
  await assert.rejects(run(Bank, { hosts: 2, module, placement: { pin: { Bank: 2 } } }), { code: "HW-6011" });
  assert.equal(await root.branches(1).transfer(0, 1, 1, "t"), 99);
  await alone.stop();
});

test("many moves at once all come to their end, and too many are refused", async () => {
  await using service = await run(Bank, { hosts: 2, module, limits: { inFlight: 100 } });
  const hosts = hostsOf(service);
  const { root } = service;
  for (let i = 0; i < 100; i++) await root.branches(i).transfer(0, 1, i % 50, "t");
  const moves = Array.from({ length: 100 }, (_, i) => hosts.move(root.branches(i), i % 2));
  await assert.rejects(hosts.move(root.branches(0), 1), { code: "HW-1301" });
  await Promise.all(moves);
  for (let i = 0; i < 100; i++) {
    assert.equal(hosts.where(root.branches(i)), i % 2);
    assert.equal((await root.branches(i).accounts(1).seen()).balance, 100 + (i % 50));
  }
});

test("a program that stops ends its moves", async () => {
  const service = await run(Store, { hosts: 2, module: store });
  const shelf = service.root.shelves(1);
  await shelf.fill(0, 200, 100_000);
  const hosts = hostsOf(service);
  const moving = hosts.move(shelf, 1 - hosts.where(shelf));
  const stopped = assert.rejects(moving, { code: "HW-1401" });
  await service.stop();
  await stopped;
});

test("of many moves of one context that nobody waits for, the last one asked for is the last one made", async () => {
  for (const journal of [{}, { journal: new MemoryJournal() }]) {
    await using service = await run(Bank, { hosts: 2, module, ...journal });
    const hosts = hostsOf(service);
    const branch = service.root.branches(2);
    await branch.transfer(1, 2, 5, "t");
    const ended: number[] = [];
    const moves = Array.from({ length: 20 }, (_, i) => hosts.move(branch, i % 2).then(() => ended.push(i)));
    moves.push(hosts.move(branch, 0).then(() => ended.push(20)));
    await Promise.all(moves);
    assert.deepEqual(ended, [...Array(21).keys()]);
    assert.equal(hosts.where(branch), 0);
    assert.equal(await branch.transfer(1, 2, 5, "u"), 90);
  }
});
