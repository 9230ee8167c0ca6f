import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Batch, column, encodeBatch } from "#src/streams/columns/index.js";
import {
  type Command,
  DEFAULT_RETENTION,
  encodeCommand,
  GraphEngine,
  type QueryDefinition,
  type StreamDefinition,
  stamp,
} from "#src/streams/graph/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { type Filter, GraphModel, type ModelPush, type Row, rowOf } from "./graph-model.js";
import { Owned } from "./owned.js";

const SCHEMA = [column("id", "text"), column("v", "int"), column("t", "timestamp", false)];
const STREAMS = ["s0", "s1"];
const QUERIES = ["q0", "q1", "q2"];
const FILTERS: readonly Filter[] = [
  { add: 1, modulus: 2 },
  { add: 3, modulus: 3 },
  { add: -2, modulus: 5 },
];

const plans = new Map<string, QueryDefinition["plan"]>();

function sqlOf(input: string, { add, modulus }: Filter): string {
  return `SELECT id, v + ${add} AS v, t FROM ${input} WHERE v % ${modulus} <> 0`;
}

before(async () => {
  for (const input of [...STREAMS, ...QUERIES])
    for (const filter of FILTERS) {
      const sql = sqlOf(input, filter);
      plans.set(sql, await planQuery(sql, { [input]: SCHEMA }));
    }
});

function streamOf(name: string, given: Partial<StreamDefinition> = {}): StreamDefinition {
  return {
    kind: "stream",
    name,
    columns: SCHEMA,
    key: [],
    time: null,
    eventId: null,
    retention: { bytes: 1e9, ms: null },
    ...given,
  };
}

function queryOf(name: string, input: string, filter: Filter, backfill = false): QueryDefinition {
  const sql = sqlOf(input, filter);
  const plan = plans.get(sql);
  assert.ok(plan);
  const retention = { bytes: 1e9, ms: null };
  const asked = { backfill, key: null, retention, coordination: null, partitions: 1 };
  return { kind: "query", name, sql, plan, emit: "changes", inputs: [input], ...asked };
}

function pushOf({ rows, ...push }: ModelPush) {
  return { ...push, batch: encodeBatch(Batch.of(SCHEMA, rows)) };
}

/** A graph that is killed now and then: it goes on from its last checkpoint and the records since. */
class Killed extends Owned<GraphEngine> {
  #timeMs = 1000;

  constructor() {
    super(() => new GraphEngine());
  }

