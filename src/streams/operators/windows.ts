import type { KeyedTable } from "../tables/index.js";

/** The groups of each window, by the key that completes it, so that a watermark finds the complete ones. */
export class Windows {
  readonly #rows = new Map<number, number[]>();
  #last: number[] = [];
  #lastKey = Number.NaN;

  get memoryBytes(): number {
    let rows = 0;
    for (const each of this.#rows.values()) rows += each.length;
    return 8 * rows + 64 * this.#rows.size;
  }

  open(key: number, row: number): void {
    if (key !== this.#lastKey) {
      this.#last = this.#rows.get(key) ?? [];
      this.#rows.set(key, this.#last);
      this.#lastKey = key;
    }
    this.#last.push(row);
  }

  /** Takes out the windows that are complete, the earliest first: the groups of each that are still there, in order. */
  close(isComplete: (key: number) => boolean, table: KeyedTable, keyIndex: number): number[] {
    const keys = [...this.#rows.keys()].filter(isComplete).sort((a, b) => a - b);
    const column = table.columns[keyIndex];
    const isOf = (row: number, key: number) =>
      table.isLive(row) && column?.storage === "number" && column.values[row] === key;
    this.#lastKey = Number.NaN;
    return keys.flatMap((key) => {
      const rows = [...new Set(this.#rows.get(key) ?? [])].filter((row) => isOf(row, key));
      this.#rows.delete(key);
      // By their numbers, which a query that was loaded from a checkpoint has too.
      return rows.sort((a, b) => a - b);
    });
  }

  /** After a checkpoint was loaded. */
  build(table: KeyedTable, keyIndex: number): void {
    this.#rows.clear();
    this.#lastKey = Number.NaN;
    const column = table.columns[keyIndex];
    if (column?.storage !== "number") return;
    for (let row = 0; row < table.rows; row++)
      if (table.isLive(row) && column.nulls?.[row] !== 1) this.open(column.values[row] as number, row);
  }
}
