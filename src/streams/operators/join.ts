import { HeadwaterError, invariant } from "../../errors.js";
import {
  type JoinPlan,
  type JoinShape,
  type JoinState,
  joinKeys,
  type Probe,
  probe,
  type Relink,
  relink,
  type Side,
  type SideShape,
} from "../codegen/index.js";
import type { Batch, NumberColumn, Schema } from "../columns/index.js";
import { type Expiry, expiryOf, type RowStep, type Traits } from "../plan/index.js";
import { Bag, KeyedTable, WeightedRows } from "../tables/index.js";
import { expiredRows, liveRows } from "./expired.js";
import { Forgetting, isBefore } from "./forgetting.js";
import { joint } from "./joint.js";
import type { Operator } from "./operator.js";
import { ownRows, type Verdicts } from "./own-rows.js";
import type { Site } from "./site.js";

interface Stretch {
  readonly input: Schema;
  readonly steps: readonly RowStep[];
}

const SIDES: readonly Side[] = ["left", "right"];

/** Fewer rows are not worth looking through. */
const FREED_AT_LEAST = 1024;

/** Room for so many keys is not given back. */
const KEYS_KEPT = 16_384;

/**
 * A symmetric hash join. Both sides are kept, since a row of either may still meet one of the other; pairs are emitted as
 * they are found, with the product of their weights.
 *
 * Where rows of a side come out by themselves (with NULLs in an outer join, alone in a semi or anti join, with a truth value in a
 * mark join), the weights of the rows that meet each of them are added up, and at the end of a round the difference
 * between what follows from the sum and what was emitted before is emitted: a match that goes and comes within a round
 * emits nothing.
 *
 * If the conditions bound the times of both sides (interval and window joins), rows that nothing can meet any more are freed
 * behind the watermark. They are looked for each time the rows have doubled, so a row is looked at a bounded number of times and
 * at most twice the rows in need are kept. Other joins keep every row that is not taken back, or that is not too old if there is
 * a retention: rows are forgotten without a word then, and pairs that were emitted stay.
 */
export class Join {
  readonly left: Operator;
  readonly right: Operator;
  readonly #plan: JoinPlan;
  readonly #site: Site;
  readonly #next: Operator;
  readonly #shape: JoinShape;
  readonly #state: JoinState;
  readonly #probes: Readonly<Record<Side, Probe>>;
  readonly #relinks: Readonly<Record<Side, Relink>>;
  readonly #expiry: Readonly<Record<Side, Expiry | null>>;
  readonly #own: Readonly<Record<Side, Verdicts | null>>;
  readonly #freeAt: Record<Side, number> = { left: FREED_AT_LEAST, right: FREED_AT_LEAST };
  readonly #forgetting: Readonly<Record<Side, Forgetting | null>>;
  #watermark = Number.NEGATIVE_INFINITY;

