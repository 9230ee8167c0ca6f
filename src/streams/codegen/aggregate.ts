import type { Schema } from "../columns/index.js";
import type { Aggregate, Expression, Step } from "../plan/index.js";
import type { KeyedTable } from "../tables/index.js";
import { type StateColumns, sumType } from "./aggregate-state.js";
import { compared } from "./arithmetic.js";
import { cast } from "./casts.js";
import { Code, type Value } from "./code.js";
import { blank, compile } from "./expression.js";
import { functionOf, type RowErrors } from "./function.js";
import { Key } from "./key.js";
import { columnsOf, rowLoop, rowSteps } from "./row.js";

/** The table of groups, and for each aggregate with DISTINCT the values that its groups have seen. */
export interface Groups {
  readonly table: KeyedTable;
  readonly seen: readonly (KeyedTable | null)[];
}

export type Update = (input: { readonly rows: number }, groups: Groups, errors: RowErrors) => void;

/**
 * Grouped aggregation, fused with the steps before it: per row the key and the operands are computed, the group's row
 * is found or made, and its state goes on in place. All that can fail is computed before anything is written, so a row that
 * is refused has changed nothing. (A sum that leaves the range fails only in a group that is there already.)
 */
export function updateGroups(
  input: Schema,
  steps: readonly Step[],
  keys: readonly Expression[],
  aggregates: readonly Aggregate[],
  state: StateColumns,
): Update {
  const code = new Code();
  const row = columnsOf(code, "input", input, "i");
  code.line("const table = output.table;");
  const key = new Key(code, "table", state.schema.slice(0, state.keyCount));
  const columns = state.schema
    .slice(state.keyCount)
    .map((spec, i) => ({ name: `s${state.keyCount + i}`, spec }));
  const hoist = () => [
    ...key.hoist,
    "flags = table.flags;",
    ...columns.flatMap(({ name, spec }, i) => {
      const at = `table.columns[${state.keyCount + i}]`;
      const values = spec.type === "text" || spec.type === "json" ? "codes" : "values";
      return [`${name} = ${at}.${values};`, ...(spec.nullable ? [`${name}n = ${at}.nulls;`] : [])];
    }),
  ];
  code.line(
    `let ${["flags", ...columns.flatMap(({ name, spec }) => (spec.nullable ? [name, `${name}n`] : [name]))].join(", ")};`,
  );
  code.line(...hoist());
  rowLoop(code, () =>
    rowSteps(code, steps, row, (given) => {
      const operands = aggregates.map((aggregate) => operandOf(code, aggregate, given));
      key.compute(keys.map((each) => compile(code, each, given)));
      code.line(`let r = ${key.find};`);
      code.block("if (r < 0)", () => {
        code.line("r = table.insert();", ...hoist(), ...key.store("r"));
        for (const { name, spec } of columns) if (spec.nullable) code.line(`${name}n[r] = 1;`);
        if (key.hasTexts) code.line("table.retain(r);");
      });
      code.line("else if ((flags[r] & 2) === 0) table.touch(r);");
      const writes = aggregates.flatMap((aggregate, i) => {
        const operand = operands[i];
        if (operand === undefined) return [];
        const taken = aggregate.distinct ? firstSight(code, aggregate, operand, i) : operand;
        return [advance(code, aggregate, taken, state.places[i] ?? 0)];
      });
      for (const write of writes) write();
    }),
  );
  code.line("return 0;");
  const run = functionOf(code);
  return (batch, groups, errors) => void run(batch, groups, errors);
}

/** An operand's value, and when the row counts. */
interface Operand extends Value {
  /** An expression, or `null` if the row always counts. */
  readonly counts: string | null;
}

function operandOf(code: Code, aggregate: Aggregate, row: readonly Value[]): Operand {
  const { operand, filter } = aggregate;
  const one: Value = { v: "1", n: null };
  const value = () => {
    if (operand === null) return one;
    const given = compile(code, operand, row);
    if (aggregate.name !== "sum" && aggregate.name !== "avg") return given;
    const sum = sumType(aggregate);
    if (sum.type === operand.type && sum.scale === operand.scale) return given;
    return { v: code.bind(cast(code, operand, sum, given.v)), n: given.n };
  };
  if (filter === null) {
    const { v, n, text } = value();
    return { v, n, ...(text === undefined ? {} : { text }), counts: n === null ? null : `!${n}` };
  }
  const passes = compile(code, filter, row);
  const [counts, name] = [code.name(), code.name()];
  code.line(`let ${counts} = false, ${name} = ${blank(operand ?? aggregate)};`);
  code.block(passes.n === null ? `if (${passes.v})` : `if (!${passes.n} && ${passes.v})`, () => {
    const { v, n } = value();
    code.line(`${counts} = ${n === null ? "true" : `!${n}`};`, `${name} = ${v};`);
  });
  return { v: name, n: null, counts };
}

