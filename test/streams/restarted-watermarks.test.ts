import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch, column, type Schema } from "#src/streams/columns/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { Running, stream } from "./standing.js";

const ROWS: Schema = [column("k", "int", false), column("at", "timestamp", false)];
const windowed = (name: string) => `tumble(${name}, at, interval '10 milliseconds')`;
const QUERIES = {
  "a union": `select x.window_end, x.k, count(*) as n from (select window_end, k from ${windowed("a")} union all
    select window_end, k from ${windowed("b")}) x group by 1, 2`,
  "a join": `select x.window_end, x.k, count(*) as n from ${windowed("a")} x
    join ${windowed("b")} y on y.window_end = x.window_end and y.k = x.k group by 1, 2`,
};

interface Told {
  readonly table: "a" | "b";
  readonly rows: readonly (readonly [k: number, ahead: number])[];
  /** How far the watermark of the stream goes on. */
  readonly by: number;
  readonly isRestarted: boolean;
}

const told: fc.Arbitrary<Told> = fc.record({
  table: fc.constantFrom("a", "b"),
  rows: fc.array(fc.tuple(fc.constantFrom(1, 2), fc.nat({ max: 30 })), { maxLength: 3 }),
  by: fc.nat({ max: 25 }),
  isRestarted: fc.boolean(),
});

for (const [name, sql] of Object.entries(QUERIES))
  test(`windows above ${name} close at the same moments over restarts, while one stream is quiet`, async () => {
    const plan = await planQuery(sql, { a: ROWS, b: ROWS });
    fc.assert(
      fc.property(fc.array(told, { maxLength: 15 }), (all) => {
        const run = (restarts: boolean) => {
          const inputs = { a: stream(ROWS, 1), b: stream(ROWS, 1) };
          const running = new Running(plan, { emit: "on window close", inputs });
          const watermarks = { a: 0, b: 0 };
          return all.map(({ table, rows, by, isRestarted }) => {
            const before = running.emitted.length;
            const now = watermarks[table];
            if (rows.length > 0)
              running.query.push(
                table,
                Batch.of(
                  ROWS,
                  rows.map(([k, ahead]) => [k, now + ahead]),
                ),
              );
            running.query.flush();
            watermarks[table] += by;
            running.query.watermark(table, watermarks[table]);
            running.query.flush();
            if (restarts && isRestarted) running.restart();
            return running.emitted
              .slice(before)
              .map((each) => JSON.stringify(each))
              .sort(); // within a round, any order
          });
        };
        assert.deepEqual(run(true), run(false));
      }),
    );
  });
