import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Gateway } from "#src/cluster/gateway.js";
import type { Asked } from "#src/model/door.js";
import { Random } from "#src/random.js";
import { type LogLuck, SimStream } from "#src/sim/world/sim-log.js";
import { waitFor } from "../waits.js";
import { type ClusterPlant, SimCluster } from "./sim-cluster.js";
import { Chance } from "./support.js";

const [ACCOUNTS, PROCESSES] = [5, 3];
/** Far more than any run takes that comes to rest. */
const STEPS_MAX = 200_000;
const SEEDS = Number(process.env.HEADWATER_SEEDS ?? 40);

interface Found {
  readonly takeovers: number;
  readonly stepDowns: number;
}

function luckOf(random: Random): LogLuck {
  const some = () => random.pick([0, 0.02, 0.15]);
  return {
    lost: some(),
    unacknowledged: some(),
    late: some(),
    leaderless: random.pick([0, 0.01]),
    stale: some(),
  };
}

function ask(
  gateway: Gateway,
  method: string,
  args: unknown[],
  ...path: [] | [string, string]
): Promise<unknown> {
  const root = gateway.roots.get("Bank");
  assert.ok(root);
  const slot = root.shape.slots.find(({ field }) => field === path[0]);
  const target = slot === undefined ? root : root.child(slot, path[1]);
  const asked = { target, method: target.shape.methods.get(method), args } as unknown as Asked;
  return new Promise((resolve, reject) => {
    gateway.ask(asked, undefined, undefined, { caller: "test", part: "" }, { resolve, reject });
  });
}

/** A run of a cluster in which everything that can go wrong does, as a seed decides. Rejects if a promise is broken. */
async function simulated(
  seed: number,
  plant: ClusterPlant | null = null,
  stream = new SimStream(),
): Promise<Found> {
  const random = new Random(seed);
  let fail: (error: unknown) => void = () => {};
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => {});
  const { later } = new Chance(random.fork());
  const parts = { stream, luck: luckOf(random), random: random.fork(), later, plant, broken: fail };
  const cluster = new SimCluster(parts, PROCESSES);
  const suspicions = random.pick([0.01, 0.05]);
  let [isOver, last, steps] = [false, 0, 0];
  const suspect = () => {
    steps += 1;
    if (steps > STEPS_MAX) fail(new Error("the cluster does not come to rest"));
    if (isOver) return;
    if (stream.messages.length === 0 || random.chance(suspicions)) cluster.suspect();
    if (random.chance(0.1)) cluster.beat();
    later("suspect", suspect);
  };
  suspect();
  const done: string[] = [];
  const client = async (name: number) => {
    for (let i = 0; i < 12; i++) {
      const { gateway } = random.pick(cluster.processes);
      const operation = `${name}/${i}`;
      const args = [operation, random.int(ACCOUNTS), random.int(ACCOUNTS)];
      const count = (await ask(gateway, "once", args)) as number;
      done.push(operation);
      last = Math.max(last, count);
      await look();
    }
  };
  const look = async () => {
    const before = last;
    const seen = (await ask(random.pick(cluster.processes).gateway, "count", [])) as number;
    assert.ok(seen >= before, `${seen} transfers were seen when there had been ${before}`);
  };
  const reader = async () => {
    for (let i = 0; i < 60; i++) await look();
  };
  const all = async () => {
    await Promise.all([...[0, 1, 2, 3].map(client), reader(), reader()]);
    const { gateway } = random.pick(cluster.processes);
    assert.equal(await ask(gateway, "count", []), done.length, "every operation has its effect once");
    assert.equal(await ask(gateway, "total", [ACCOUNTS]), ACCOUNTS * 100);
    for (const operation of done) {
      assert.equal(await ask(gateway, "read", [], "operations", operation), 1, operation);
    }
  };
  try {
    await waitFor(`for the cluster of seed ${seed}`, Promise.race([all(), broken]));
  } finally {
    isOver = true;
    cluster.end();
  }
  return { takeovers: cluster.takeovers, stepDowns: cluster.stepDowns };
}

async function finds(plant: ClusterPlant | null, seeds: number, fences = true): Promise<string | null> {
  for (let seed = 1; seed <= seeds; seed++) {
    const found = await simulated(seed, plant, new SimStream(fences)).then(
      () => null,
      (error: unknown) => String(error),
    );
    if (found !== null) return found;
  }
  return null;
}

describe("a simulated cluster", () => {
  test("keeps its promises, whoever takes over when and whatever the log does", async () => {
    let [takeovers, stepDowns] = [0, 0];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const found = await simulated(seed);
      takeovers += found.takeovers;
      stepDowns += found.stepDowns;
    }
    assert.ok(takeovers > SEEDS * 2, `${takeovers} takeovers`);
    assert.ok(stepDowns > SEEDS / 2, `${stepDowns} heads stepped down`);
  });

  for (const plant of ["overlay kept", "lagging table", "retried as new"] as const) {
    test(`a planted mistake is found: ${plant}`, async () => {
      const found = await finds(plant, 300);
      assert.ok(found !== null);
    });
  }

  test("a planted mistake is found: no fence", async () => {
    assert.ok((await finds(null, 100, false)) !== null);
  });
});
