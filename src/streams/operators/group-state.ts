import { type Groups, specOf, stateColumns, valueSpecs, valuesKept } from "../codegen/index.js";
import { type Cell, cellAt, column, compareCells, compareRows } from "../columns/index.js";
import type { Aggregate, Plan } from "../plan/index.js";
import { type Before, GroupValues, KeyedTable } from "../tables/index.js";

/** The tables of a grouping, and what is made of the values that they keep when a round ends. */
export class GroupState {
  readonly columns: ReturnType<typeof stateColumns>;
  readonly table: KeyedTable;
  readonly values: readonly (GroupValues | null)[];
  readonly seen: Groups["seen"];
  readonly #aggregates: readonly Aggregate[];

  constructor(
    { keys, aggregates }: Extract<Plan, { kind: "aggregate" }>,
    retracts: boolean,
    /** Groups are removed, and their values with them. */
    removes: boolean,
  ) {
    this.#aggregates = aggregates;
    this.columns = stateColumns(keys, aggregates, retracts);
    this.table = new KeyedTable(this.columns.schema, this.columns.keyCount);
    this.values = aggregates.map((aggregate) => {
      const kept = valuesKept(aggregate, retracts);
      if (kept === null || (kept === "distinct" && !retracts && !removes)) return null;
      return new GroupValues(valueSpecs(aggregate), kept === "ranked" ? ranking(aggregate) : null);
    });
    this.seen = aggregates.map((aggregate, i) => {
      if (valuesKept(aggregate, retracts) !== "distinct" || retracts || aggregate.operand === null)
        return null;
      const value = specOf("value", { ...aggregate.operand, nullable: false });
      return this.values[i]?.table ?? new KeyedTable([column("group", "int", false), value], 2);
    });
  }

  /** Writes what min, max and lists are now into the row of a group. */
  finish(row: number): void {
    for (const [i, aggregate] of this.#aggregates.entries()) {
      const values = this.values[i] ?? null;
      const kept = valuesKept(aggregate, this.columns.retracts);
      if (values === null || kept === "distinct") continue;
      const cell = kept === "ranked" ? firstOf(values, row) : listOf(aggregate, values, row);
      this.table.set(this.columns.places[i] ?? 0, row, cell);
    }
  }

  /** Whether a group has rows; where none is taken back, each has. */
  isThere(row: number): boolean {
    const { rows } = this.columns;
    const counts = rows === null ? undefined : this.table.columns[rows];
    return counts?.storage !== "number" || (counts.values[row] as number) > 0;
  }

  remove(row: number): void {
    for (const values of this.values) values?.release(row);
    this.table.remove(row);
  }

  settle(): void {
    this.table.settle();
    for (const values of this.values) values?.settle();
  }
}

function ranking({ name }: Aggregate): (table: KeyedTable) => Before {
  return (table) => {
    const [, own] = table.columns;
    if (own === undefined) return () => false;
    const sign = name === "min" ? 1 : -1;
    return (a, b) => sign * compareRows(own, a, b) <= 0;
  };
}

function firstOf(values: GroupValues, group: number): Cell {
  const row = values.first(group);
  const [, own] = values.table.columns;
  return row < 0 || own === undefined ? null : cellAt(own, row);
}

/** The values of a group one behind the other, each as often as the group has it. */
function listOf({ name, distinct, list, operand }: Aggregate, values: GroupValues, group: number): Cell {
  const order = list?.order ?? [];
  const rows = values.all(group).map((row) => ({ cells: values.table.cells(row), count: values.count(row) }));
  const at = (cells: readonly Cell[], index: number) => cells[index + 1] ?? null;
  rows.sort(({ cells: a }, { cells: b }) => {
    for (const [i, { descending, nullsFirst }] of order.entries()) {
      const [x, y] = [at(a, i + 1), at(b, i + 1)];
      if (x === null && y === null) continue;
      if (x === null || y === null) return (x === null) === nullsFirst ? -1 : 1;
      const difference = compareCells(x, y);
      if (difference !== 0) return descending ? -difference : difference;
    }
    const [x, y] = [at(a, 0), at(b, 0)];
    return x === null || y === null ? Number(x === null) - Number(y === null) : compareCells(x, y);
  });
  const seen = new Set<Cell>();
  const items: { value: Cell; separator: string }[] = [];
  for (const { cells, count } of rows) {
    const value = at(cells, 0);
    if (distinct && seen.has(value)) continue;
    seen.add(value);
    const separator = list?.separator == null ? "" : String(at(cells, order.length + 1) ?? "");
    for (let left = distinct ? 1 : count; left > 0; left--) items.push({ value, separator });
  }
  if (items.length === 0) return null;
  if (name === "string_agg")
    return items.map(({ value, separator }, i) => `${i === 0 ? "" : separator}${value}`).join("");
  return `[${items.map(({ value }) => (operand?.type === "json" ? (value ?? "null") : JSON.stringify(value))).join(", ")}]`;
}
