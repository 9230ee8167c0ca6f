import type { Batch, Schema } from "../columns/index.js";
import type { Expression, Plan, RowStep } from "../plan/index.js";
import type { Bag, KeyedTable, WeightedRows } from "../tables/index.js";
import { specOf } from "./aggregate-state.js";
import { blank } from "./blank.js";
import { CodeBuilder, type Value } from "./code.js";
import { compile } from "./expression.js";
import { functionOf, RowErrors } from "./function.js";
import { GeneratedKey } from "./key.js";
import { columnsOf, guarded, rowLoop, rowSteps, rowsPerRow } from "./row.js";
import { storeRow } from "./rows.js";
import { BatchTarget, emptyOutput } from "./target.js";

export type JoinPlan = Extract<Plan, { kind: "join" }>;
export type Side = "left" | "right";

/** How one side of a join is kept. */
export interface SideShape {
  /** In a `Bag`, in `WeightedRows`, or, for the stream of a temporal join, not at all. */
  readonly rows: "bag" | "weighted" | "none";
  /** Its matches are counted: its rows come out by themselves, depending on whether they met any. */
  readonly counts: boolean;
}

export interface JoinShape {
  readonly left: SideShape;
  readonly right: SideShape;
  /** Results carry weights. */
  readonly isWeighted: boolean;
}

/** One table of keys for both sides, with the heads of their chains, and the rows of each side. */
export interface JoinState {
  keys: KeyedTable;
  readonly left: Bag | WeightedRows;
  readonly right: Bag | WeightedRows;
}

/** The columns of the table of keys: the key, then the heads of the left and of the right chain. */
export function joinKeys({ leftKeys, rightKeys }: JoinPlan): Schema {
  const keys = leftKeys.map((key, i) =>
    specOf(`key${i}`, { ...key, nullable: false, scale: Math.max(key.scale, rightKeys[i]?.scale ?? 0) }),
  );
  return [...keys, specOf("left", HEAD), specOf("right", HEAD)];
}

const HEAD = { type: "int", nullable: false, scale: 0 } as const;

export type Probe = (input: Batch, state: JoinState, errors: RowErrors) => Batch;

interface Stretch {
  readonly input: Schema;
  readonly steps: readonly RowStep[];
}

interface After {
  readonly steps: readonly RowStep[];
  readonly output: Schema;
}

const ROWS_LEAST = 16;

/**
 * One side of a symmetric hash join: each row that comes is added to its own side's chain, and meets the rows that the
 * other side has under its key, so each pair is made once, by the row that comes later; its weight is the product of theirs.
 * NULL in a key meets nothing; such a row is kept only where its side comes out by itself.
 *
 * The pairs go through the steps that follow the join before they are written. Where matches are counted, the sum of the weights
 * of the rows that meet a row is kept with it; what follows from it comes out at the end of the round.
 */
export function probe(plan: JoinPlan, side: Side, shape: JoinShape, before: Stretch, after: After): Probe {
  const made = new ProbeCode(plan, side, shape, before, after);
  const run = functionOf(made.code);
  const widest = rowsPerRow(before.steps);
  const other: Side = side === "left" ? "right" : "left";
  const { shared } = made.target;
  // The output grows while it is written; it begins with room for what the last batch gave.
  let expected = ROWS_LEAST;
  return (input, state, errors) => {
    const capacity = Math.min(input.rows, expected);
    const out = emptyOutput(after.output, shared, { input, other: state[other] }, capacity);
    if (shape.isWeighted) out.weights = new Int32Array(capacity);
    // Room for all that can come, so that no array is replaced while the rows are gone through.
    if (shape[side].rows !== "none") state[side].reserve(input.rows * widest);
    state.keys.reserve(input.rows * widest);
    out.rows = run(input, { ...state, out }, errors);
    expected = Math.max(ROWS_LEAST, Math.ceil(1.25 * out.rows));
    return out;
  };
}

class ProbeCode {
  readonly code = new CodeBuilder();
  readonly target: BatchTarget;
  readonly #other: Side;
  readonly #own: SideShape;
  readonly #theirs: SideShape;
  readonly #key: GeneratedKey;
  readonly #values: GeneratedKey | null;
  readonly #met: Value[];
  readonly #pairs: boolean;

