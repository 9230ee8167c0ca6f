import assert from "node:assert/strict";
import { HotCopies } from "#src/cluster/copies.js";
import { divisionOf, OWN_LOG } from "#src/cluster/division.js";
import { HeadwaterError } from "#src/errors.js";
import type { Asked } from "#src/model/door.js";
import { Random } from "#src/random.js";
import { SimStream } from "#src/sim/world/sim-log.js";
import { Batch, column, encodeBatch } from "#src/streams/columns/index.js";
import { type Command, DEFAULT_RETENTION, encodeCommand } from "#src/streams/graph/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import { waitFor } from "../waits.js";
import { type CopyPlant, fieldsOf } from "./copies-plants.js";
import Boards from "./programs/boards.js";
import { SimCluster, type SimProcess } from "./sim-cluster.js";
import { luckOf } from "./sim-run.js";
import { Chance } from "./support.js";

const BOARDS = ["a", "b", "c", "d"];
const SCHEMA = [column("k", "text"), column("v", "int")];
const [PROCESSES, CLIENTS, PUSHES] = [4, 3, 14];
const TIME_MAX_MS = 600_000;

export interface CopiesFound {
  /** HotCopies that were made, that became the engines of a new head, and that were taken for others than their originals. */
  readonly made: number;
  readonly taken: number;
  readonly diverged: number;
  readonly takeovers: number;
  /** At how many positions the digests of several processes were compared. */
  readonly compared: number;
}

async function definitions(): Promise<Command[]> {
  const own = { retention: DEFAULT_RETENTION, key: [] };
  const sql = "SELECT k, count(*) AS n, sum(v) AS total FROM s GROUP BY k";
  const plan = await planQuery(sql, { s: SCHEMA });
  const asked = { backfill: false, key: null, coordination: null, partitions: 1 };
  return [
    {
      kind: "define stream",
      definition: { kind: "stream", name: "s", columns: SCHEMA, time: null, eventId: null, ...own },
    },
    {
      kind: "define query",
      definition: {
        ...{ kind: "query", name: "q", sql, plan, emit: "changes", inputs: ["s"], ...asked },
        retention: DEFAULT_RETENTION,
      },
    },
  ];
}