/** DISTINCT: a value counts if the group has not seen it. The group is known by its row. */
function firstSight(code: Code, { operand }: Aggregate, value: Operand, index: number): Operand {
  const seen = code.name("d");
  const counts = code.name();
  code.line(`let ${counts} = ${value.counts ?? "true"};`);
  code.block(`if (${counts})`, () => {
    code.line(`const ${seen} = output.seen[${index}];`);
    const type = operand?.type ?? "int";
    const at =
      type === "text" || type === "json"
        ? `${seen}.pool(1).intern(${value.v})`
        : type === "bool"
          ? `(${value.v} ? 1 : 0)`
          : value.v;
    const member = code.bind(at);
    code.block(`if (${seen}.find(${seen}, r, ${member}) >= 0)`, () => code.line(`${counts} = false;`));
    code.block("else", () => {
      const place = code.name();
      code.line(`const ${place} = ${seen}.insert();`, `${seen}.columns[0].values[${place}] = r;`);
      const values = type === "text" || type === "json" ? "codes" : "values";
      code.line(`${seen}.columns[1].${values}[${place}] = ${member};`);
      if (values === "codes") code.line(`${seen}.retain(${place});`);
    });
  });
  return { v: value.v, n: null, counts };
}

/** Computes the next state of one aggregate now, and returns what writes it. */
function advance(code: Code, aggregate: Aggregate, { v, counts }: Operand, place: number): () => void {
  const [first, second] = [`s${place}`, `s${place + 1}`];
  const when = (lines: readonly string[]) => () =>
    counts === null ? code.line(...lines) : code.block(`if (${counts})`, () => code.line(...lines));
  switch (aggregate.name) {
    case "count":
      return when([`${first}[r] += 1;`]);
    case "sum":
    case "avg": {
      const { type } = sumType(aggregate);
      const column = `table.columns[${place + 1}]`;
      const before = type === "numeric" ? numericAt(second, column) : `${second}[r]`;
      const next = code.name();
      const sum =
        type === "numeric"
          ? code.call("addNumeric", [before, v])
          : type === "int"
            ? code.call("int", [`${before} + ${v}`], true)
            : `${before} + ${v}`;
      code.line(
        `let ${next} = 0;`,
        counts === null ? `${next} = ${sum};` : `if (${counts}) ${next} = ${sum};`,
      );
      const store =
        type === "numeric" ? `library.setNumeric(${column}, r, ${next});` : `${second}[r] = ${next};`;
      return when([store, `${first}[r] += 1;`]);
    }
    case "min":
    case "max":
      return when(extreme(code, aggregate, v, place));
    case "bool_and":
    case "bool_or": {
      const joined =
        aggregate.name === "bool_and" ? `${first}[r] & (${v} ? 1 : 0)` : `${first}[r] | (${v} ? 1 : 0)`;
      return when([`${first}[r] = ${first}n[r] === 1 ? (${v} ? 1 : 0) : ${joined};`, `${first}n[r] = 0;`]);
    }
  }
}

function extreme(code: Code, { name, type }: Aggregate, v: string, place: number): string[] {
  const column = `table.columns[${place}]`;
  const state = `s${place}`;
  const operator = name === "min" ? "<" : ">";
  const isText = type === "text" || type === "json";
  const before = isText
    ? `${column}.texts.get(${state}[r])`
    : type === "numeric"
      ? numericAt(state, column)
      : `${state}[r]`;
  const further =
    type === "bool" ? `(${v} ? 1 : 0) ${operator} ${before}` : compared(code, operator, type, v, before);
  const store = isText
    ? `table.setText(${place}, r, ${v});`
    : type === "numeric"
      ? `library.setNumeric(${column}, r, ${v}); ${state}n[r] = 0;`
      : `${state}[r] = ${type === "bool" ? `(${v} ? 1 : 0)` : v}; ${state}n[r] = 0;`;
  return [`if (${state}n[r] === 1 || ${further}) { ${store} }`];
}

function numericAt(values: string, column: string): string {
  return `(${values}[r] === ${values}[r] ? ${values}[r] : ${column}.bigs.get(r))`;
}
