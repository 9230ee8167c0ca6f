import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "#src/random.js";
import { Batch, encodeBatch } from "#src/streams/columns/index.js";
import {
  type Command,
  encodeCommand,
  GraphEngine,
  isRefused,
  type Push,
  type QueryDefinition,
  stamp,
} from "#src/streams/graph/index.js";
import { planDefinition } from "#src/streams/sql/index.js";
import { HoldModel, KEY, type ModelRow, SCHEMA, STREAM } from "./seals-model.js";

const RETENTION = { bytes: 1e9, ms: null };
const SQL = "SELECT k, v FROM s GROUP BY k, v HAVING count(*) < 2";
const STEPS = 120;

async function queryDefinition(sealedOn: readonly string[] | null): Promise<QueryDefinition> {
  const defined = await planDefinition(SQL, { s: SCHEMA });
  assert.ok("plan" in defined);
  return {
    ...{ kind: "query", name: "q", sql: SQL, plan: defined.plan, emit: "changes", inputs: ["s"] },
    ...{ backfill: false, key: null, retention: RETENTION, coordination: null, partitions: 1 },
    ...(sealedOn === null ? {} : { sealedOn }),
  };
}

/** An engine that is killed now and then: only what a checkpoint has written is there afterwards. */
class Killed {
  #engine = new GraphEngine();
  readonly #parts = new Map<string, Uint8Array>();
  #timeMs = 1;

  carryOut(command: Command) {
    return this.#engine.apply(stamp(encodeCommand(command), this.#timeMs++));
  }