  carryOut(command: Command) {
    return this.apply(stamp(encodeCommand(command), this.#timeMs++));
  }

  rows(name: string): { readonly first: number; readonly rows: Row[] } {
    const channel = this.engine.nodes.channel(name);
    assert.ok(channel);
    const rows = channel.log.all.flatMap((segment) => {
      const batch = channel.rowsOf(segment);
      return Array.from({ length: batch.rows }, (_, i) => rowOf(batch.row(i)));
    });
    return { first: channel.log.first, rows };
  }
}

const row = fc.tuple(
  fc.option(fc.constantFrom("a", "b", "c", "d")),
  fc.option(fc.integer({ min: -9, max: 9 })),
  fc.integer({ min: 0, max: 100 }),
);
const push = fc.record({
  stream: fc.constantFrom(...STREAMS),
  producer: fc.constantFrom("", "p", "r"),
  sequence: fc.option(fc.integer({ min: 1, max: 6 })),
  key: fc.option(fc.constantFrom("k1", "k2"), { freq: 4 }),
  rows: fc.array(row, { maxLength: 4 }),
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant("push" as const), pushes: fc.array(push, { maxLength: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("stream" as const),
      name: fc.constantFrom(...STREAMS),
      dedup: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("query" as const),
      name: fc.constantFrom(...QUERIES),
      input: fc.constantFrom(...STREAMS, ...QUERIES),
      filter: fc.constantFrom(...FILTERS),
      backfill: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("remove" as const),
      name: fc.constantFrom(...STREAMS, ...QUERIES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("tick" as const, "checkpoint" as const, "kill" as const) }),
  },
);

function codeOf(refused: { readonly code: string } | null): string | null {
  return refused?.code ?? null;
}

test("a graph does what its model does, whatever the commands, checkpoints and kills", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      const [graph, model] = [new Killed(), new GraphModel()];
      graph.carryOut({ kind: "define stream", definition: streamOf("s0") });
      model.defineStream("s0", false);
      for (const each of steps) {
        switch (each.do) {
          case "push": {
            const { answers } = graph.carryOut({ kind: "push", pushes: each.pushes.map(pushOf) });
            const expected = each.pushes.map((one) => model.push(one));
            assert.deepEqual(
              answers.map((answer) => ("code" in answer ? { code: answer.code } : answer)),
              expected,
            );
            break;
          }
          case "stream": {
            const eventId = each.dedup ? { column: 0, keepMs: 1e12 } : null;
            const definition = streamOf(each.name, { eventId });
            const { refused } = graph.carryOut({ kind: "define stream", definition });
            assert.equal(codeOf(refused), model.defineStream(each.name, each.dedup));
            break;
          }
          case "query": {
            const definition = queryOf(each.name, each.input, each.filter, each.backfill);
            const { refused } = graph.carryOut({ kind: "define query", definition });
            const expected = model.defineQuery(each.name, each.input, each.filter, each.backfill);
            assert.equal(codeOf(refused), expected);
            break;
          }
          case "remove":
            assert.equal(
              codeOf(graph.carryOut({ kind: "remove", name: each.name }).refused),
              model.remove(each.name),
            );
            break;
          case "tick":
            graph.carryOut({ kind: "tick" });
            break;
          case "checkpoint":
            graph.checkpoint();
            break;
          case "kill":
            graph.kill();
        }
      }
      graph.checkpoint();
      graph.kill();
      assert.deepEqual(
        graph.engine.nodes.channels.map(({ name }) => name).filter((name) => !name.includes(".")),
        [...model.nodes.keys()],
      );
      for (const [name, { rows, first }] of model.nodes)
        assert.deepEqual(graph.rows(name), { first, rows }, name);
    }),
    { numRuns: 300 },
  );
});

test("the query graph of Stormy's figure 1 grows and shrinks while events flow", () => {
  const graph = new Killed();
  const define = (name: string, input: string, filter: Filter) => {
    const { refused } = graph.carryOut({ kind: "define query", definition: queryOf(name, input, filter) });
    assert.equal(refused, null);
  };
  const push = (stream: string, v: number) => {
    const one = { stream, producer: "", sequence: null, key: null, rows: [["x", v, 0] as Row] };
    return graph.carryOut({ kind: "push", pushes: [pushOf(one)] }).grown.map(([name]) => name);
  };
  graph.carryOut({ kind: "define stream", definition: streamOf("s0") });
  const [q1 = "", q2 = "", q3 = ""] = QUERIES;
  const [odd, thirds] = FILTERS as [Filter, Filter];
  assert.deepEqual(push("s0", 1), ["s0"]);
  define(q1, "s0", odd);
  define(q2, "s0", thirds);
  define(q3, q2, odd);
  assert.deepEqual(push("s0", 4), ["s0", q2, q3]); // 4 is even; 4 + 3 is odd
  const inUse = graph.carryOut({ kind: "remove", name: q2 }).refused;
  assert.equal(inUse?.code, "HW-5404");
  assert.match(inUse?.message ?? "", /read by q2\./);
  assert.equal(graph.carryOut({ kind: "remove", name: q3 }).refused, null);
  assert.equal(graph.carryOut({ kind: "remove", name: q2 }).refused, null);
  assert.deepEqual(push("s0", 1), ["s0", q1]);
});

test("numbers of rows go on after a name was used before, also over a checkpoint", () => {
  const graph = new Killed();
  const one = { stream: "s0", producer: "", sequence: null, key: null, rows: [["x", 1, 0] as Row] };
  const push = () => graph.carryOut({ kind: "push", pushes: [pushOf(one)] }).answers[0];
  graph.carryOut({ kind: "define stream", definition: streamOf("s0") });
  assert.deepEqual(push(), { first: 1, rows: 1, duplicates: 0, isRepeated: false });
  graph.carryOut({ kind: "remove", name: "s0" });
  graph.checkpoint();
  graph.kill();
  graph.carryOut({ kind: "define stream", definition: streamOf("s0") });
  assert.deepEqual(push(), { first: 2, rows: 1, duplicates: 0, isRepeated: false });
});

