import { userAggregate } from "../../sql/index.js";
import type { Batch, ColumnSpec, Schema } from "../columns/index.js";
import type { Aggregate, Expression, RowStep } from "../plan/index.js";
import type { GroupValues, KeyedTable } from "../tables/index.js";
import { advance, numericAt, operandOf } from "./advance.js";
import { type StateColumns, valuesKept } from "./aggregate-state.js";
import { anyNull, CodeBuilder, type Value } from "./code.js";
import { compile } from "./expression.js";
import { functionOf, type RowErrors } from "./function.js";
import { countedValue, firstSight, listedValues } from "./group-values.js";
import { GeneratedKey } from "./key.js";
import { columnsOf, rowLoop, rowSteps, rowsPerRow } from "./row.js";

/** How groups are updated. */
export interface GroupingCode {
  /** The groups that change in a round are noted, with their state before it. */
  readonly notes: boolean;
  /** The key by which groups become complete at a watermark; `isStrict` as in `TimeBound`. */
  readonly closing: { readonly key: number; readonly isStrict: boolean } | null;
}

/** The groups that a round changed, in the order in which it first did, and the state that they had before it. */
export interface GeneratedRound {
  rows: Int32Array;
  /** The row of `before` that has the old state, or -1 if the group is new. */
  olds: Int32Array;
  count: number;
  readonly before: Batch;
  reserve(more: number): void;
}

/** What generated code works on. */
export interface Groups {
  readonly table: KeyedTable;
  /** For each aggregate with DISTINCT of rows that are never taken back, the values that its groups have seen. */
  readonly seen: readonly (KeyedTable | null)[];
  readonly values: readonly (GroupValues | null)[];
  readonly round: GeneratedRound | null;
  /** Groups by the key that completes them. */
  readonly windows: { open(key: number, row: number): void } | null;
  /** Groups up to here are complete. */
  closed: number;
  /** The rows of the input that belong to complete groups only. */
  late: number[];
}

export type Update = (input: Batch, groups: Groups, errors: RowErrors) => void;

/**
 * Grouped aggregation, fused with the steps before it: per row the key and the operands are computed, the group's row
 * is found or made, and its state goes on in place. All that can fail is computed before anything is written, so a row that
 * is refused has changed nothing. (A sum that leaves the range fails only in a group that is there already.)
 */
export function updateGroups(
  input: Schema,
  steps: readonly RowStep[],
  keys: readonly Expression[],
  aggregates: readonly Aggregate[],
  state: StateColumns,
  { notes, closing }: GroupingCode = { notes: false, closing: null },
): Update {
  const code = new CodeBuilder();
  const { retracts } = state;
  const row = columnsOf(code, "input", input, "i");
  code.line("const table = output.table;");
  const key = new GeneratedKey(code, "table", state.schema.slice(0, state.keyCount));
  const columns = state.schema
    .slice(state.keyCount)
    .map((spec, i) => ({ name: `s${state.keyCount + i}`, spec, index: state.keyCount + i }));
  const hoist = () => [
    ...key.hoist,
    "flags = table.flags;",
    ...columns.flatMap(({ name, spec, index }) => {
      const at = `table.columns[${index}]`;
      return [`${name} = ${at}.${arrayOf(spec)};`, ...(spec.nullable ? [`${name}n = ${at}.nulls;`] : [])];
    }),
  ];
  const names = columns.flatMap(({ name, spec }) => (spec.nullable ? [name, `${name}n`] : [name]));
  code.line(`let ${["flags", ...names].join(", ")};`, ...hoist());
  if (retracts) code.line("const weights = input.weights;");
  if (notes) code.line(...noting(state));
  if (closing !== null) code.line("const closed = output.closed, late = output.late;");
  const w = retracts ? "w" : "1";
  rowLoop(code, () => {
    if (retracts) code.line("const w = weights === null ? 1 : weights[i];");
    if (closing !== null) code.line("let isLate = false, isTaken = false;");
    rowSteps(code, steps, row, (given) => {
      const operands = aggregates.map((aggregate) => operandOf(code, aggregate, retracts, given));
      const listed = aggregates.map((aggregate) => listedValues(code, aggregate, given));
      key.compute(keys.map((each) => compile(code, each, given)));
      const taken = () => {
        code.line(`let r = ${key.find};`);
        const users = aggregates.map((aggregate, i) => {
          const { counts, v } = operands[i] ?? { counts: null, v: "0" };
          return userState(
            code,
            aggregate,
            counts,
            [{ v, n: null }, ...(listed[i] ?? [])],
            state.places[i] ?? 0,
            w,
          );
        });
        code.block("if (r < 0)", () => {
          code.line("r = table.insert();", ...hoist(), ...key.store("r"));
          for (const { name, spec, index } of columns) code.line(...blankState(name, spec, index));
          if (key.hasTexts) code.line("table.retain(r);");
          if (notes) code.line("flags[r] |= 4; changed[t] = r; olds[t++] = -1;");
          if (closing !== null) code.line(`output.windows.open(${key.names(closing.key).k}, r);`);
        });
        code.line(...touching(state, aggregates, notes));
        if (state.rows !== null) code.line(`s${state.rows}[r] += w;`);
        const writes = aggregates.map((aggregate, i) => {
          const operand = operands[i] ?? { v: "0", n: null, counts: "false" };
          const place = state.places[i] ?? 0;
          const next = users[i] ?? null;
          if (next !== null)
            return () => code.line(`if (${next} !== null) table.setText(${place}, r, ${next});`);
          switch (valuesKept(aggregate, retracts)) {
            case null:
              return advance(code, aggregate, operand, place, w);
            case "distinct": {
              if (!retracts)
                return advance(
                  code,
                  aggregate,
                  firstSight(code, aggregate, operand, i, closing !== null),
                  place,
                  w,
                );
              const change = countedValue(code, aggregate, i, operand, [], w);
              return advance(code, aggregate, { ...operand, counts: `${change} !== 0` }, place, change);
            }
            default:
              countedValue(code, aggregate, i, operand, listed[i] ?? [], w);
              return () => {};
          }
        });
        for (const write of writes) write();
      };
      if (closing === null) return taken();
      const { k, u } = key.names(closing.key);
      const isClosed = `${k} ${closing.isStrict ? "<=" : "<"} closed`;
      const isNullable = state.schema[closing.key]?.nullable === true;
      code.line(`if (${isNullable ? `${u} === 0 && ${isClosed}` : isClosed}) isLate = true;`);
      return code.block("else", () => {
        code.line("isTaken = true;");
        taken();
      });
    });
    if (closing !== null) code.line("if (isLate && !isTaken) late.push(i);");
  });
  if (notes) code.line("round.count = t;", "before.rows = m;");
  code.line("return 0;");
  const run = functionOf(code);
  const widest = rowsPerRow(steps);
  return (batch, groups, errors) => {
    groups.round?.reserve(batch.rows * widest);
    run(batch, groups, errors);
  };
}

