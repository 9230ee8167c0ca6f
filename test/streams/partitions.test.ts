import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Batch, type Cell, column, encodeBatch, type Schema } from "#src/streams/columns/index.js";
import { divide } from "#src/streams/graph/divide.js";
import {
  type Command,
  encodeCommand,
  GraphEngine,
  PartitionEngine,
  type QueryDefinition,
  type StreamDefinition,
  stamp,
} from "#src/streams/graph/index.js";
import { partitioningOf } from "#src/streams/plan/index.js";
import { planDefinition, stateLimitOf, withLimitedState } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { Owned } from "./owned.js";

const S: Schema = [
  column("k", "int"),
  column("g", "text"),
  column("v", "int", false),
  column("f", "float"),
  column("ts", "timestamp", false),
];
const T: Schema = [column("k", "int", false), column("name", "text")];
const RETENTION = { bytes: 1e9, ms: null };

const STREAM: StreamDefinition = {
  ...{ kind: "stream", name: "s", columns: S, key: [], eventId: null, retention: RETENTION },
  time: { column: 4, latenessMs: 1000, idleMs: 1e9 },
};
const TABLE: StreamDefinition = {
  ...{ kind: "table", name: "t", columns: T, key: [0], eventId: null, retention: RETENTION, time: null },
};

/** Queries that can be divided, of every operator; what reads them, as one, in rounds with what they read. */
const QUERIES = [
  "SELECT k, v FROM s WHERE v > 0",
  "SELECT k, 10 / v AS d FROM s",
  "SELECT g, count(*) AS n, sum(v) AS sum FROM s GROUP BY g",
  "SELECT k, g, max(v) AS top FROM s GROUP BY k, g HAVING count(*) < 3",
  "SELECT f, count(*) AS n FROM s GROUP BY f",
  "SELECT DISTINCT g, v FROM s",
  "SELECT g, sum(n) AS n FROM (SELECT k, g, count(*) AS n FROM s GROUP BY k, g) x GROUP BY g",
  "SELECT window_start, g, count(*) AS n FROM TUMBLE(s, ts, INTERVAL '10 seconds') GROUP BY 1, 2",
  "SELECT window_start, g, count(*) AS n FROM TUMBLE(s, ts, INTERVAL '10 seconds') GROUP BY 1, 2 EMIT ON WINDOW CLOSE",
  "SELECT g, window_start, window_end, count(*) AS n FROM SESSION(s, ts, g, INTERVAL '5 seconds') GROUP BY 1, 2, 3",
  "SELECT a.k, a.v AS x, b.v AS y FROM s a JOIN s b ON a.k = b.k AND a.v < b.v",
  "SELECT s.k, s.v, t.name FROM s LEFT JOIN t ON s.k = t.k",
  "SELECT s.v, t.name FROM s FULL JOIN t ON s.k = t.k",
  "SELECT t.k, count(*) AS n FROM s JOIN t ON s.k = t.k GROUP BY t.k",
  "SELECT k, v FROM s WHERE v NOT IN (SELECT k FROM t)",
  "SELECT k, v FROM s WHERE NOT EXISTS (SELECT FROM t WHERE t.k = s.k)",
  "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS r FROM s",
  "SELECT DISTINCT ON (g) g, v, k FROM s ORDER BY g, v",
  "SELECT k, g FROM s UNION ALL SELECT k, name FROM t",
  "SELECT k, count(*) AS n FROM (SELECT k, g FROM s UNION ALL SELECT k, name FROM t) u GROUP BY k",
  "SELECT a.k, a.v AS x, b.v AS y FROM s a JOIN s b ON a.k = b.k WITH (state_retention = '8 seconds')",
  "SELECT g, count(*) AS n, min(v) AS low FROM s GROUP BY g WITH (state_retention = '8 seconds')",
  "SELECT k, v, lag(v) OVER (PARTITION BY k ORDER BY ts) AS p FROM s WITH (state_retention = '8 seconds')",
  "SELECT u.k, count(*) AS n FROM u JOIN t ON u.k = t.k GROUP BY u.k WITH (state_retention = '2 milliseconds')",
] as const;