test("a log retains its last rows within its bytes, and its checkpoint does not grow with what is gone", () => {
  const graph = new Killed();
  const retention = { bytes: 2000, ms: null };
  graph.carryOut({ kind: "define stream", definition: streamOf("s0", { retention }) });
  for (let i = 0; i < 200; i++) {
    const one = { stream: "s0", producer: "", sequence: null, key: null, rows: [["x", i, 0] as Row] };
    graph.carryOut({ kind: "push", pushes: [pushOf(one)] });
    if (i % 10 === 0) graph.checkpoint();
    if (i % 70 === 0) graph.kill();
  }
  graph.kill();
  const { first, rows } = graph.rows("s0");
  assert.ok(rows.length > 5 && rows.length < 2000 / 48, String(rows.length));
  assert.equal(first + rows.length, 201);
  assert.equal(rows.at(-1)?.[1], 199);
  assert.ok(graph.partCount < 10, String(graph.partCount));
  assert.ok(graph.engine.memoryBytes < 5000);
});

test("event ids are forgotten after their time", () => {
  const graph = new Killed();
  const eventId = { column: 0, keepMs: 3 }; // the clock of these tests goes on by 1 ms with each command
  graph.carryOut({ kind: "define stream", definition: streamOf("s0", { eventId }) });
  const one = { stream: "s0", producer: "", sequence: null, key: null, rows: [["x", 1, 0] as Row] };
  const push = () => graph.carryOut({ kind: "push", pushes: [pushOf(one)] }).answers[0];
  assert.equal((push() as { rows: number }).rows, 1);
  assert.equal((push() as { rows: number }).rows, 0);
  graph.checkpoint();
  graph.kill();
  assert.equal((push() as { duplicates: number }).duplicates, 1);
  for (let i = 0; i < 5; i++) graph.carryOut({ kind: "tick" });
  assert.equal((push() as { rows: number }).rows, 1);
});

test("a batch that cannot be read is refused and changes nothing", () => {
  const graph = new Killed();
  graph.carryOut({ kind: "define stream", definition: streamOf("s0", { retention: DEFAULT_RETENTION }) });
  const batch = Uint8Array.from([1, 2, 3]);
  const push = { stream: "s0", producer: "p", sequence: 1, key: null, batch };
  const { answers } = graph.carryOut({ kind: "push", pushes: [push] });
  assert.deepEqual(
    answers.map((answer) => ("code" in answer ? answer.code : null)),
    ["HW-5301"],
  );
  const good = pushOf({ ...push, rows: [["x", 1, 0]] });
  assert.deepEqual(graph.carryOut({ kind: "push", pushes: [good] }).answers, [
    { first: 1, rows: 1, duplicates: 0, isRepeated: false },
  ]);
});

const MALFORMED: readonly [why: RegExp, given: Partial<StreamDefinition>][] = [
  [/cannot be a name/, { name: "Robert'); DROP" }],
  [/cannot be a name/, { name: "a".repeat(64) }],
  [/1 to 1000 columns/, { columns: [] }],
  [/two columns/, { columns: [column("a", "int"), column("a", "text")] }],
  [/primary key/, { kind: "table" }],
  [/no primary key/, { key: [0] }],
  [/type timestamp/, { time: { column: 0, latenessMs: 0, idleMs: 1 } }],
  [/must be a column/, { eventId: { column: 9, keepMs: 1 } }],
  [/retention/, { retention: { bytes: Number.NaN, ms: null } }],
];

for (const [why, given] of MALFORMED)
  test(`a definition is refused: ${why.source}`, () => {
    const { refused } = new Killed().carryOut({ kind: "define stream", definition: streamOf("s", given) });
    assert.equal(refused?.code, "HW-5403");
    assert.match(refused?.message ?? "", why);
  });