/** The next state of an aggregate of a program, which is computed before the group is made: it may fail. */
function userState(
  code: CodeBuilder,
  { name, user }: Aggregate,
  counts: string | null,
  operands: readonly Value[],
  place: number,
  w: string,
): string | null {
  if (name !== "user") return null;
  const known = anyNull(operands);
  const when = [...(counts === null ? [] : [counts]), ...(known === null ? [] : [`!${known}`])];
  const own = code.constant(userAggregate(user?.name ?? ""));
  const values = operands.map(({ v }) => v);
  const call = code.call("userNext", [own, "table", String(place), "r", w, ...values], true);
  return code.bind(when.length === 0 ? call : `${when.join(" && ")} ? ${call} : null`);
}

function arrayOf({ type }: ColumnSpec): "codes" | "values" {
  return type === "text" || type === "json" ? "codes" : "values";
}

/** The state of a group that has no rows yet; its row may have been another's. */
function blankState(name: string, { type, nullable }: ColumnSpec, index: number): string[] {
  const zero = type === "numeric" ? `library.setNumeric(table.columns[${index}], r, 0);` : `${name}[r] = 0;`;
  return nullable ? [zero, `${name}n[r] = 1;`] : [zero];
}

/** The arrays that the state before the round is copied to. There is room for every row of the batch. */
function noting({ schema }: StateColumns): string[] {
  return [
    "const round = output.round, before = round.before, changed = round.rows, olds = round.olds;",
    "let t = round.count, m = before.rows;",
    ...schema.flatMap((spec, i) => [
      `const b${i} = before.columns[${i}], bv${i} = b${i}.${arrayOf(spec)};`,
      ...(spec.nullable ? [`const bn${i} = b${i}.nulls;`] : []),
    ]),
  ];
}

/** A group that was there is changed: noted once between checkpoints, and once in a round with its state before. */
function touching(
  { schema, keyCount }: StateColumns,
  aggregates: readonly Aggregate[],
  notes: boolean,
): string[] {
  if (!notes) return ["else if ((flags[r] & 2) === 0) table.touch(r);"];
  if (aggregates.length === 0 && keyCount === schema.length) return [];
  const copies = schema.flatMap((spec, i) => {
    const column = `table.columns[${i}]`;
    const nulls = spec.nullable ? [`bn${i}[m] = ${column}.nulls[r];`] : [];
    const values = i < keyCount ? `${column}.${arrayOf(spec)}` : `s${i}`;
    if (spec.type === "numeric")
      return [`library.setNumeric(b${i}, m, ${numericAt(values, column)});`, ...nulls];
    return [`bv${i}[m] = ${values}[r];`, ...nulls];
  });
  return [
    "else if ((flags[r] & 6) !== 6) {",
    "table.touch(r);",
    "if ((flags[r] & 4) === 0) {",
    "flags[r] |= 4;",
    ...copies,
    "changed[t] = r; olds[t++] = m++;",
    "}",
    "}",
  ];
}
