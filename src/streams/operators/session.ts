import { Batch, type Cell, type Schema } from "../columns/index.js";
import type { Plan } from "../plan/index.js";
import type { Operator } from "./operator.js";

/**
 * SESSION windows of an input that ends: rows with equal keys are in one session if no gap between neighbours in time
 * reaches the given length. The rows are kept until the end, since one late row can join two sessions; then they are
 * sorted by time within their key, and each goes on with the start and the end of its session. A row without a time is in no
 * session.
 */
export class Session implements Operator {
  readonly #byKey = new Map<string, (readonly Cell[])[]>();
  readonly #columns: Schema;
  readonly #time: number;
  readonly #keys: readonly number[];
  readonly #gapMs: number;

  constructor(
    plan: Extract<Plan, { kind: "session" }>,
    readonly next: Operator,
  ) {
    this.#columns = plan.columns;
    this.#time = plan.time;
    this.#keys = plan.keys;
    this.#gapMs = plan.gapMs;
  }

  push(batch: Batch): void {
    for (let i = 0; i < batch.rows; i++) {
      const row = batch.row(i);
      if (row[this.#time] === null) continue;
      const key = this.#keys.map((index) => nameOf(row[index] ?? null)).join();
      const rows = this.#byKey.get(key);
      if (rows === undefined) this.#byKey.set(key, [row]);
      else rows.push(row);
    }
  }

  end(): void {
    for (const rows of this.#byKey.values()) {
      const sessions = Batch.empty(this.#columns, rows.length);
      rows.sort((a, b) => this.#timeOf(a) - this.#timeOf(b));
      for (let first = 0, i = 1; i <= rows.length; i++) {
        const [last, here] = [rows[i - 1], rows[i]];
        const ends = this.#timeOf(last) + this.#gapMs;
        if (here !== undefined && this.#timeOf(here) < ends) continue;
        for (const row of rows.slice(first, i)) sessions.append([...row, this.#timeOf(rows[first]), ends]);
        first = i;
      }
      this.next.push(sessions);
    }
    this.#byKey.clear();
    this.next.end();
  }

  #timeOf(row: readonly Cell[] | undefined): number {
    return Number(row?.[this.#time]);
  }
}

/** Different cells have different names; both zeros are one value. */
function nameOf(cell: Cell): string {
  if (typeof cell === "string") return JSON.stringify(cell);
  return cell === null ? "null" : `${typeof cell === "boolean" ? "b" : ""}${cell === 0 ? "0" : String(cell)}`;
}
