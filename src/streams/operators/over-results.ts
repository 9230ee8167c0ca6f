import type { Batch, Cell } from "../columns/index.js";
import type { Compare, SlotRows, SortedSlots } from "../tables/index.js";
import { FrameSites, type Reach, reachOf } from "./frames.js";
import type { OverPlan } from "./over.js";
import { overValues, withPeers } from "./over-values.js";
import { SlotResults } from "./slot-results.js";

/** The rows of a partition that come out, in their order, and how often each does. */
export interface Prefix {
  readonly slots: readonly number[];
  readonly weights: readonly number[];
}

/** Gathers the difference between what partitions gave and what they give, as rows of one batch. */
export class OverResults {
  readonly #plan: OverPlan;
  readonly #rows: SlotRows;
  readonly #order: Compare;
  readonly #isNumbered: boolean;
  readonly #found: SlotResults;
  readonly #reach: Reach | null;
  readonly #sites: FrameSites;

  constructor(
    plan: OverPlan,
    rows: SlotRows,
    order: Compare,
    /** A one-shot query knows no weights. */
    isOnce: boolean,
  ) {
    [this.#plan, this.#rows, this.#order] = [plan, rows, order];
    this.#reach = reachOf(plan.functions);
    this.#sites = new FrameSites(plan.order, rows.columns, rows.own);
    this.#found = new SlotResults(plan.columns, rows, isOnce);
    this.#isNumbered = plan.functions.every((each) => each.kind === "rank" && each.name === "row_number");
  }

  /** The rows of a partition that are within its cut. */
  prefix(list: SortedSlots): Prefix {
    const { cut } = this.#plan;
    const [slots, weights]: [number[], number[]] = [[], []];
    if (cut === null || cut.by === "row_number") {
      const from = cut?.offset ?? 0;
      const to = cut === null || cut.limit === null ? Number.POSITIVE_INFINITY : from + cut.limit;
      let at = 0;
      list.each((slot) => {
        const weight = Math.max(0, this.#rows.weight(slot));
        const counted = Math.min(at + weight, to) - Math.max(at, from);
        at += weight;
        if (counted > 0) {
          slots.push(slot);
          weights.push(counted);
        }
        return at < to;
      });
      return { slots, weights };
    }
    const most = cut.limit ?? Number.POSITIVE_INFINITY;
    let [at, rank, dense, before] = [0, 0, 0, -1];
    list.each((slot) => {
      const weight = this.#rows.weight(slot);
      if (weight <= 0) return true;
      if (before < 0 || this.#order(before, slot) !== 0) [rank, dense] = [at + 1, dense + 1];
      at += weight;
      before = slot;
      if ((cut.by === "rank" ? rank : dense) > most) return false;
      slots.push(slot);
      weights.push(weight);
      return true;
    });
    return { slots, weights };
  }

  /** Notes what is taken back and what is added if a partition gave one and gives the other. */
  change(before: Prefix, now: Prefix): void {
    if (this.#plan.functions.length === 0) this.#counted(before, now);
    else if (this.#isNumbered) this.#numbered(expanded(before), expanded(now));
    else this.#general(expanded(before), expanded(now));
  }

  #counted(before: Prefix, now: Prefix): void {
    const [old, own] = [before.slots[0], now.slots[0]];
    if (before.slots.length < 2 && now.slots.length < 2 && old !== own) {
      if (old !== undefined) this.#found.add(old, -(before.weights[0] as number), []);
      if (own !== undefined) this.#found.add(own, now.weights[0] as number, []);
      return;
    }
    const counts = new Map<number, number>();
    for (const [i, slot] of before.slots.entries()) counts.set(slot, -(before.weights[i] as number));
    for (const [i, slot] of now.slots.entries())
      counts.set(slot, (counts.get(slot) ?? 0) + (now.weights[i] as number));
    for (const [slot, weight] of counts) if (weight !== 0) this.#found.add(slot, weight, []);
  }

  /** Each number belongs to one row, so rows are compared place by place. */
  #numbered(before: readonly number[], now: readonly number[]): void {
    for (let i = 0; i < Math.max(before.length, now.length); i++) {
      const [old, own] = [before[i], now[i]];
      if (old === own) continue;
      const values = this.#plan.functions.map(() => i + 1);
      if (old !== undefined) this.#found.add(old, -1, values);
      if (own !== undefined) this.#found.add(own, 1, values);
    }
  }

  #general(before: readonly number[], now: readonly number[]): void {
    const rows = new Map<number, { readonly values: readonly Cell[]; weight: number }[]>();
    const note = (slot: number, values: readonly Cell[], weight: number) => {
      const known = rows.get(slot);
      const same = known?.find((each) => areSame(each.values, values));
      if (same !== undefined) same.weight += weight;
      else if (known !== undefined) known.push({ values, weight });
      else rows.set(slot, [{ values, weight }]);
    };
    const [from, behind] = this.#changed(before, now);
    this.#valuesOf(before, from, behind, (slot, values) => note(slot, values, -1));
    this.#valuesOf(now, from, behind, (slot, values) => note(slot, values, 1));
    for (const [slot, all] of rows)
      for (const { values, weight } of all) if (weight !== 0) this.#found.add(slot, weight, values);
  }

  /** From which row on, and up to how many rows from the end, values can be other ones: frames do not reach further. */
  #changed(before: readonly number[], now: readonly number[]): [from: number, behind: number] {
    if (this.#reach === null) return [0, 0];
    const most = Math.min(before.length, now.length);
    let from = 0;
    while (from < most && before[from] === now[from]) from++;
    let behind = 0;
    while (behind < most - from && before.at(-1 - behind) === now.at(-1 - behind)) behind++;
    const { rows, values } = this.#reach;
    let [first, last] = [Math.max(0, from - rows.behind), Math.max(0, behind - rows.before)];
    if (values === null) return [first, last];
    // Rows count for rows whose values are near, so those near the first and the last changed row of both sides change.
    for (const side of [before, now]) {
      const [low, high] = [side[from], side.at(-1 - behind)];
      if (side.length > from + behind && low !== undefined && high !== undefined) {
        first = Math.min(first, this.#sites.within(side, from, low, values.behind, -1));
        const end = this.#sites.within(side, side.length - 1 - behind, high, values.before, 1);
        last = Math.min(last, side.length - 1 - end);
      }
    }
    return [first, last];
  }

  /** The rows that the values of some rows depend on. */
  #context(slots: readonly number[], from: number, end: number): readonly [start: number, end: number] {
    if (this.#reach === null || from >= end) return [0, slots.length];
    const { rows, values } = this.#reach;
    const [start, last] = [Math.max(0, from - rows.before), Math.min(slots.length, end + rows.behind)];
    if (values === null) return [start, last];
    return [
      Math.min(start, this.#sites.within(slots, from, slots[from] as number, values.before, -1)),
      Math.max(last, this.#sites.within(slots, end - 1, slots[end - 1] as number, values.behind, 1) + 1),
    ];
  }

  /** What was noted since the last call. */
  take(): Batch | null {
    return this.#found.take();
  }

  #valuesOf(
    slots: readonly number[],
    from: number,
    behind: number,
    take: (slot: number, values: readonly Cell[]) => void,
  ): void {
    const [start, end] = this.#context(slots, from, slots.length - behind);
    const rows = withPeers(slots.slice(start, end), (a, b) => this.#order(a, b) === 0);
    const { functions } = this.#plan;
    const columns = functions.map((each) =>
      overValues(each, rows, this.#rows.columns, this.#rows.own, this.#sites),
    );
    for (let i = from; i < slots.length - behind; i++)
      take(
        slots[i] as number,
        columns.map((values) => values[i - start] ?? null),
      );
  }
}

function areSame(a: readonly Cell[], b: readonly Cell[]): boolean {
  return a.every((cell, i) => cell === b[i] || (Number.isNaN(cell) && Number.isNaN(b[i])));
}

/** A row that counts n times stands n times. */
function expanded({ slots, weights }: Prefix): readonly number[] {
  if (weights.every((weight) => weight === 1)) return slots;
  return slots.flatMap((slot, i) => new Array<number>(weights[i] as number).fill(slot));
}
