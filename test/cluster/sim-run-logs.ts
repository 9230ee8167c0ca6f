import assert from "node:assert/strict";
import { divisionOf, OWN_LOG } from "#src/cluster/division.js";
import { HeadwaterError } from "#src/errors.js";
import type { Asked } from "#src/model/door.js";
import { Random } from "#src/random.js";
import { SimStream } from "#src/sim/world/sim-log.js";
import { waitFor } from "../waits.js";
import { checkTaken, MESSAGES_PER_GIFT } from "./branches-check.js";
import branches, { BRANCHES, LOGS, pace, type Taken } from "./programs/branches.js";
import { type ClusterPlant, SimCluster, type SimProcess } from "./sim-cluster.js";
import { type Found, luckOf } from "./sim-run.js";
import { Chance } from "./support.js";

const [DESKS, PROCESSES, CLIENTS, OPERATIONS] = [3, 3, 4, 6];
const TIME_MAX_MS = 600_000;
const DISTURB_MS = 20;
const LOOK_MS = 200;
/** Things go wrong for so long, at most, after the last request; and after so long, all messages must have been taken. */
const [DISTURBED_MS, REST_MS] = [3000, 60_000];

function ask(
  process: SimProcess,
  node: string,
  path: [] | [number],
  method: string,
  args: unknown[],
  id?: string,
) {
  const seat = process.seats.find(({ gateway }) => gateway.roots.has(node));
  const root = seat?.gateway.roots.get(node);
  assert.ok(seat && root);
  const slot = root.shape.slots.find(({ field }) => field === "desks");
  const target = path.length === 0 || slot === undefined ? root : root.child(slot, path[0]);
  const asked = { target, method: target.shape.methods.get(method), args } as unknown as Asked;
  return new Promise<unknown>((resolve, reject) => {
    seat.gateway.ask(asked, undefined, id, { caller: "test", part: "" }, { resolve, reject });
  });
}

/**
 * A run of a cluster with a log for each of three logical nodes, which send each other messages, while everything that can go wrong
 * does. Rejects if a message is lost, comes twice or in another order.
 */
export async function simulatedLogs(seed: number, plant: ClusterPlant | null = null): Promise<Found> {
  const random = new Random(seed);
  let fail: (error: unknown) => void = () => {};
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => {});
  const chance = new Chance(random.fork(), random.pick([2, 4, 8]));
  chance.broken = fail;
  const division = divisionOf(BRANCHES, LOGS);
  const streams = new Map([OWN_LOG, "e", "w"].map((log) => [log, new SimStream()]));
  const parts = {
    program: branches,
    division,
    streams,
    lostBetween: random.pick([0, 0.02]),
    luck: luckOf(random),
    random: random.fork(),
    chance,
    plant,
    broken: fail,
  };
  const cluster = new SimCluster(parts, PROCESSES);
  const slow = random.pick([0, 0.3]);
  const luck = random.fork();
  pace.wait = () =>
    luck.chance(slow) ? new Promise((resolve) => chance.at(luck.int(400), resolve)) : Promise.resolve();
  const likely = {
    pause: random.pick([0, 0.03]),
    kill: random.pick([0, 0.01]),
    leave: random.pick([0, 0.01]),
  };
  const wantsAnother = random.pick([0, 0.03]);
  let [isOver, hasEnded] = [false, false];
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
  /** Asked again at another process, under the same name, if the first is gone. */
  const anywhere = async (
    ...asked: Parameters<typeof ask> extends [SimProcess, ...infer Rest] ? Rest : never
  ) => {
    for (;;) {
      const process = random.pick(cluster.processes);
      try {
        return await ask(process, ...asked);
      } catch (error) {
        const isGone = error instanceof HeadwaterError && error.code === "HW-1401" && process.isDead;
        if (!isGone || hasEnded) throw error;
      }
    }
  };
  const passed = (ms: number) => new Promise<void>((resolve) => chance.at(ms, resolve));
  const done: string[] = [];
  const client = async (name: number) => {
    for (let i = 0; i < OPERATIONS; i++) {
      const operation = `${name}/${i}`;
      const from = random.pick(BRANCHES);
      const to = random.pick(BRANCHES.filter((each) => each !== from));
      await anywhere(from, [random.int(DESKS)], "give", [operation, to, random.int(DESKS)], operation);
      done.push(operation);
    }
  };
  const look = async () => {
    const taken = new Map<string, readonly Taken[]>();
    let balance = 0;
    for (const branch of BRANCHES) {
      const all = (await anywhere(branch, [], "all", [DESKS])) as {
        balance: number;
        taken: readonly Taken[];
      };
      balance += all.balance;
      taken.set(branch, all.taken);
    }
    return { balance, taken, count: [...taken.values()].flat().length };
  };
  const all = async () => {
    await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i)));
    await passed(random.int(DISTURBED_MS));
    isOver = true;
    const until = chance.now + REST_MS;
    while ((await look()).count < done.length * MESSAGES_PER_GIFT && chance.now < until)
      await passed(LOOK_MS);
    await passed(10 * LOOK_MS); // what comes twice may come late
    const { balance, taken } = await look();
    checkTaken(taken, done);
    assert.equal(balance, BRANCHES.length * DESKS * 100, "no coin is lost or made");
  };
  try {
    await waitFor(`for the cluster of seed ${seed}`, Promise.race([all(), broken]));
  } finally {
    [isOver, hasEnded] = [true, true];
    cluster.end();
    pace.wait = async () => {};
  }
  const { takeovers, stepDowns, handovers } = cluster;
  const cut = [...streams.values()].filter(({ first }) => first > 1).length;
  return { takeovers, stepDowns, handovers, cut, steps: chance.steps };
}
