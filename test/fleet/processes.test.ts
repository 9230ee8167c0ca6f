import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MemoryJournal, type RunOptions, run, type Service } from "headwater";
import { until } from "../waits.js";
import Counters from "./programs/counters.js";

const module = new URL("./programs/counters.ts", import.meta.url).href;
const root = fileURLToPath(new URL("../../", import.meta.url));
const cli = join(root, "dist/cli/main.js");
const KEYS = 24;
const PROCESSES: RunOptions = { hosts: 2, hostsAs: "processes", module };

async function directory(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-processes-"));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

/** The processes that the counters are on. */
async function pids({ root: counters }: Service<Counters>): Promise<number[]> {
  const all = await Promise.all(Array.from({ length: KEYS }, (_, key) => counters.counters(key).where()));
  return [...new Set(all)];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("hosts as processes run the program, each in its own, and end with the service", async () => {
  const service = await run(Counters, PROCESSES);
  const hosts = await pids(service);
  assert.equal(hosts.length, 2);
  assert.ok(!hosts.includes(process.pid));
  for (let i = 0; i < 100; i++) await service.root.both(i % KEYS, (i * 7 + 3) % KEYS);
  const sum = await Promise.all(Array.from({ length: KEYS }, (_, key) => service.root.counters(key).value()));
  assert.equal(
    sum.reduce((a, b) => a + b),
    200,
  );
  await service.stop();
  assert.ok(!hosts.some(isAlive));
});

test("one host may be a process, too", async () => {
  const service = await run(Counters, { ...PROCESSES, hosts: 1 });
  assert.equal((await pids(service)).length, 1);
  assert.equal(await service.root.counters(1).add(), 1);
  await service.stop();
});

test("hosts killed again and again under load lose nothing that was acknowledged, and nothing happens twice", async (t) => {
  const journal = join(await directory(t), "journal");
  const service = await run(Counters, { ...PROCESSES, journal, durability: "written" });
  const acknowledged = new Array<number>(KEYS).fill(0);
  let isOver = false;
  const load = Array.from({ length: KEYS }, async (_, key) => {
    while (!isOver) {
      const other = (key + 5) % KEYS;
      if (key % 3 === 0) {
        await service.root.both(key, other);
        acknowledged[other] = (acknowledged[other] ?? 0) + 1;
      } else await service.root.counters(key).add();
      acknowledged[key] = (acknowledged[key] ?? 0) + 1;
    }
  });
  const total = () => acknowledged.reduce((sum, count) => sum + count, 0);
  for (let round = 0; round < 5; round++) {
    const before = total();
    await until(() => total() > before + 200);
    const hosts = await pids(service);
    process.kill(hosts[round % hosts.length] as number, "SIGKILL");
  }
  const before = total();
  await until(() => total() > before + 200);
  isOver = true;
  await Promise.all(load);
  const values = () =>
    Promise.all(Array.from({ length: KEYS }, (_, key) => service.root.counters(key).value()));
  assert.deepEqual(await values(), acknowledged);
  await service.stop();
  const again = await run(Counters, { journal });
  for (let key = 0; key < KEYS; key++)
    assert.equal(await again.root.counters(key).value(), acknowledged[key]);
  await again.stop();
});

test("a host that was stopped is taken for lost, killed and replaced", async () => {
  const service = await run(Counters, { ...PROCESSES, journal: new MemoryJournal(), hostTimeoutMs: 400 });
  const hosts = await pids(service);
  const stopped = hosts[0] as number;
  process.kill(stopped, "SIGSTOP");
  const added = await Promise.all(Array.from({ length: KEYS }, (_, key) => service.root.counters(key).add()));
  assert.deepEqual(added, new Array(KEYS).fill(1));
  await until(() => !isAlive(stopped));
  assert.ok(!(await pids(service)).includes(stopped));
  await service.stop();
});

test("hosts end by themselves when their head is killed, also one that is busy for ever", async (t) => {
  const file = join(await directory(t), "begun");
  const script = `
    import { run } from "headwater";
    import { existsSync } from "node:fs";
    const { default: Counters } = await import(${JSON.stringify(module)});
    const service = await run(Counters, { hosts: 2, hostsAs: "processes", module: ${JSON.stringify(module)} });
    const pids = new Set();
    for (let key = 0; key < ${KEYS}; key++) pids.add(await service.root.counters(key).where());
    service.root.counters(0).spin(${JSON.stringify(file)});
    while (!existsSync(${JSON.stringify(file)})) await new Promise(setImmediate);
    console.log(JSON.stringify([...pids]));
  `;
  const args = ["--import", "tsx", "--input-type=module", "-e", script];
  const head = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: head.stdout }), "line");
  const hosts = JSON.parse(String(line)) as number[];
  assert.equal(hosts.length, 2);
  assert.ok(hosts.every(isAlive));
  head.kill("SIGKILL");
  await until(() => !hosts.some(isAlive));
});

test("headwater run --processes runs the examples, and shows what hosts print", () => {
  const shown = (...args: string[]) =>
    spawnSync(process.execPath, [cli, "run", ...args], { cwd: root, encoding: "utf8" });
  const [alone, apart] = [shown("examples/bank"), shown("examples/bank", "--hosts", "2", "--processes")];
  assert.equal(apart.status, 0, apart.stderr);
  assert.equal(apart.stdout, alone.stdout);
  assert.match(apart.stderr, /on 2 hosts/);
});
