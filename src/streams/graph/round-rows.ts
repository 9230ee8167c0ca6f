import { appendRows, Batch } from "../columns/index.js";
import type { Released } from "./released.js";

/** Up to so many rows, copying a batch costs less than running every query once more. */
const SMALL_ROWS = 64;
const MERGED_ROWS_MAX = 1024;

interface Part {
  readonly stream: string;
  /** What queries get of a push. */
  changes: Batch | null;
  /** What queries get that wait for whole partitions. */
  readonly released: Released | null;
  /** Made here, so that rows can be appended to it. */
  isOwn: boolean;
}

/** The rows of the pushes of one round, in their order. Small batches of one stream that follow each other become one batch. */
export class RoundRows {
  readonly parts: Part[] = [];

  add(stream: string, changes: Batch | null, released: Released | null): void {
    if (changes === null && released === null) return;
    const last = this.parts.at(-1);
    if (last?.stream !== stream || released !== null || !this.#isMerged(last, changes))
      this.parts.push({ stream, changes, released, isOwn: false });
  }

  #isMerged(last: Part, added: Batch | null): boolean {
    const { changes, released } = last;
    if (changes === null || added === null || released !== null) return false;
    if (changes.weights !== null || added.weights !== null) return false;
    if (added.rows > SMALL_ROWS || changes.rows > (last.isOwn ? MERGED_ROWS_MAX : SMALL_ROWS)) return false;
    if (!last.isOwn) {
      last.changes = Batch.empty(changes.schema, 4 * (changes.rows + added.rows));
      appendRows(last.changes, changes);
      last.isOwn = true;
    }
    appendRows(last.changes ?? changes, added);
    return true;
  }
}
