import assert from "node:assert/strict";
import { Batch, type Cell, type Schema } from "#src/streams/columns/index.js";
import { type StandingOptions, type StandingQuery, standingQuery } from "#src/streams/operators/index.js";
import type { InputSpec, Plan } from "#src/streams/plan/index.js";
import fc from "../properties.js";

/** Rows of a table that are added (+1) or taken back (-1) together. */
export interface Change {
  readonly table: string;
  readonly rows: readonly (readonly Cell[])[];
  readonly weights: readonly number[];
}

/** What happens to a standing query: batches come, rounds end, and it goes over into a fresh one by its checkpoint. */
export type Step = Change | "flush" | "checkpoint" | "restart";

/** How a table changes: rows are added, and some that are there are taken back. */
function changeOf(
  table: string,
  retracts: boolean,
  present: (readonly Cell[])[],
  picks: readonly number[],
  rows: readonly (readonly Cell[])[],
): Change {
  const changed: (readonly Cell[])[] = [];
  const weights: number[] = [];
  for (const [i, each] of rows.entries()) {
    const pick = picks[i] ?? 1;
    const at = pick % 2 === 0 && retracts ? pick % Math.max(present.length, 1) : -1;
    const taken = at < 0 ? undefined : present[at];
    if (taken !== undefined) {
      present.splice(at, 1);
      changed.push(taken);
      weights.push(-1);
      if (pick % 3 !== 0) continue;
    }
    present.push(each);
    changed.push(each);
    weights.push(1);
  }
  return { table, rows: changed, weights };
}

/** Random histories of tables: what is taken back was there before. */
export function histories(
  tables: Readonly<
    Record<string, { readonly row: fc.Arbitrary<readonly Cell[]>; readonly retracts: boolean }>
  >,
  maxLength = 12,
): fc.Arbitrary<Step[]> {
  const names = Object.keys(tables);
  const change = fc.constantFrom(...names).chain((name) => {
    const { row } = tables[name] ?? { row: fc.constant([]) };
    return fc.tuple(
      fc.constant(name),
      fc.array(row, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat({ max: 1000 }), { minLength: 5, maxLength: 5 }),
    );
  });
  const step = fc.oneof(
    { weight: 6, arbitrary: change },
    { weight: 3, arbitrary: fc.constant("flush" as const) },
    { weight: 1, arbitrary: fc.constantFrom("checkpoint" as const, "restart" as const) },
  );
  return fc.array(step, { maxLength }).map((steps) => {
    const present = new Map(names.map((name) => [name, [] as (readonly Cell[])[]]));
    return steps.map((each): Step => {
      if (typeof each === "string") return each;
      const [name, rows, picks] = each;
      return changeOf(name, tables[name]?.retracts === true, present.get(name) ?? [], picks, rows);
    });
  });
}

/** Weighted rows, added up. */
export class Multiset {
  readonly #counts = new Map<string, number>();

  add(batch: Batch): void {
    for (let i = 0; i < batch.rows; i++) this.put(batch.row(i), batch.weight(i));
  }

  put(row: readonly Cell[], weight = 1): void {
    const name = named(row);
    const count = (this.#counts.get(name) ?? 0) + weight;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }

  /** Adds all that another one has. */
  join(other: Multiset): void {
    for (const [name, count] of other.#counts) {
      const sum = (this.#counts.get(name) ?? 0) + count;
      if (sum === 0) this.#counts.delete(name);
      else this.#counts.set(name, sum);
    }
  }

  get rows(): [string, number][] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** Both zeros are one value. */
function named(row: readonly Cell[]): string {
  return row.map((each) => (each === 0 ? "number 0" : `${typeof each} ${String(each)}`)).join(", ");
}

export function stream(schema: Schema, timeColumn: number | null = null): InputSpec {
  return { schema, timeColumn, kind: "stream", key: [] };
}

export function changelog(schema: Schema): InputSpec {
  return { schema, timeColumn: null, kind: "changelog", key: [] };
}

/** A standing query whose results add up, and that can be restarted from its checkpoint. */
export class Running {
  readonly results = new Multiset();
  /** All that came out, row by row. */
  readonly emitted: { readonly row: readonly Cell[]; readonly weight: number }[] = [];
  query: StandingQuery;
  readonly #parts = new Map<string, Uint8Array>();
  readonly #start: () => StandingQuery;

  constructor(plan: Plan, options: StandingOptions, seen: (batch: Batch) => void = () => {}) {
    this.#start = () => {
      const query = standingQuery(plan, options, {
        rows: (batch) => {
          if (query.isAppendOnly)
            for (let i = 0; i < batch.rows; i++) assert.ok(batch.weight(i) > 0, "nothing is taken back");
          this.results.add(batch);
          for (let i = 0; i < batch.rows; i++)
            this.emitted.push({ row: batch.row(i), weight: batch.weight(i) });
          seen(batch);
        },
        watermark: () => {},
      });
      return query;
    };
    this.query = this.#start();
  }

  push({ table, rows, weights }: Change, schema: Schema): void {
    const isPlain = weights.every((weight) => weight === 1);
    this.query.push(table, Batch.of(schema, rows, isPlain ? undefined : weights));
  }

  checkpoint(): void {
    for (const [name, bytes] of this.query.checkpoint())
      if (bytes === null) this.#parts.delete(name);
      else this.#parts.set(name, Uint8Array.from(bytes));
  }

  /** Goes on with a fresh query that has loaded the checkpoint. */
  restart(): void {
    this.checkpoint();
    this.query = this.#start();
    this.query.load(this.#parts);
  }
}
