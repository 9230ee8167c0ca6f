import { groupIds, specOf } from "../codegen/index.js";
import { appendRows, Batch, gathered, type NumberColumn } from "../columns/index.js";
import type { Plan } from "../plan/index.js";
import { KeyedTable } from "../tables/index.js";
import type { Operator } from "./operator.js";

/**
 * SESSION windows of an input that ends: rows with equal keys are in one session if no gap between neighbours in time
 * reaches the given length. The rows are kept until the end, since one late row can join two sessions, and each row knows the
 * number of its key. At the end they are put side by side by key with a counting sort, sorted by time within a key where they
 * are not, and go on with the start and the end of their sessions. A row without a time is in no session.
 */
export class SessionWindows implements Operator {
  readonly #plan: Extract<Plan, { kind: "session" }>;
  readonly #rows: Batch;
  readonly #keys: KeyedTable;
  readonly #groupIds: ReturnType<typeof groupIds>;
  #ids = new Int32Array(1024);

  constructor(
    plan: Extract<Plan, { kind: "session" }>,
    readonly next: Operator,
  ) {
    const { columns } = plan.input;
    this.#plan = plan;
    this.#rows = Batch.empty(columns);
    this.#groupIds = groupIds(columns, plan.keys);
    const keys = plan.keys.flatMap((index) => columns[index] ?? []);
    this.#keys = new KeyedTable(
      keys.map((spec, i) => specOf(`key${i}`, spec)),
      keys.length,
    );
  }

  push(batch: Batch): void {
    const from = this.#rows.rows;
    if (from + batch.rows > this.#ids.length) {
      const wider = new Int32Array(Math.max(from + batch.rows, 2 * this.#ids.length));
      wider.set(this.#ids);
      this.#ids = wider;
    }
    this.#groupIds(batch, this.#keys, this.#ids, from);
    appendRows(this.#rows, batch);
  }

  flush(): void {}

  watermark(): void {}

  end(): void {
    const { plan, order, starts } = { plan: this.#plan, ...this.#byKey() };
    const out = gathered(this.#rows, order, plan.columns);
    const width = plan.input.columns.length;
    const [time, first, last] = [plan.time, width, width + 1].map(
      (index) => (out.columns[index] as NumberColumn).values,
    );
    for (let key = 0; key + 1 < starts.length; key++)
      if (time !== undefined && first !== undefined && last !== undefined)
        sessions(time, first, last, starts[key] as number, starts[key + 1] as number, plan.gapMs);
    if (out.rows > 0) this.next.push(out);
    this.next.end();
  }

  /** The rows that have a time, ordered by key and time, and where each key's begin. */
  #byKey(): { readonly order: Int32Array; readonly starts: Int32Array } {
    const ids = this.#ids;
    const time = this.#rows.columns[this.#plan.time] as NumberColumn;
    const isTimed = (row: number) => time.nulls === null || time.nulls[row] === 0;
    const starts = new Int32Array(this.#keys.rows + 1);
    for (let row = 0; row < this.#rows.rows; row++)
      if (isTimed(row)) starts[(ids[row] as number) + 1] = (starts[(ids[row] as number) + 1] as number) + 1;
    for (let key = 1; key < starts.length; key++)
      starts[key] = (starts[key] as number) + (starts[key - 1] as number);
    const order = new Int32Array(starts.at(-1) ?? 0);
    const places = starts.slice();
    for (let row = 0; row < this.#rows.rows; row++) {
      const id = ids[row] as number;
      if (!isTimed(row)) continue;
      order[places[id] as number] = row;
      places[id] = (places[id] as number) + 1;
    }
    for (let key = 0; key + 1 < starts.length; key++)
      sortByTime(order.subarray(starts[key], starts[key + 1]), time.values);
    return { order, starts };
  }
}

function sortByTime(rows: Int32Array, times: Float64Array): void {
  for (let i = 1; i < rows.length; i++)
    if ((times[rows[i] as number] as number) < (times[rows[i - 1] as number] as number)) {
      rows.sort((a, b) => (times[a] as number) - (times[b] as number));
      return;
    }
}

/** Writes start and end of the sessions of one key, whose rows are sorted by time. */
function sessions(
  time: Float64Array,
  first: Float64Array,
  last: Float64Array,
  from: number,
  to: number,
  gapMs: number,
): void {
  for (let start = from, i = from + 1; i <= to; i++) {
    const end = (time[i - 1] as number) + gapMs;
    if (i < to && (time[i] as number) < end) continue;
    first.fill(time[start] as number, start, i);
    last.fill(end, start, i);
    start = i;
  }
}