  constructor(
    plan: JoinPlan,
    before: Readonly<Record<Side, Stretch>>,
    after: { readonly steps: readonly RowStep[]; readonly output: Schema },
    site: Site,
    next: Operator,
  ) {
    [this.#plan, this.#site, this.#next] = [plan, site, next];
    const shape = shapeOf(plan, site);
    this.#shape = shape;
    const keys = joinKeys(plan);
    this.#state = {
      keys: new KeyedTable(keys, keys.length - 2),
      left: this.#rows("left"),
      right: this.#rows("right"),
    };
    const bySide = <T>(make: (side: Side) => T): Readonly<Record<Side, T>> => ({
      left: make("left"),
      right: make("right"),
    });
    this.#probes = bySide((side) => probe(plan, side, shape, before[side], after));
    this.#relinks = bySide((side) => relink(plan, side, shape));
    const traits = bySide((side) => site.traits(plan[side]));
    this.#expiry = bySide((side) =>
      site.mode === "once" || plan.isTemporal ? null : expiryOf(plan, side, traits),
    );
    this.#own = bySide((side) => (shape[side].counts ? ownRows(plan, side, after) : null));
    this.#forgetting = bySide((side) => {
      const retention = plan.retention?.[side] ?? null;
      return retention === null || site.mode === "once" ? null : new Forgetting(retention, site);
    });
    const [left, right] = joint(
      2,
      {
        push: (batch, input) => this.#push(batch, SIDES[input] ?? "left"),
        flush: () => this.#flush(),
        watermark: (timeMs) => {
          this.#watermark = timeMs;
          this.#emit();
          for (const side of SIDES) this.#free(side);
          this.#next.watermark(timeMs);
        },
        end: () => {
          this.#emit();
          this.#next.end();
        },
      },
      site.watermarks(2),
      (input) => isTimed(plan, SIDES[input] ?? "left", traits),
    );
    invariant(left !== undefined && right !== undefined, "a join has two sides");
    const aging = (side: Side, operator: Operator): Operator =>
      this.#forgetting[side] === null
        ? operator
        : {
            ...operator,
            watermark: (timeMs) => {
              operator.watermark(timeMs);
              this.#forget(side, timeMs);
            },
          };
    [this.left, this.right] = [aging("left", left), aging("right", right)];
  }

  #rows(side: Side): Bag | WeightedRows {
    const { rows, counts } = this.#shape[side];
    const { columns } = this.#plan[side];
    if (rows === "none") return new Bag(columns);
    return this.#site.keep(rows === "bag" ? new Bag(columns, counts) : new WeightedRows(columns));
  }

  #push(batch: Batch, side: Side): void {
    this.#link();
    this.#pass(this.#probes[side](batch, this.#state, this.#site.errors));
  }

  #pass(batch: Batch): void {
    if (batch.rows > 0) this.#next.push(batch);
  }

  #flush(): void {
    this.#emit();
    this.#next.flush();
  }

  #emit(): void {
    this.#link();
    this.#state.keys.settle();
    for (const side of SIDES) this.#emitOwn(side);
    for (const side of SIDES) this.#settle(side);
  }

  /** The rows of a side that come out by themselves. */
  #emitOwn(side: Side): void {
    const made = this.#own[side]?.(this.#state[side], this.#site.errors) ?? null;
    if (made !== null) this.#pass(made);
  }

  /** Frees rows that were taken back. */
  #settle(side: Side): void {
    const rows = this.#state[side];
    if (rows instanceof Bag) return;
    rows.table.settle();
    const { weights } = rows;
    for (const row of rows.dirty) {
      rows.isDirty[row] = 0;
      if (weights[row] === 0) this.#remove(rows, row, side);
    }
    rows.dirty.length = 0;
  }

  #remove(rows: WeightedRows, row: number, side: Side): void {
    const { keys } = this.#state;
    const [left, right] = [this.#heads("left"), this.#heads("right")];
    const owner = (rows.owners[row] as number) - 1;
    rows.remove(row, side === "left" ? left : right);
    if (owner >= 0 && left[owner] === 0 && right[owner] === 0) keys.remove(owner);
  }

  #heads(side: Side): Float64Array {
    const { keys } = this.#state;
    return (keys.columns[keys.schema.length - (side === "left" ? 2 : 1)] as NumberColumn).values;
  }

  /** Frees the rows that nothing meets any more, once what they emit by themselves is emitted. */
  #free(side: Side): void {
    const expiry = this.#expiry[side];
    const rows = this.#state[side];
    const size = rows instanceof Bag ? rows.rows : rows.size;
    if (expiry === null || size < this.#freeAt[side]) return;
    this.#link();
    if (rows instanceof Bag) {
      const live = liveRows(rows, expiry, this.#watermark);
      if (live.length < rows.rows) {
        rows.keep(live);
        this.#link();
      }
      this.#freeAt[side] = 2 * live.length + FREED_AT_LEAST;
      return;
    }
    for (const row of expiredRows(rows, expiry, this.#watermark)) this.#remove(rows, row, side);
    this.#freeAt[side] = 2 * rows.size + FREED_AT_LEAST;
  }

  /** The rows of a side get old by its own watermark: the other side may have none. */
  #forget(side: Side, watermark: number): void {
    const forgetting = this.#forgetting[side];
    const horizon = forgetting?.advance(watermark) ?? null;
    if (forgetting === null || horizon === null) return;
    this.#emit();
    const rows = this.#state[side];
    const isOld = isBefore(rows.columns[forgetting.retention.time], horizon);
    const all = Array.from({ length: rows.rows }, (_, row) => row);
    if (!(rows instanceof Bag)) {
      for (const row of all) if (rows.table.isLive(row) && isOld(row)) this.#remove(rows, row, side);
      return;
    }
    const kept = all.filter((row) => !isOld(row));
    if (kept.length === rows.rows) return;
    rows.keep(Int32Array.from(kept));
    rows.isRebased = true;
    this.#link();
  }

  /** After a load, and after rows of a bag have moved, the chains and the table of keys are made again. */
  #link(): void {
    const { left, right } = this.#state;
    if (!left.isUnlinked && !right.isUnlinked) return;
    const { keys } = this.#state;
    if (keys.hasTexts || keys.capacity > KEYS_KEPT)
      this.#state.keys = new KeyedTable(keys.schema, keys.keyCount);
    else keys.clear();
    for (const side of SIDES) {
      if (this.#shape[side].rows !== "none") this.#relinks[side](this.#state);
      this.#own[side]?.restore(this.#state[side]);
      this.#state[side].isUnlinked = false;
    }
  }
}

/**
 * Whether the watermark of a side says when results are complete. No column of a table without event time follows a watermark, and a
 * temporal join gives a row when the stream does; such a side is never waited for.
 */
function isTimed({ isTemporal }: JoinPlan, side: Side, traits: Readonly<Record<Side, Traits>>): boolean {
  if (isTemporal) return side === "left";
  const isBound = (each: Side) => traits[each].bounds.length > 0;
  return isBound(side) || !SIDES.some(isBound);
}

/**
 * A side whose rows are never taken back and do not come out by themselves is kept in a bag, which costs least. In a one-shot
 * query nothing is taken back, and what comes out by itself comes at the end.
 */
function shapeOf(plan: JoinPlan, site: Site): JoinShape {
  const isOnce = site.mode === "once";
  const isGrowing = (side: Side) => isOnce || site.traits(plan[side]).isAppendOnly;
  const shape = (side: Side, counts: boolean): SideShape => ({
    rows: isGrowing(side) && (isOnce || !counts) ? "bag" : "weighted",
    counts,
  });
  if (plan.isTemporal && !isGrowing("left"))
    throw new HeadwaterError(
      "HW-5102",
      "A temporal join takes a stream on its left side: a row that is taken back would meet another version of the table.",
    );
  if (plan.isTemporal)
    return {
      left: { rows: "none", counts: false },
      right: shape("right", false),
      isWeighted: !isGrowing("right"),
    };
  const counts = {
    left: !["inner", "right"].includes(plan.join),
    right: ["right", "full"].includes(plan.join),
  };
  const [left, right] = [shape("left", counts.left), shape("right", counts.right)];
  return { left, right, isWeighted: left.rows === "weighted" || right.rows === "weighted" };
}
