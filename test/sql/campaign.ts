import type { Cell } from "#src/streams/columns/index.js";
import fc from "../properties.js";
import { histories } from "../streams/standing.js";
import { type Postgres, startPostgres } from "./postgres.js";
import { CREATION, compareStanding, overStreams } from "./standing.js";
import { nested } from "./subquery-queries.js";
import { query } from "./typed-queries.js";
import { windowed } from "./windowed-queries.js";

const time = (text: string) => Date.parse(`${text}Z`);
const some = (...values: readonly Cell[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...values) }, fc.constant(null));

/** Few values, so that rows meet; only the id tells all rows apart. */
const row = fc.tuple(
  fc.noShrink(fc.nat({ max: 2 ** 31 - 1 })),
  some(-3, 0, 1, 2, 7, 100),
  some(-1, 0, 1, 2, 5_000_000_000),
  some(-15_000, 0, 2500, 10_000, 21_250, 333_333),
  some(-2.5, 0, 0.5, 1, 2, 1024),
  some("", "a", "B", "ab", "10", "9", "a%b", "x_y", "日€😀"),
  some(true, false),
  some(time("2024-02-29T00:00"), time("2024-03-01T00:00"), time("1999-12-31T00:00")),
  some(
    ...[time("2024-02-29T12:30:45"), time("2024-02-29T12:30:45.25") + 0.007, 0, time("2024-03-01T00:00")],
    ...[time("2024-02-29T12:44"), time("2024-02-29T13:01"), time("2024-02-29T11:59:59.999")],
  ),
  some('{"a": 1}', '{"a": "x", "bb": [1, 2]}', "[1, 2, 3]", '"t"', "null", "7"),
);

export interface Tally {
  compared: number;
  failed: number;
  /** In which words, and how often. */
  readonly refused: Map<string, number>;
}

export type Kind = "stream" | "changelog";

/** Random queries over random histories of two streams, or of two changelogs. A difference is thrown, shrunk. */
export async function compareRandom(
  postgres: Postgres,
  kind: Kind,
  numRuns: number,
  seed?: number,
): Promise<Tally> {
  const tally: Tally = { compared: 0, failed: 0, refused: new Map() };
  const given = { row, retracts: kind === "changelog" };
  const pair = fc.oneof(
    { weight: 3, arbitrary: nested.map(overStreams).map((sql) => ({ sql, theirs: sql })) },
    { weight: 6, arbitrary: query.map(overStreams).map((sql) => ({ sql, theirs: sql })) },
    windowed,
  );
  await fc.assert(
    fc.asyncProperty(pair, histories({ t0: given, u0: given }, 9), async ({ sql, theirs }, steps) => {
      const outcome = await compareStanding(postgres, sql, steps, kind, theirs);
      if ("compared" in outcome) tally.compared++;
      if ("failed" in outcome) tally.failed++;
      if (!("refused" in outcome)) return;
      const why = outcome.refused.split("\n")[0] ?? "";
      tally.refused.set(why, (tally.refused.get(why) ?? 0) + 1);
    }),
    { numRuns, includeErrorInReport: true, ...(seed === undefined ? {} : { seed }) },
  );
  return tally;
}

export async function openPostgres(): Promise<Postgres> {
  const postgres = await startPostgres();
  await postgres.client.query(CREATION);
  return postgres;
}

/** Runs seeds one after the other until the time is over, and says what it found; the exit code of the command. */
export async function fuzzSql(options: { readonly seed: number; readonly minutes: number }): Promise<number> {
  const postgres = await openPostgres();
  const until = performance.now() + options.minutes * 60_000;
  let [seed, compared, failed] = [options.seed, 0, 0];
  try {
    for (; performance.now() < until; seed++)
      for (const kind of ["stream", "changelog"] as const) {
        const tally = await compareRandom(postgres, kind, 100, seed);
        compared += tally.compared;
        failed += tally.failed;
        for (const [why, count] of tally.refused) console.log(`refused ${count} times: ${why}`);
      }
    console.log(
      `${compared} queries compared, ${failed} given up at a row without a value; next seed ${seed}`,
    );
    return 0;
  } catch (error) {
    console.log(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    await postgres.stop();
  }
}
