import { groupIds, type RowOrder, rowOrder, specOf } from "../codegen/index.js";
import { type Batch, type Column, gathered, type NumberColumn, widened } from "../columns/index.js";
import type { Plan } from "../plan/index.js";
import { type Compare, KeyedTable, Registers, SlotRows, SortedSlots } from "../tables/index.js";
import type { Operator } from "./operator.js";
import { totalOrderOf } from "./row-order.js";
import type { Site } from "./site.js";
import { SlotResults } from "./slot-results.js";

type SessionPlan = Extract<Plan, { kind: "session" }>;

/** A row in its session. */
interface Member {
  readonly weight: number;
  readonly start: number;
  readonly end: number;
}

type Members = ReadonlyMap<number, Member>;

/**
 * SESSION windows of a stream. The rows of each key are kept in the order of their times until their session is complete; a
 * session ends where the next row is a gap away. EMIT CHANGES: at the end of a round, the rows of the keys that it changed are given
 * again where the start or the end of their session is another. EMIT ON WINDOW CLOSE: the rows of a session come out when the
 * watermark reaches its end, and a row never changes its session.
 *
 * A row is late if the watermark is a gap behind it and it is not part of a session that is still open. A row without a time is in no
 * session.
 */
export class StandingSession implements Operator {
  readonly #plan: SessionPlan;
  readonly #site: Site;
  readonly #next: Operator;
  readonly #rows: SlotRows;
  readonly #keys: KeyedTable;
  readonly #lists: (SortedSlots | undefined)[] = [];
  readonly #groupIds: ReturnType<typeof groupIds>;
  readonly #order: RowOrder;
  readonly #compare: Compare;
  readonly #times: NumberColumn;
  readonly #results: SlotResults;
  /** Sessions are complete, and freed, at the watermark. */
  readonly #isBound: boolean;
  readonly #registers = new Registers(Number.NEGATIVE_INFINITY);
  readonly #before = new Map<number, Members>();
  /**
   * By key, a time before which its first session does not end: no row of the key need be looked at until the watermark is there. A row
   * can only move the end of a session up, or begin an earlier session, which ends a gap behind it at least.
   */
  #due = new Float64Array(64).fill(Number.NEGATIVE_INFINITY);
  #ids = new Int32Array(1024);