const U: Schema = [column("k", "int"), column("v", "int", false)];
const UNTIMED: StreamDefinition = {
  ...{ kind: "stream", name: "u", columns: U, key: [], eventId: null, retention: RETENTION, time: null },
};
const SPECS = {
  s: { schema: S, timeColumn: 4, kind: "stream", key: [] },
  t: { schema: T, timeColumn: null, kind: "table", key: [0] },
  u: { schema: U, timeColumn: null, kind: "stream", key: [] },
} as const;

const plans = new Map<string, QueryDefinition>();

before(async () => {
  for (const sql of QUERIES) {
    const query = await defined("q", sql, { s: S, t: T, u: U });
    plans.set(sql, query);
    const names = query.plan.columns.map((_, i) => `c${i}`).join(", ");
    const whole = `SELECT * FROM (SELECT * FROM q) AS q(${names})`;
    plans.set(`above ${sql}`, await defined("above", whole, { s: S, t: T, q: query.plan.columns }));
  }
});

async function defined(name: string, sql: string, tables: Record<string, Schema>): Promise<QueryDefinition> {
  const found = await planDefinition(sql, tables);
  assert.ok("plan" in found);
  const { resolved, options } = found;
  const { plan, refusal } = withLimitedState(
    found.plan,
    SPECS,
    resolved,
    stateLimitOf(options.state_retention),
  );
  if (options.state_retention !== undefined) assert.equal(refusal, null);
  return {
    ...{ kind: "query", name, sql, plan, emit: resolved.emit ?? "changes", inputs: resolved.scanned },
    ...{ backfill: true, key: null, retention: RETENTION, coordination: null, partitions: 1 },
  };
}

/** A graph with its partitions, as the contexts of the service have them. */
class Divided {
  readonly graph = new Owned(() => new GraphEngine());
  readonly partitions = Array.from({ length: 4 }, () => new Owned(() => new PartitionEngine()));
  #timeMs = 1000;

  carryOut(command: Command): void {
    const timeMs = this.#timeMs++;
    let { work, refused } = this.graph.apply(stamp(encodeCommand(command), timeMs));
    assert.equal(refused, null);
    while (work !== null) {
      const replies = work.map((records, i) =>
        records.map((record) => this.partitions[i]?.apply(record) ?? new Uint8Array()),
      );
      ({ work } = this.graph.apply(stamp(encodeCommand({ kind: "replies", replies }), timeMs)));
    }
  }

  /** All rows that a stream ever had, by the command that made them; those of one command in no order. */
  rounds(name: string): string[][] {
    const channel = this.graph.engine.nodes.channel(name);
    const rounds = new Map<number, string[]>();
    for (const segment of channel?.log.all ?? []) {
      const rows = rounds.get(segment.round) ?? [];
      rounds.set(segment.round, rows);
      const batch = channel?.rowsOf(segment);
      for (let i = 0; i < (batch?.rows ?? 0); i++) rows.push(`${batch?.weight(i)} ${batch?.row(i).join()}`);
    }
    return [...rounds.values()].map((rows) => rows.sort());
  }
}

const word = fc.option(fc.constantFrom("a", "b", "c"), { freq: 6 });
const key = fc.option(fc.integer({ min: 0, max: 4 }), { freq: 8 });
const row: fc.Arbitrary<Cell[]> = fc.tuple(
  ...[key, word, fc.integer({ min: -1, max: 3 })],
  fc.constantFrom(0, -0, Number.NaN, 1.5, null),
  fc.integer({ min: 0, max: 60 }).map((second) => second * 1000),
);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("push" as const),
      rows: fc.array(row, { maxLength: 8 }),
      upserts: fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), word), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ do: "define" as const }, { do: "tick" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("checkpoint" as const, "kill" as const),
      who: fc.integer({ min: 0, max: 4 }),
    }),
  },
);

function defineIn(graph: Divided, sql: string, partitions: number): void {
  const [query, above] = [plans.get(sql), plans.get(`above ${sql}`)];
  assert.ok(query !== undefined && above !== undefined);
  graph.carryOut({ kind: "define query", definition: { ...query, partitions } });
  graph.carryOut({ kind: "define query", definition: above });
}

