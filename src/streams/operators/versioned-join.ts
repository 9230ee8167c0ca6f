import { HeadwaterError, invariant } from "../../errors.js";
import { groupIds, type JoinPlan, transform } from "../codegen/index.js";
import {
  Batch,
  type Column,
  column,
  emptyColumn,
  gathered,
  type NumberColumn,
  type Schema,
} from "../columns/index.js";
import type { Expression, RowStep } from "../plan/index.js";
import { KeyedTable, SlotRows, SortedSlots } from "../tables/index.js";
import { joint } from "./joint.js";
import type { Operator } from "./operator.js";
import { totalOrderOf } from "./row-order.js";
import type { Site } from "./site.js";

type Side = "left" | "right";

/** No version of the key is as early as the row. */
const NONE = -1;

/**
 * FOR SYSTEM_TIME AS OF a time of the left side: each row meets the version that its key had at that time, which is the latest one that
 * is not later. A row waits until the watermarks of both sides have passed its time, since only then all versions up to it are
 * there; so the answer does not depend on the order in which rows and versions come, and is never taken back. Of two versions of
 * one time the greater row counts.
 *
 * Versions before the watermark are freed except for the latest of each key, which rows to come may still meet. A row that comes
 * behind the watermark is late. A version that does so counts for the rows that have not been answered.
 */
export class VersionedJoin {
  readonly left: Operator;
  readonly right: Operator;
  readonly #plan: JoinPlan;
  readonly #asOf: Readonly<Record<Side, number>>;
  readonly #site: Site;
  readonly #next: Operator;
  /** The columns of a side with those of its keys behind them. */
  readonly #keyed: Readonly<Record<Side, ReturnType<typeof transform>>>;
  readonly #rows: Readonly<Record<Side, SlotRows>>;
  readonly #keys: KeyedTable;
  readonly #ids: Readonly<Record<Side, ReturnType<typeof groupIds>>>;
  readonly #waiting = new SortedSlots();
  readonly #versions: (SortedSlots | undefined)[] = [];
  readonly #compare: Readonly<Record<Side, (a: number, b: number) => number>>;
  readonly #result: ReturnType<typeof transform>;
  /** Keys with more than one version: some may be freed. */
  readonly #changed = new Set<number>();
  #watermark = Number.NEGATIVE_INFINITY;