  constructor(
    readonly plan: JoinPlan,
    readonly side: Side,
    readonly shape: JoinShape,
    before: Stretch,
    readonly after: After,
  ) {
    const { code } = this;
    this.#other = side === "left" ? "right" : "left";
    this.#own = shape[side];
    this.#theirs = shape[this.#other];
    this.#pairs = !["semi", "anti", "mark"].includes(plan.join);
    const keys = joinKeys(plan);
    const heads = { left: keys.length - 2, right: keys.length - 1 };
    code.line(
      "const out = output.out, table = output.keys;",
      `const own = output.${side}, other = output.${this.#other};`,
      "const given = input.weights;",
    );
    const row = columnsOf(code, "input", before.input, "i");
    this.#met = columnsOf(code, "other", plan[this.#other].columns, "j");
    this.target = new BatchTarget(code, "out", after.output);
    this.#key = new GeneratedKey(code, "table", keys.slice(0, keys.length - 2));
    code.line("let k = 0, room = out.capacity, weights = out.weights;", ...this.#key.hoist);
    code.line(
      `const heads = table.columns[${heads[side]}].values, others = table.columns[${heads[this.#other]}].values;`,
      "const next = other.next;",
    );
    this.#values = this.#keeping();
    if (this.#theirs.rows === "weighted") code.line("const theirWeights = other.weights;");
    if (this.#theirs.counts) code.line("const matches = other.matches, unknown = other.unknown;");
    rowLoop(code, () => rowSteps(code, before.steps, row, (values) => this.#row(values)));
    if (this.#own.rows === "bag") code.line("own.batch.rows = at;");
    code.line("return k;");
  }

  get #keys(): readonly Expression[] {
    return this.side === "left" ? this.plan.leftKeys : this.plan.rightKeys;
  }

  /** The names that rows of the own side are kept by. */
  #keeping(): GeneratedKey | null {
    const { code } = this;
    const schema = this.plan[this.side].columns;
    if (this.#own.counts) code.line("const ownMatches = own.matches, ownUnknown = own.unknown;");
    if (this.#own.rows === "bag") {
      code.line("let at = own.rows;", "const links = own.next;");
      return null;
    }
    if (this.#own.rows === "none") return null;
    code.line("const rowTable = own.table, ownWeights = own.weights, dirty = own.isDirty;");
    const values = new GeneratedKey(code, "rowTable", schema);
    code.line(...values.hoist);
    return values;
  }

  #row(values: readonly Value[]): void {
    const { code } = this;
    code.line("const w = given === null ? 1 : given[i];");
    const keys = this.#keys.map((each) => compile(code, each, values));
    const isNull = keys.flatMap(({ n }) => n ?? []);
    if (isNull.length === 0) return this.#meet(values, keys);
    code.block(`if (!(${isNull.join(" || ")}))`, () => this.#meet(values, keys));
    if (this.#own.counts || this.#own.rows === "none") code.block("else", () => this.#alone(values));
    return undefined;
  }

  /** A row whose key is NULL meets nothing. */
  #alone(values: readonly Value[]): void {
    const { code } = this;
    if (this.#own.rows === "none") return this.#lone(values);
    if (this.#own.rows === "bag") {
      code.line("const place = at;", "ownMatches[place] = 0;", "ownUnknown[place] = 0;");
      return storeRow(code, this.plan[this.side].columns, values);
    }
    return this.#find(values, () => {});
  }

  #meet(values: readonly Value[], keys: readonly Value[]): void {
    const { code } = this;
    this.#key.compute(keys);
    code.line(`let r = ${this.#key.find};`);
    if (this.#own.rows !== "none")
      code.block("if (r < 0)", () => {
        code.line("r = table.insert();", ...this.#key.store("r"), "heads[r] = 0;", "others[r] = 0;");
        if (this.#key.hasTexts) code.line("table.retain(r);");
      });
    if (this.#own.rows === "bag") {
      code.line("const place = at, isNew = true;");
      storeRow(code, this.plan[this.side].columns, values);
      code.line("links[place] = heads[r];", "heads[r] = place + 1;");
      if (this.#own.counts) code.line("ownMatches[place] = 0;", "ownUnknown[place] = 0;");
    } else if (this.#own.rows === "weighted")
      this.#find(values, () => code.line("own.link(place, r, heads);"));
    else code.line("let hasMet = false;");
    const chain = "for (let j = r < 0 ? -1 : others[r] - 1; j >= 0; j = next[j] - 1)";
    // A temporal join emits nothing when its table changes.
    if (this.#theirs.rows !== "none") code.block(chain, () => guarded(code, () => this.#pair(values)));
    if (this.#own.rows === "none") code.block("if (!hasMet)", () => this.#lone(values));
  }

  /** Finds or makes the row of these values, as `place`, and adds the weight to it. */
  #find(values: readonly Value[], link: () => void): void {
    const { code } = this;
    const own = this.#values;
    if (own === null) return;
    own.compute(values);
    code.line(`let place = ${own.find};`, "const isNew = place < 0;");
    code.block("if (isNew)", () => {
      code.line("place = own.insert();", ...own.store("place"), "own.begin(place);");
      link();
    });
    code.line("ownWeights[place] += w;", "own.touch(place);");
  }

  /** One row of the other side with the same key, `j`. */
  #pair(values: readonly Value[]): void {
    const { code, plan, side } = this;
    const all = side === "left" ? [...values, ...this.#met] : [...this.#met, ...values];
    const weight = this.#theirs.rows === "weighted" ? "theirWeights[j]" : "1";
    const count = (isKnown: boolean) => {
      const name = isKnown ? "atches" : "nknown";
      if (this.#own.counts) code.line(`if (isNew) own${isKnown ? "M" : "U"}${name}[place] += ${weight};`);
      if (!this.#theirs.counts) return;
      code.line(`${isKnown ? "m" : "u"}${name}[j] += w;`);
      if (this.#theirs.rows === "weighted") code.line("other.touch(j);");
    };
    const meet = () => {
      count(true);
      if (this.#own.rows === "none") code.line("hasMet = true;");
      if (this.#pairs) this.#write(all, this.shape.isWeighted ? `w * ${weight}` : null);
    };
    if (plan.condition === null) return meet();
    const { v, n } = compile(code, plan.condition, all);
    code.block(n === null ? `if (${v})` : `if (!${n} && ${v})`, meet);
    if (plan.join === "mark" && n !== null) code.block(`else if (${n})`, () => count(false));
    return undefined;
  }

  /** The stream's row of a temporal left join that met nothing in the table. */
  #lone(values: readonly Value[]): void {
    if (this.plan.join !== "left") return;
    const nothing = this.plan[this.#other].columns.map((spec) => ({ v: blank(spec), n: "true" }));
    this.#write([...values, ...nothing], this.shape.isWeighted ? "w" : null);
  }

  #write(row: readonly Value[], weight: string | null): void {
    const { code, target } = this;
    rowSteps(code, this.after.steps, row, (result) => {
      target.reserve();
      if (weight !== null) code.line(`weights[k] = ${weight};`);
      target.write(result);
    });
  }
}

export type Relink = (state: JoinState) => void;

/** Makes the chains of one side again, from its rows. */
export function relink(plan: JoinPlan, side: Side, shape: JoinShape): Relink {
  const code = new CodeBuilder();
  const keys = joinKeys(plan);
  const head = side === "left" ? keys.length - 2 : keys.length - 1;
  const given = columnsOf(code, "input", plan[side].columns, "i");
  code.line("const table = output.keys, own = output.own, next = own.next;");
  const key = new GeneratedKey(code, "table", keys.slice(0, keys.length - 2));
  code.line("let heads;");
  const hoist = [...key.hoist, `heads = table.columns[${head}].values;`];
  code.line(...hoist);
  const isWeighted = shape[side].rows === "weighted";
  rowLoop(code, () => {
    const link = () => {
      const values = (side === "left" ? plan.leftKeys : plan.rightKeys).map((each) =>
        compile(code, each, given),
      );
      const isNull = values.flatMap(({ n }) => n ?? []);
      code.block(isNull.length === 0 ? "" : `if (!(${isNull.join(" || ")}))`, () => {
        key.compute(values);
        code.line(`let r = ${key.find};`);
        code.block("if (r < 0)", () => {
          code.line("r = table.insert();", ...hoist, ...key.store("r"));
          code.line(`table.columns[${keys.length - 2}].values[r] = 0;`);
          code.line(`table.columns[${keys.length - 1}].values[r] = 0;`);
          if (key.hasTexts) code.line("table.retain(r);");
        });
        code.line(isWeighted ? "own.link(i, r, heads);" : "next[i] = heads[r]; heads[r] = i + 1;");
      });
    };
    if (isWeighted) code.block("if (own.table.isLive(i))", link);
    else link();
  });
  code.line("return 0;");
  const run = functionOf(code);
  const errors = new RowErrors();
  return (state) => {
    const own = state[side];
    run({ columns: own.columns, rows: own.rows }, { keys: state.keys, own }, errors);
  };
}