  constructor(plan: SessionPlan, site: Site, next: Operator) {
    [this.#plan, this.#site, this.#next] = [plan, site, next];
    const { columns } = plan.input;
    this.#rows = new SlotRows(columns);
    const keys = plan.keys.flatMap((index) => columns[index] ?? []);
    this.#keys = new KeyedTable(
      keys.map((spec, i) => specOf(`key${i}`, spec)),
      keys.length,
    );
    this.#groupIds = groupIds(columns, plan.keys);
    const order = [{ index: plan.time, descending: false, nullsFirst: false }];
    this.#order = rowOrder(columns, order, true);
    this.#compare = totalOrderOf(columns, this.#rows.columns, order);
    this.#times = this.#rows.columns[plan.time] as NumberColumn;
    this.#results = new SlotResults(plan.columns, this.#rows, false);
    this.#isBound = site.traits(plan).bounds.length > 0;
    for (const state of [this.#registers, this.#keys, this.#rows]) site.keep(state);
    site.onLoad(() => this.#restore());
  }

  #restore(): void {
    const slots = this.#rows.live();
    const ids = new Int32Array(slots.length);
    const rows = gathered(this.#rows.batch, Int32Array.from(slots), this.#plan.input.columns);
    this.#groupIds(rows, this.#keys, ids, 0);
    for (const [i, slot] of slots.entries()) this.#list(ids[i] as number).put(slot, this.#compare);
  }

  push(batch: Batch): void {
    if (batch.rows > this.#ids.length) this.#ids = new Int32Array(2 * batch.rows);
    this.#groupIds(batch, this.#keys, this.#ids, 0);
    const { nulls } = batch.columns[this.#plan.time] as NumberColumn;
    const late: number[] = [];
    for (let row = 0; row < batch.rows; row++)
      if (nulls?.[row] !== 1 && !this.#add(batch, row, this.#ids[row] as number)) late.push(row);
    // A key that has no rows, because they were late or had no time, is not kept.
    for (let row = 0; row < batch.rows; row++) this.#forgetIfEmpty(this.#ids[row] as number);
    if (late.length > 0) this.#site.late.add(gathered(batch, Int32Array.from(late), batch.schema));
  }

  flush(): void {
    this.#emitChanges();
    this.#next.flush();
  }

  watermark(timeMs: number): void {
    this.#registers.values[0] = timeMs;
    this.#emitChanges();
    if (this.#isBound) this.#close(timeMs);
    this.#next.watermark(timeMs);
  }

  end(): void {
    this.#next.end();
  }

  #list(key: number): SortedSlots {
    const list = this.#lists[key] ?? new SortedSlots();
    this.#lists[key] = list;
    return list;
  }

  /** Whether the row is not late. */
  #add(batch: Batch, row: number, key: number): boolean {
    const list = this.#list(key);
    const order = list.length === 0 ? 1 : this.#order(row, batch.columns, list.last, this.#rows.columns);
    // Most rows come in the order of their times.
    if (order === 0 && this.#site.mode !== "changes" && this.#rows.weight(list.last) > 0) {
      this.#rows.addWeight(list.last, batch.weight(row));
      return true;
    }
    const slot = this.#rows.take();
    for (let i = 0; i < batch.columns.length; i++) this.#rows.write(i, slot, batch.columns[i] as Column, row);
    if (this.#isBound && this.#isLate(slot, list)) {
      this.#rows.giveBack(slot);
      return false;
    }
    if (this.#site.mode === "changes" && !this.#before.has(key)) this.#before.set(key, this.#members(list));
    this.#expect(key, this.#time(slot) + this.#plan.gapMs, list.length === 0);
    const same = order > 0 ? -1 : list.put(slot, this.#compare);
    if (order > 0) list.append(slot);
    const weight = batch.weight(row);
    if (same < 0) this.#rows.begin(slot, weight);
    else {
      this.#rows.giveBack(slot);
      this.#rows.addWeight(same, weight);
    }
    return true;
  }

  #expect(key: number, end: number, isFirst: boolean): void {
    if (key >= this.#due.length)
      this.#due = widened(this.#due, new Float64Array(2 * key + 2).fill(Number.NEGATIVE_INFINITY));
    if (isFirst || end < (this.#due[key] as number)) this.#due[key] = end;
  }

  #isLate(slot: number, list: SortedSlots): boolean {
    const time = this.#time(slot);
    const { gapMs } = this.#plan;
    if (time + gapMs > (this.#registers.values[0] as number)) return false;
    const [before, behind] = list.neighbours(slot, this.#compare);
    return (
      (before < 0 || time - this.#time(before) >= gapMs) && (behind < 0 || this.#time(behind) - time >= gapMs)
    );
  }

  #time(slot: number): number {
    return this.#times.values[slot] as number;
  }

  /** The sessions of a key, one after the other, until `visit` says that it has enough. */
  #sessions(list: SortedSlots, visit: (slots: readonly number[], end: number) => boolean): void {
    const { gapMs } = this.#plan;
    let [slots, end]: [number[], number] = [[], Number.NEGATIVE_INFINITY];
    let isWanted = true;
    list.each((slot) => {
      if (this.#rows.weight(slot) <= 0) return true;
      if (slots.length > 0 && this.#time(slot) >= end) {
        isWanted = visit(slots, end);
        slots = [];
      }
      slots.push(slot);
      end = this.#time(slot) + gapMs;
      return isWanted;
    });
    if (isWanted && slots.length > 0) visit(slots, end);
  }

  #members(list: SortedSlots | undefined): Members {
    const members = new Map<number, Member>();
    if (list !== undefined)
      this.#sessions(list, (slots, end) => {
        const start = this.#time(slots[0] as number);
        for (const slot of slots) members.set(slot, { weight: this.#rows.weight(slot), start, end });
        return true;
      });
    return members;
  }

  #emitChanges(): void {
    for (const [key, before] of this.#before) {
      const now = this.#members(this.#lists[key]);
      for (const [slot, old] of before) {
        const own = now.get(slot);
        const isSame = own !== undefined && own.start === old.start && own.end === old.end;
        if (!isSame) this.#results.add(slot, -old.weight, [old.start, old.end]);
        else if (own.weight !== old.weight)
          this.#results.add(slot, own.weight - old.weight, [own.start, own.end]);
      }
      for (const [slot, own] of now) {
        const old = before.get(slot);
        if (old === undefined || old.start !== own.start || old.end !== own.end)
          this.#results.add(slot, own.weight, [own.start, own.end]);
      }
    }
    this.#pass();
    for (const key of this.#before.keys()) this.#removeGone(key);
    this.#before.clear();
    this.#keys.settle();
  }

  #removeGone(key: number): void {
    const list = this.#lists[key];
    const gone: number[] = [];
    list?.each((slot) => {
      if (this.#rows.weight(slot) === 0) gone.push(slot);
      return true;
    });
    for (const slot of gone) {
      list?.remove(slot, this.#compare);
      this.#rows.remove(slot);
    }
    this.#forgetIfEmpty(key);
  }

  #forgetIfEmpty(key: number): void {
    if (this.#before.has(key) || !this.#keys.isLive(key)) return;
    if (this.#lists[key] !== undefined && this.#lists[key].length > 0) return;
    this.#lists[key] = undefined;
    this.#keys.remove(key);
  }

  /** Frees the sessions that have ended by the watermark, the keys in the order of their numbers. */
  #close(watermark: number): void {
    const complete: { readonly key: number; readonly list: SortedSlots; readonly slots: number[] }[] = [];
    for (let key = 0; key < this.#lists.length; key++) {
      const list = this.#lists[key];
      if (list === undefined || (this.#due[key] ?? Number.NEGATIVE_INFINITY) > watermark) continue;
      const ended: number[] = [];
      this.#sessions(list, (slots, end) => {
        if (end > watermark) {
          this.#expect(key, end, true);
          return false;
        }
        const bounds = [this.#time(slots[0] as number), end];
        for (const slot of slots) {
          ended.push(slot);
          if (this.#site.mode === "on window close") this.#results.add(slot, this.#rows.weight(slot), bounds);
        }
        return true;
      });
      if (ended.length > 0) complete.push({ key, list, slots: ended });
    }
    this.#pass();
    for (const { key, list, slots } of complete) {
      if (slots.length < list.length) for (const slot of slots) list.remove(slot, this.#compare);
      else this.#lists[key] = undefined;
      for (const slot of slots) this.#rows.remove(slot);
      this.#forgetIfEmpty(key);
    }
    this.#keys.settle();
  }

  #pass(): void {
    const batch = this.#results.take();
    if (batch !== null) this.#next.push(batch);
  }
}