  constructor(
    plan: JoinPlan,
    after: { readonly steps: readonly RowStep[]; readonly output: Schema },
    site: Site,
    next: Operator,
  ) {
    const { asOf, leftKeys, rightKeys, condition } = plan;
    invariant(asOf !== undefined, "the join has a time");
    if (site.mode !== "once" && !site.traits(plan.left).isAppendOnly)
      throw new HeadwaterError(
        "HW-5102",
        "FOR SYSTEM_TIME AS OF takes a stream on its left side: a row that is taken back has been answered already.",
      );
    if (site.mode !== "once" && !site.traits(plan.left).bounds.some(({ index }) => index === asOf.left))
      throw new HeadwaterError(
        "HW-5102",
        "FOR SYSTEM_TIME AS OF takes PROCTIME() or the event time of the left side, whose watermark says when all versions up to it are there.",
      );
    [this.#plan, this.#asOf, this.#site, this.#next] = [plan, asOf, site, next];
    const keys = leftKeys.map((key, i) => keySpec(key, rightKeys[i], i));
    const bySide = <T>(make: (side: Side) => T) => ({ left: make("left"), right: make("right") });
    const wide = bySide((side) => [...plan[side].columns, ...keys]);
    const step = (side: Side): RowStep => ({
      kind: "project",
      outputs: [
        ...plan[side].columns.map((spec, index): Expression => ({ ...spec, kind: "column", index })),
        ...(side === "left" ? leftKeys : rightKeys),
      ],
    });
    this.#keyed = bySide((side) => transform(plan[side].columns, [step(side)], wide[side]));
    this.#rows = bySide((side) => new SlotRows(wide[side]));
    this.#keys = new KeyedTable(keys, keys.length);
    this.#ids = bySide((side) => {
      const { length } = plan[side].columns;
      return groupIds(
        wide[side],
        [...keys.keys()].map((i) => length + i),
      );
    });
    this.#compare = bySide((side) => {
      const order = [{ index: asOf[side], descending: false, nullsFirst: true }];
      return totalOrderOf(wide[side], this.#rows[side].columns, order);
    });
    const filter: RowStep[] = condition === null ? [] : [{ kind: "filter", predicate: condition }];
    this.#result = transform(plan.columns, [...filter, ...after.steps], after.output);
    if (site.mode !== "once") {
      for (const state of [this.#keys, this.#rows.left, this.#rows.right]) site.keep(state);
      site.onLoad(() => this.#restore());
    }
    const watermarks = site.watermarks(2);
    site.onLoad(() => {
      this.#watermark = Math.min(...watermarks.values);
    });
    const [left, right] = joint(
      2,
      {
        push: (batch, input) => (input === 0 ? this.#pushRows(batch) : this.#pushVersions(batch)),
        flush: () => this.#next.flush(),
        watermark: (timeMs) => this.#advance(timeMs),
        end: () => {
          this.#answer(Number.POSITIVE_INFINITY);
          this.#next.end();
        },
      },
      watermarks,
    );
    invariant(left !== undefined && right !== undefined, "a join has two sides");
    [this.left, this.right] = [left, right];
  }

  #restore(): void {
    for (const slot of this.#rows.left.live()) this.#waiting.put(slot, this.#compare.left);
    const slots = Int32Array.from(this.#rows.right.live());
    const ids = new Int32Array(slots.length);
    const { batch } = this.#rows.right;
    this.#ids.right(gathered(batch, slots, batch.schema), this.#keys, ids, 0);
    for (const [i, slot] of slots.entries()) this.#list(ids[i] as number).put(slot, this.#compare.right);
    for (const [key, list] of this.#versions.entries()) if ((list?.length ?? 0) > 1) this.#changed.add(key);
  }

  #list(key: number): SortedSlots {
    const list = this.#versions[key] ?? new SortedSlots();
    this.#versions[key] = list;
    return list;
  }

  #pushRows(given: Batch): void {
    const batch = this.#keyed.left(given, this.#site.errors);
    const rows = this.#rows.left;
    const times = batch.columns[this.#asOf.left] as NumberColumn;
    const late: number[] = [];
    for (let row = 0; row < batch.rows; row++) {
      // A row without a time has no version.
      if (times.nulls?.[row] === 1 && this.#plan.join === "inner") continue;
      if (times.nulls?.[row] !== 1 && (times.values[row] as number) < this.#watermark) late.push(row);
      else this.#put(rows, this.#waiting, this.#compare.left, batch, row, batch.weight(row));
    }
    if (late.length > 0) this.#site.late.add(gathered(batch, Int32Array.from(late), batch.schema));
  }

  /** Rows that a table takes back were versions all the same. */
  #pushVersions(given: Batch): void {
    const batch = this.#keyed.right(given, this.#site.errors);
    const { length } = this.#plan.right.columns;
    const parts = [batch.columns[this.#asOf.right], ...batch.columns.slice(length)];
    const isWhole = (row: number) => parts.every((each) => each?.nulls?.[row] !== 1);
    const taken: number[] = [];
    for (let row = 0; row < batch.rows; row++) if (batch.weight(row) > 0 && isWhole(row)) taken.push(row);
    const versions = gathered(batch, Int32Array.from(taken), batch.schema);
    const ids = new Int32Array(versions.rows);
    this.#ids.right(versions, this.#keys, ids, 0);
    for (let row = 0; row < versions.rows; row++) {
      const key = ids[row] as number;
      const list = this.#list(key);
      this.#put(this.#rows.right, list, this.#compare.right, versions, row, 1);
      if (list.length > 1) this.#changed.add(key);
    }
  }

  #put(
    rows: SlotRows,
    list: SortedSlots,
    compare: (a: number, b: number) => number,
    batch: Batch,
    row: number,
    weight: number,
  ): void {
    const slot = rows.take();
    for (const [i, each] of batch.columns.entries()) rows.write(i, slot, each, row);
    const same = list.put(slot, compare);
    if (same < 0) return rows.begin(slot, weight);
    rows.giveBack(slot);
    if (rows === this.#rows.left) rows.addWeight(same, weight);
    return undefined;
  }

  #advance(timeMs: number): void {
    this.#watermark = timeMs;
    this.#answer(timeMs);
    this.#free(timeMs);
    this.#keys.settle();
    this.#next.watermark(timeMs);
  }

  /** The rows whose time is before the watermark, in the order of their times. */
  #answer(watermark: number): void {
    const rows = this.#rows.left;
    const times = rows.columns[this.#asOf.left] as NumberColumn;
    const slots: number[] = [];
    this.#waiting.each((slot) => {
      const isComplete = times.nulls?.[slot] === 1 || (times.values[slot] as number) < watermark;
      if (isComplete) slots.push(slot);
      return isComplete;
    });
    if (slots.length === 0) return;
    const given = gathered(rows.batch, Int32Array.from(slots), rows.own);
    const met = this.#versionsOf(given);
    const [kept, found]: [number[], number[]] = [[], []];
    for (const [i, slot] of slots.entries()) {
      if (met[i] === NONE && this.#plan.join === "inner") continue;
      for (let left = rows.weight(slot); left > 0; left--) {
        kept.push(slot);
        found.push(met[i] as number);
      }
    }
    const made = this.#result(this.#pairs(kept, found), this.#site.errors);
    for (const slot of slots) {
      this.#waiting.removeFirst();
      rows.remove(slot);
    }
    if (made.rows > 0) this.#next.push(made);
  }

  /** For each row the slot of its version, or `NONE`. */
  #versionsOf(given: Batch): number[] {
    const keys = new Int32Array(given.rows);
    this.#ids.left(given, this.#keys, keys, 0);
    const own = given.columns.slice(this.#plan.left.columns.length);
    const times = given.columns[this.#asOf.left] as NumberColumn;
    const versionTimes = (this.#rows.right.columns[this.#asOf.right] as NumberColumn).values;
    return Array.from({ length: given.rows }, (_, row) => {
      const key = keys[row] as number;
      const list = this.#versions[key];
      if (list === undefined) {
        this.#changed.add(key);
        return NONE;
      }
      if (own.some(({ nulls }) => nulls?.[row] === 1) || times.nulls?.[row] === 1) return NONE;
      return list.lastWhere((slot) => (versionTimes[slot] as number) <= (times.values[row] as number));
    });
  }

  #pairs(left: readonly number[], right: readonly number[]): Batch {
    const { columns } = this.#plan;
    const width = this.#plan.left.columns.length;
    const made = columns.map((spec, i): Column => {
      const [from, slots] =
        i < width ? [this.#rows.left.columns[i], left] : [this.#rows.right.columns[i - width], right];
      const to = emptyColumn(spec, left.length);
      if (from !== undefined) pick(to, from, slots);
      return to;
    });
    const batch = new Batch(columns, made, null);
    batch.rows = left.length;
    return batch;
  }

  /** Versions that a later one has replaced by the watermark, and keys that have none. */
  #free(watermark: number): void {
    const rows = this.#rows.right;
    const times = (rows.columns[this.#asOf.right] as NumberColumn).values;
    for (const key of this.#changed) {
      const list = this.#versions[key];
      if (list === undefined) {
        if (this.#keys.isLive(key)) this.#keys.remove(key);
        this.#changed.delete(key);
        continue;
      }
      const last = list.lastWhere((slot) => (times[slot] as number) <= watermark);
      while (list.length > 1 && last !== NONE && list.first !== last) rows.remove(list.removeFirst());
      if (list.length === 1) this.#changed.delete(key);
    }
  }
}

function keySpec(left: Expression, right: Expression | undefined, i: number): Schema[number] {
  return column(
    `key${i}`,
    left.type === "interval" ? "int" : left.type,
    true,
    Math.max(left.scale, right?.scale ?? 0),
  );
}

/** Copies rows of slots; `NONE` is NULL. Texts are copied: those of a slot change when another row gets it. */
function pick(to: Column, from: Column, slots: readonly number[]): void {
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as number;
    const isNull = slot === NONE || from.nulls?.[slot] === 1;
    if (to.nulls !== null && isNull) to.nulls[i] = 1;
    if (isNull) continue;
    if (to.storage === "text" && from.storage === "text")
      to.codes[i] = to.texts.add(from.texts.get(from.codes[slot] as number));
    else if (to.storage !== "text" && from.storage !== "text") {
      to.values[i] = from.values[slot] as number;
      if (to.storage === "numeric" && from.storage === "numeric") {
        const big = from.bigs.get(slot);
        if (big !== undefined) to.bigs.set(i, big);
      }
    }
  }
}
