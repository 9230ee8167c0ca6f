import assert from "node:assert/strict";
import { divisionOf, OWN_LOG } from "#src/cluster/division.js";
import type { Gateway } from "#src/cluster/gateway.js";
import { HeadwaterError } from "#src/errors.js";
import type { Asked } from "#src/model/door.js";
import { Random } from "#src/random.js";
import { type LogLuck, SimStream } from "#src/sim/world/sim-log.js";
import { waitFor } from "../waits.js";
import Bank from "./programs/bank.js";
import { type ClusterPlant, SimCluster, type SimProcess } from "./sim-cluster.js";
import { Chance } from "./support.js";

const ACCOUNTS = 5;
/** A process alone is started again, and makes its snapshots itself. */
const PROCESSES = [3, 3, 2, 1];
/** Far more than any run takes that comes to rest. */
const TIME_MAX_MS = 600_000;
const DISTURB_MS = 20;

export interface Found {
  readonly takeovers: number;
  readonly stepDowns: number;
  readonly handovers: number;
  readonly cut: number;
  readonly steps: number;
}

export function luckOf(random: Random): LogLuck {
  const some = () => random.pick([0, 0.02, 0.15]);
  return {
    lost: some(),
    unacknowledged: some(),
    late: some(),
    leaderless: random.pick([0, 0.01]),
    stale: some(),
    damaged: random.pick([0, 0.5]),
    unheard: some(),
  };
}

function ask(
  gateway: Gateway,
  method: string,
  args: unknown[],
  request?: string,
  ...path: [] | [string, string]
): Promise<unknown> {
  const root = gateway.roots.get("Bank");
  assert.ok(root);
  const slot = root.shape.slots.find(({ field }) => field === path[0]);
  const target = slot === undefined ? root : root.child(slot, path[1]);
  const asked = { target, method: target.shape.methods.get(method), args } as unknown as Asked;
  return new Promise((resolve, reject) => {
    gateway.ask(asked, undefined, request, { caller: "test", part: "" }, { resolve, reject });
  });
}

/** A run of a cluster in which everything that can go wrong does, as a seed decides. Rejects if a promise is broken. */
export async function simulated(
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
  const chance = new Chance(random.fork(), random.pick([2, 4, 8]));
  chance.broken = fail;
  const parts = {
    program: Bank,
    division: divisionOf(["Bank"], undefined),
    streams: new Map([[OWN_LOG, stream]]),
    lostBetween: 0,
    luck: luckOf(random),
    random: random.fork(),
    chance,
    plant,
    broken: fail,
  };
  const count = random.pick(PROCESSES);
  const cluster = new SimCluster(parts, count);
  const likely = {
    pause: random.pick([0, 0.03]),
    kill: random.pick([0, 0.01]),
    leave: random.pick([0, 0.01]),
  };
  const wantsAnother = random.pick([0, 0.03]);
  let [isOver, hasEnded, last] = [false, false, 0];
  const disturb = () => {
    if (chance.now > TIME_MAX_MS) return fail(new Error(`the cluster does not come to rest: ${cluster}`));
    chance.at(DISTURB_MS, disturb);
    if (isOver) return;
    if (random.chance(likely.pause)) cluster.pause();
    if (random.chance(likely.kill)) cluster.kill();
    if (random.chance(likely.leave)) cluster.leave();
    if (random.chance(wantsAnother)) cluster.handOver();
  };
  disturb();
  const first = count > 1 ? cluster.processes[0] : undefined;
  const done: string[] = [];
  /** Asked again at another process, under the same name, if the first is gone. */
  const anywhere = async (method: string, args: unknown[], request?: string): Promise<number> => {
    const process = random.pick(cluster.processes);
    try {
      return (await ask(process.gateway, method, args, request)) as number;
    } catch (error) {
      const isGone = error instanceof HeadwaterError && error.code === "HW-1401" && process.isDead;
      if (!isGone || hasEnded) throw error;
      return anywhere(method, args, request);
    }
  };
  const client = async (name: number) => {
    for (let i = 0; i < 12; i++) {
      const operation = `${name}/${i}`;
      const args = [operation, random.int(ACCOUNTS), random.int(ACCOUNTS)];
      // A request without a name can be asked again by its process only, so its process is the one that stays.
      const once = (process: SimProcess) => ask(process.gateway, "once", args) as Promise<number>;
      const count = await (name % 2 === 0 && first ? once(first) : anywhere("once", args, operation));
      done.push(operation);
      last = Math.max(last, count);
      await look();
    }
  };
  const look = async () => {
    const before = last;
    const seen = await anywhere("count", []);
    assert.ok(seen >= before, `${seen} transfers were seen when there had been ${before}`);
  };
  const reader = async () => {
    for (let i = 0; i < 60; i++) await look();
  };
  const all = async () => {
    await Promise.all([...[0, 1, 2, 3].map(client), reader(), reader()]);
    isOver = true;
    assert.equal(await anywhere("count", []), done.length, "every operation has its effect once");
    assert.equal(await anywhere("total", [ACCOUNTS]), ACCOUNTS * 100);
    const [any] = cluster.processes;
    assert.ok(any);
    for (const operation of done)
      assert.equal(await ask(any.gateway, "read", [], undefined, "operations", operation), 1, operation);
  };
  try {
    await waitFor(`for the cluster of seed ${seed}`, Promise.race([all(), broken]));
  } finally {
    [isOver, hasEnded] = [true, true];
    cluster.end();
  }
  const { takeovers, stepDowns, handovers } = cluster;
  return { takeovers, stepDowns, handovers, cut: stream.first, steps: chance.steps };
}