/** A run of a cluster whose processes keep copies of graphs, with all that can go wrong. Rejects if two of them have not the same. */
export async function copied(seed: number, plant: CopyPlant | null = null): Promise<CopiesFound> {
  const random = new Random(seed);
  let fail: (error: unknown) => void = () => {};
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => {});
  const chance = new Chance(random.fork(), random.pick([2, 4, 8]));
  chance.broken = fail;
  const replicas = random.pick([2, 3, 3, PROCESSES]);
  const found = { made: 0, taken: 0, diverged: 0, compared: 0 };
  const claims = new Map<string, number>();
  /** A process has this digest after so many records: all others have the same. */
  const claim = (context: string, position: number, digest: number) => {
    const name = `${context} at ${position}`;
    const known = claims.get(name);
    if (known !== undefined) found.compared += 1;
    if (known !== undefined && known !== digest)
      fail(new Error(`${name} is ${digest} in one process, and ${known} in another`));
    claims.set(name, digest);
  };
  const kept = new Map<SimProcess, HotCopies>();
  class WatchedCopies extends HotCopies {
    override handOver() {
      const engines = super.handOver();
      return {
        take: (prefix: string, position: number) => {
          const engine = engines.take(prefix, position);
          if (engine !== null) found.taken += 1;
          return engine;
        },
      };
    }
  }
  const stream = new SimStream();
  const parts = {
    program: Boards,
    division: divisionOf(["Boards"], undefined),
    streams: new Map([[OWN_LOG, stream]]),
    lostBetween: 0,
    luck: luckOf(random),
    random: random.fork(),
    chance,
    plant: null,
    copyPlant: plant,
    broken: fail,
    copiesOf: ({ process, gateway }: SimCluster["processes"][number]["seats"][number]) => {
      const copies = new WatchedCopies({
        member: process.name,
        fields: fieldsOf(plant, gateway.roots.values()),
        replicas,
        now: () => chance.now,
        every: (ms, callback) => process.every(ms, callback),
        onWarning: () => {
          found.diverged += 1;
        },
      });
      copies.onGrown((context) => {
        const copy = copies.of(context, "engine");
        if (copy !== null) claim(context, copy.position, copy.engine.digest ?? 0);
      });
      kept.set(process, copies);
      return copies;
    },
  };
  const cluster = new SimCluster(parts, PROCESSES);
  const likely = {
    pause: random.pick([0, 0.02]),
    kill: random.pick([0, 0.005]),
    leave: random.pick([0, 0.005]),
    another: random.pick([0, 0.02]),
  };
  let [isOver, hasEnded] = [false, false];
  const disturb = () => {
    if (chance.now > TIME_MAX_MS) return fail(new Error(`the cluster does not come to rest: ${cluster}`));
    chance.at(20, disturb);
    if (isOver) return;
    if (random.chance(likely.pause)) cluster.pause();
    if (random.chance(likely.kill)) cluster.kill();
    if (random.chance(likely.leave)) cluster.leave();
    if (random.chance(likely.another)) cluster.handOver();
  };
  disturb();
  const anywhere = async (
    board: string,
    method: string,
    args: unknown[],
    request?: string,
  ): Promise<unknown> => {
    const process = random.pick(cluster.processes);
    const root = process.gateway.roots.get("Boards");
    const slot = root?.shape.slots[0];
    assert.ok(root && slot);
    const target = root.child(slot, board);
    const asked = { target, method: target.shape.methods.get(method), args } as unknown as Asked;
    try {
      return await new Promise((resolve, reject) => {
        const payer = { caller: "test", part: "" };
        process.gateway.ask(asked, undefined, request, payer, { resolve, reject });
      });
    } catch (error) {
      const isGone = error instanceof HeadwaterError && error.code === "HW-1401" && process.isDead;
      if (!isGone || hasEnded) throw error;
      return anywhere(board, method, args, request);
    }
  };
  let requests = 0;
  const carryOut = (board: string, command: Command) =>
    anywhere(board, "carryOut", [encodeCommand(command)], `r${requests++}`);
  const client = async () => {
    for (let i = 0; i < PUSHES; i++) {
      const board = random.pick(BOARDS);
      const rows = Array.from(
        { length: 1 + random.int(20) },
        () => [`k${random.int(30)}`, random.int(100)] as const,
      );
      const batch = encodeBatch(Batch.of(SCHEMA, rows));
      const push = { stream: "s", producer: "", sequence: null, key: null, batch };
      assert.equal(await carryOut(board, { kind: "push", pushes: [push] }), 1);
      await look(board);
    }
  };
  const copiesOf = (context: string) =>
    cluster.processes.flatMap((process) => kept.get(process)?.of(context, "engine") ?? []);
  const look = async (board: string) => {
    const context = `Boards.boards(${JSON.stringify(board)})`;
    const copied = Math.max(0, ...copiesOf(context).map(({ position }) => position));
    const [position, digest] = (await anywhere(board, "seen", [])) as [number, number];
    claim(context, position, digest);
    if (position < copied)
      fail(new Error(`a copy of ${context} had ${copied} records, and there are ${position}`));
    return position;
  };
  /** Every copy that the ring asks for is there, and has everything. */
  const areThere = async () => {
    const positions = new Map<string, number>();
    for (const board of BOARDS) positions.set(`Boards.boards(${JSON.stringify(board)})`, await look(board));
    const standbys = cluster.processes.filter(({ member }) => member !== null && !member.isHead);
    return [...positions].every(([context, position]) => {
      const copies = standbys.flatMap((process) => kept.get(process)?.of(context, "engine") ?? []);
      return (
        copies.length >= Math.min(replicas - 1, standbys.length) &&
        copies.every((copy) => copy.position === position)
      );
    });
  };
  const all = async () => {
    for (const board of BOARDS)
      for (const command of await definitions()) assert.notEqual(await carryOut(board, command), "HW-5401");
    await Promise.all(Array.from({ length: CLIENTS }, client));
    isOver = true;
    if (plant === null)
      while (!(await areThere())) await new Promise<void>((resolve) => void chance.at(50, resolve));
  };
  try {
    await waitFor(`for the copies of seed ${seed}`, Promise.race([all(), broken]));
  } finally {
    [isOver, hasEnded] = [true, true];
    cluster.end();
  }
  for (const copies of kept.values()) found.made += copies.about().made;
  return { ...found, takeovers: cluster.takeovers };
}
