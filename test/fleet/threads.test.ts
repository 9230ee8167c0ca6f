import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { MemoryJournal, run, type Service } from "headwater";
import Bank from "./programs/bank.js";

const module = new URL("./programs/bank.ts", import.meta.url).href;
const [BRANCHES, ACCOUNTS] = [5, 4];

/** What clients do, always the same. Requests that touch the same contexts are made in one order. */
async function work({ root }: Service<Bank>): Promise<unknown[]> {
  const answers: Promise<unknown>[] = [];
  for (let i = 0; i < 200; i++) {
    const [b, c] = [i % BRANCHES, (i * 3 + 1) % BRANCHES];
    const [from, to] = [i % ACCOUNTS, (i + 1) % ACCOUNTS];
    const id = `t${i}`;
    const answer =
      i % 3 === 0
        ? root.across([b, from], [c, to], i % 40, id)
        : i % 3 === 1
          ? root.branches(b).transfer(from, to, (i * 7) % 60, id)
          : root.maybe(c, (i * 11) % 90, id);
    answers.push(answer.catch((error: Error) => error.message));
  }
  return Promise.all(answers);
}

async function outcome(hosts: number, journal?: MemoryJournal) {
  const service = await run(Bank, { hosts, module, ...(journal === undefined ? {} : { journal }) });
  try {
    const answers = await work(service);
    await service.idle();
    return { answers, audit: await service.root.audit(BRANCHES, ACCOUNTS) };
  } finally {
    await service.stop();
  }
}

test("the same program gives the same on 1, 2 and 4 hosts", async () => {
  const alone = await outcome(1);
  assert.equal(
    alone.audit.reduce((sum, { balance }) => sum + balance, 0),
    100 * BRANCHES * ACCOUNTS,
  );
  assert.ok(alone.answers.some((answer) => typeof answer === "string"));
  assert.deepEqual(await outcome(2), alone);
  assert.deepEqual(await outcome(4), alone);
});

test("with a journal, a program goes on with another number of hosts", async () => {
  const journal = new MemoryJournal();
  const first = await outcome(3, journal);
  const service = await run(Bank, { hosts: 2, module, journal });
  assert.deepEqual(await service.root.audit(BRANCHES, ACCOUNTS), first.audit);
  await service.stop();
  const alone = await run(Bank, { journal });
  assert.deepEqual(await alone.root.audit(BRANCHES, ACCOUNTS), first.audit);
  await alone.stop();
});

test("several hosts need to know where the program is", async () => {
  await assert.rejects(run(Bank, { hosts: 2 }), { code: "HW-6002" });
  await assert.rejects(run(Bank, { hosts: 0, module }), { code: "HW-6002" });
});

test("a host that ends is replaced: what it had is loaded again, what was under way starts again", async (t) => {
  const fuse = join(await mkdtemp(join(tmpdir(), "headwater-hosts-")), "fuse");
  t.after(() => rm(dirname(fuse), { recursive: true }));
  const alone = await outcome(1);
  const service = await run(Bank, { hosts: 3, module, journal: new MemoryJournal() });
  const [answers, ...fuses] = await Promise.all([
    work(service),
    service.root.bombs(1).burn(fuse, 1),
    service.root.bombs(2).burn(fuse, 2),
  ]);
  await service.idle();
  assert.deepEqual(fuses, [1, 1]);
  assert.equal(await readFile(fuse, "utf8"), "xx");
  assert.deepEqual(answers, alone.answers);
  assert.deepEqual(await service.root.audit(BRANCHES, ACCOUNTS), alone.audit);
  await service.stop();
});

test("an event that ends every host is given up, and the others go on", async (t) => {
  const fuse = join(await mkdtemp(join(tmpdir(), "headwater-hosts-")), "fuse");
  t.after(() => rm(dirname(fuse), { recursive: true }));
  const service = await run(Bank, { hosts: 2, module, journal: new MemoryJournal() });
  await assert.rejects(service.root.bombs(1).burn(fuse, 100), {
    code: "HW-6003",
    message: /4 hosts have ended .* The last one: it ended with code \d+\./,
  });
  assert.equal(await service.root.branches(1).transfer(0, 1, 10, "t"), 90);
  assert.equal(await service.root.bombs(1).burn(fuse, 0), 1);
  await service.stop();
});

test("without a journal, the end of a host is the end of the program", async (t) => {
  const fuse = join(await mkdtemp(join(tmpdir(), "headwater-hosts-")), "fuse");
  t.after(() => rm(dirname(fuse), { recursive: true }));
  const service = await run(Bank, { hosts: 2, module, onFailure: () => {} });
  await assert.rejects(service.root.bombs(1).burn(fuse, 1), { code: "HW-6001" });
  await assert.rejects(service.root.bombs(2).burn(fuse, 0), { code: "HW-6001" });
  await service.stop();
});

test("a module that runs itself when a host loads it is refused, instead of starting hosts without end", async () => {
  await assert.rejects(import("./programs/runs-itself.js"), { code: "HW-6002", message: /isHost/ });
});