for (const sql of QUERIES)
  test(`divided or not, with kills or without, the same rows come out: ${sql}`, () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 4 }),
        fc.array(step, { minLength: 2, maxLength: 12 }),
        (partitions, steps) => {
          const [whole, divided] = [new Divided(), new Divided()];
          const both = (command: Command) => {
            for (const graph of [whole, divided]) graph.carryOut(command);
          };
          both({ kind: "define stream", definition: STREAM });
          both({ kind: "define stream", definition: TABLE });
          both({ kind: "define stream", definition: UNTIMED });
          let isDefined = false;
          const define = () => {
            if (isDefined) return;
            isDefined = true;
            defineIn(whole, sql, 1);
            defineIn(divided, sql, partitions);
          };
          if (steps.length % 2 === 0) define(); // else it begins with what its inputs retain
          for (const each of steps) {
            if (each.do === "tick") both({ kind: "tick" });
            else if (each.do === "define") define();
            else if (each.do === "push") {
              const pushOf = (stream: string, batch: Batch) => ({
                ...{ stream, producer: "", sequence: null, key: null },
                batch: encodeBatch(batch),
              });
              const untimed = each.rows.map(([k = null, , v = null]) => [k, v]);
              const pushes = [
                ...[pushOf("s", Batch.of(S, each.rows)), pushOf("t", Batch.of(T, each.upserts))],
                pushOf("u", Batch.of(U, untimed)),
              ];
              both({ kind: "push", pushes });
            } else (divided.partitions[each.who] ?? divided.graph)[each.do]();
          }
          define();
          both({ kind: "seal", stream: "s", producer: "", upTo: null });
          for (const name of ["q", "q.late", "above"])
            assert.deepEqual(divided.rounds(name), whole.rounds(name), `${name} of ${partitions}`);
        },
      ),
      { numRuns: 12, includeErrorInReport: true },
    );
  });

test("rows that agree in the columns go to one partition, whatever they come with, and none is lost", () => {
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 30 }),
      fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 30, maxLength: 30 }),
      fc.subarray([0, 1, 2, 3, 4], { minLength: 1 }),
      (rows, weights, columns) => {
        const weighted = rows.map((_, i) => weights[i] ?? 1);
        const parts = [
          ...divide(Batch.of(S, rows, weighted), columns, 3),
          ...divide(Batch.of(S, rows.toReversed(), weighted.toReversed()), columns, 3),
        ];
        const place = new Map<string, number>();
        const seen: string[] = [];
        for (const [i, part] of parts.entries())
          for (let at = 0; at < part.rows; at++) {
            const cells = part.row(at);
            const text = columns.map((index) => String(cells[index])).join("|");
            assert.equal(place.get(text) ?? i % 3, i % 3);
            place.set(text, i % 3);
            seen.push(`${cells.join()} ${part.weight(at)}`);
          }
        const all = rows.map((cells, i) => `${Batch.of(S, [cells]).row(0).join()} ${weighted[i]}`);
        assert.deepEqual(seen.sort(), [...all, ...all].sort());
      },
    ),
    { numRuns: 100 },
  );
});

test("what takes all rows together cannot be divided, and it is said why", async () => {
  const cases: [string, RegExp][] = [
    ["SELECT count(*) FROM s", /without GROUP BY/],
    ["SELECT k FROM s ORDER BY v LIMIT 3", /LIMIT/],
    ["SELECT k, rank() OVER (ORDER BY v) FROM s", /PARTITION BY/],
    ["SELECT k + 1, count(*) FROM s GROUP BY k + 1", /GROUP BY/],
    ["SELECT s.v FROM s JOIN t ON s.v > t.k", /joins/],
    ["SELECT s.v FROM s JOIN t ON s.f = t.k", /joins/],
    ["SELECT a.v FROM s a JOIN s b ON a.k = b.v", /joins/],
    ["SELECT g, count(*) FROM (SELECT g, k FROM s ORDER BY v LIMIT 9) x GROUP BY g", /LIMIT/],
    ["SELECT v FROM s WHERE k NOT IN (SELECT k FROM t)", /NULL/],
    ["SELECT 1", /without FROM/],
  ];
  for (const [sql, why] of cases) {
    const found = await planDefinition(sql, { s: S, t: T });
    assert.ok("plan" in found);
    const partitioning = partitioningOf(found.plan);
    assert.ok(partitioning.kind === "none", sql);
    assert.match(partitioning.because, why, sql);
  }
});