  kill(): void {
    for (const [name, bytes] of this.#engine.checkpoint())
      if (bytes === null) this.#parts.delete(name);
      else this.#parts.set(name, Buffer.from(bytes));
    this.#engine = new GraphEngine();
    this.#engine.load(this.#parts);
  }

  get nodes() {
    return this.#engine.nodes;
  }

  answers(): { readonly added: string[]; readonly isFinal: boolean } {
    const channel = this.nodes.channel("q");
    const added: string[] = [];
    let isFinal = true;
    for (const segment of channel?.log.all ?? []) {
      const batch = channel?.rowsOf(segment);
      for (let i = 0; i < (batch?.rows ?? 0); i++) {
        if ((batch?.weight(i) ?? 0) > 0) added.push(JSON.stringify(batch?.row(i)));
        else isFinal = false;
      }
    }
    return { added: added.sort(), isFinal };
  }
}

const PRODUCERS = ["a", "b", "c", "d"] as const;
const KEYS = ["k1", "k2", "k3", null] as const;

test("random producers that come and go, refused and repeated batches, kills: what comes out is what the model says", async () => {
  const definition = await queryDefinition(["k"]);
  let [refusals, releases, repeats] = [0, 0, 0];
  for (let seed = 1; seed <= 25; seed++) {
    const random = new Random(seed);
    const engine = new Killed();
    const model = new HoldModel(["a", "b"]);
    engine.carryOut({ kind: "define stream", definition: STREAM });
    engine.carryOut({ kind: "define query", definition });
    const next = new Map<string, number>();
    const keyAt = (step: number) => {
      const key = random.pick(KEYS);
      return key === null ? null : `${key}-${Math.floor(step / 30)}`; // later steps have partitions of their own
    };
    for (let step = 0; step < STEPS; step++) {
      if (random.chance(0.05)) engine.kill();
      if (random.chance(0.06)) {
        const producers = PRODUCERS.filter(() => random.chance(0.6));
        const { refused } = engine.carryOut({ kind: "producers", stream: "s", producers });
        assert.equal(refused === null, producers.length > 0);
        if (producers.length > 0) model.declare(producers);
        continue;
      }
      const producer = random.pick(PRODUCERS);
      const rows = Array.from({ length: random.int(4) }, (): ModelRow => [keyAt(step), random.int(3)]);
      const seals = Array.from({ length: random.int(3) }, () => keyAt(step));
      const sequence = next.get(producer) ?? 1;
      const push = {
        ...{ stream: "s", producer, sequence, key: null, batch: encodeBatch(Batch.of(SCHEMA, rows)) },
        ...(seals.length === 0
          ? {}
          : {
              seals: encodeBatch(
                Batch.of(
                  KEY,
                  seals.map((key) => [key]),
                ),
              ),
            }),
      };
      const [answer] = engine.carryOut({ kind: "push", pushes: [push] }).answers;
      assert.ok(answer !== undefined);
      const isTaken = model.push(producer, rows, seals);
      assert.equal(!isRefused(answer), isTaken, `seed ${seed}, step ${step}: ${JSON.stringify(answer)}`);
      if (!isTaken) {
        assert.equal(isRefused(answer) ? answer.code : "", "HW-5411");
        refusals++;
        continue;
      }
      next.set(producer, sequence + 1);
      if (!random.chance(0.2)) continue;
      repeats++;
      const [again] = engine.carryOut({ kind: "push", pushes: [push] }).answers;
      assert.deepEqual(again, { ...answer, isRepeated: true });
    }
    const { added, isFinal } = engine.answers();
    assert.deepEqual(added, model.answers(), `seed ${seed}`);
    assert.ok(isFinal, "an answer for a sealed partition is never taken back");
    const hold = engine.nodes.source("s")?.hold;
    assert.equal(hold?.described.open, model.open.size);
    releases += model.released;
    for (const producer of model.producers)
      engine.carryOut({ kind: "seal", stream: "s", producer, upTo: null });
    assert.equal(hold?.described.heldBytes, 0, "what all producers have finished is held no longer");
  }
  assert.ok(refusals > 50 && releases > 50 && repeats > 50, `${refusals} ${releases} ${repeats}`);
});

test("answers for sealed partitions are the same for every interleaving; accepted without seals, they differ", async () => {
  const [sealed, accepted] = [await queryDefinition(["k"]), await queryDefinition(null)];
  const random = new Random(7);
  const sent = ["a", "b"].flatMap((producer) =>
    Array.from({ length: 12 }, (): { producer: string; row: ModelRow } => ({
      ...{ producer, row: [random.pick(["x", "y"]), random.int(4)] },
    })),
  );
  const run = (definition: QueryDefinition) => {
    const engine = new Killed();
    engine.carryOut({ kind: "define stream", definition: STREAM });
    engine.carryOut({ kind: "define query", definition });
    const queues = ["a", "b"].map((name) => sent.filter(({ producer }) => producer === name));
    let pushes: Push[] = [];
    for (let left = queues; left.length > 0; left = left.filter((queue) => queue.length > 0)) {
      const { producer, row } = random.pick(left).shift() ?? {};
      if (producer === undefined || row === undefined) continue;
      const batch = encodeBatch(Batch.of(SCHEMA, [row]));
      pushes.push({ stream: "s", producer, sequence: null, key: null, batch });
      if (random.chance(0.5)) continue;
      engine.carryOut({ kind: "push", pushes });
      pushes = [];
      if (random.chance(0.1)) engine.kill();
    }
    engine.carryOut({ kind: "push", pushes });
    for (const producer of random.chance(0.5) ? ["a", "b"] : ["b", "a"]) {
      const seals = encodeBatch(Batch.of(KEY, [["x"], ["y"]]));
      const batch = encodeBatch(Batch.of(SCHEMA, []));
      engine.carryOut({
        kind: "push",
        pushes: [{ stream: "s", producer, sequence: null, key: null, batch, seals }],
      });
    }
    return JSON.stringify(engine.answers());
  };
  const runs = Array.from({ length: 30 }, () => run(sealed));
  assert.deepEqual(new Set(runs), new Set([runs[0]]));
  assert.ok(new Set(Array.from({ length: 30 }, () => run(accepted))).size > 1);
});

test("held bytes have an end: no partition begins above it, and those that have begun can be completed", async () => {
  const engine = new Killed();
  const seals = { ...STREAM.seals, holdBytes: 20_000 };
  engine.carryOut({ kind: "define stream", definition: { ...STREAM, seals } });
  engine.carryOut({ kind: "define query", definition: await queryDefinition(["k"]) });
  const push = (producer: string, rows: readonly ModelRow[], sealed: readonly string[] = []) => {
    const batch = encodeBatch(Batch.of(SCHEMA, rows));
    const keys =
      sealed.length === 0
        ? {}
        : {
            seals: encodeBatch(
              Batch.of(
                KEY,
                sealed.map((key) => [key]),
              ),
            ),
          };
    return engine.carryOut({
      kind: "push",
      pushes: [{ stream: "s", producer, sequence: null, key: null, batch, ...keys }],
    }).answers[0];
  };
  const codeOf = (answer: ReturnType<typeof push>) =>
    answer !== undefined && isRefused(answer) ? answer.code : null;
  let begun = 0;
  while (codeOf(push("a", [[`p${begun}`, begun]])) === null) begun++;
  assert.ok(begun > 5);
  assert.equal(codeOf(push("a", [[`p${begun}`, 0]])), "HW-5408", "no other partition begins");
  assert.equal(codeOf(push("b", [["p0", 9]], ["p0"])), null, "a partition that has begun goes on");
  let more = 0;
  while (more < 1000 && codeOf(push("a", [["p0", more]])) === null) more++;
  assert.ok(more > 0 && more < 1000, "up to twice as much");
  assert.equal(codeOf(push("a", [], ["p0"])), null, "a seal is taken, and gives room");
  assert.equal(codeOf(push("a", [["p1", 1]])), null);
});
