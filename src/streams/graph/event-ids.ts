import { type Batch, gathered } from "../columns/index.js";
import type { EventId } from "./definition.js";
import { hashOf, SeenValues } from "./seen.js";

/** Rows with new ids, and these ids for `keep`. */
export interface FreshRows {
  readonly rows: Batch;
  readonly ids: readonly string[];
}

/** Tells rows whose event ids were seen before, within a time limit. */
export class EventIds extends SeenValues {
  readonly #column: number;

  constructor({ column, keepMs }: EventId) {
    super(keepMs, "ids/");
    this.#column = column;
  }

  /** The rows with new ids; the same batch if all are new. Rows without an id are new. It changes nothing: see `add`. */
  fresh(batch: Batch): FreshRows {
    const rows: number[] = [];
    const added = new Set<string>();
    for (let row = 0; row < batch.rows; row++) {
      const cell = batch.cell(row, this.#column);
      const id = cell === null ? null : hashOf(String(cell));
      if (id !== null && (added.has(id) || this.has(id))) continue;
      rows.push(row);
      if (id !== null) added.add(id);
    }
    const isAll = rows.length === batch.rows;
    return { rows: isAll ? batch : gathered(batch, Int32Array.from(rows), batch.schema), ids: [...added] };
  }
}
