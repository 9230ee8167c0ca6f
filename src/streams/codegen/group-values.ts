import type { Aggregate, Expression } from "../plan/index.js";
import type { Operand } from "./advance.js";
import { specOf, valueColumns } from "./aggregate-state.js";
import type { CodeBuilder, Value } from "./code.js";
import { compile } from "./expression.js";

/** The columns of the values that an aggregate keeps, in tables and in generated code. */
export function valueSpecs(aggregate: Aggregate) {
  return valueColumns(aggregate).map((each, i) =>
    specOf(`value${i}`, aggregate.list === null ? { ...each, nullable: false } : each),
  );
}

/** DISTINCT where no row is taken back: a value counts if the group has not seen it. The group is known by its row. */
export function firstSight(
  code: CodeBuilder,
  { operand }: Aggregate,
  value: Operand,
  index: number,
  isLinked: boolean,
): Operand {
  const seen = code.name("d");
  const counts = code.name();
  code.line(`let ${counts} = ${value.counts ?? "true"};`);
  code.block(`if (${counts})`, () => {
    code.line(`const ${seen} = output.seen[${index}];`);
    const type = operand?.type ?? "int";
    const member = code.bind(numberOf(type, `${seen}.pool(1)`, value.v));
    code.block(`if (${seen}.find(${seen}, r, ${member}) >= 0)`, () => code.line(`${counts} = false;`));
    code.block("else", () => {
      const place = code.name();
      code.line(`const ${place} = ${seen}.insert();`, `${seen}.columns[0].values[${place}] = r;`);
      code.line(written(type, `${seen}.columns[1]`, place, member));
      if (isText(type)) code.line(`${seen}.retain(${place});`);
      if (isLinked)
        code.line(
          `output.values[${index}].enter(r, ${place});`,
          `output.values[${index}].change(${place}, 1);`,
        );
    });
  });
  return { v: value.v, n: null, counts };
}

/** The values of a row that a list keeps besides the operand. They are computed with the operands, before anything is written. */
export function listedValues(
  code: CodeBuilder,
  aggregate: Aggregate,
  row: readonly Value[],
): readonly Value[] {
  return valueColumns(aggregate)
    .slice(1)
    .map((each) => compile(code, each, row));
}

/**
 * Counts a value of the group in `r`, with the weight `w`. What comes out says whether the group has it since (1), has it no
 * more (-1), or neither (0).
 */
export function countedValue(
  code: CodeBuilder,
  aggregate: Aggregate,
  index: number,
  operand: Operand,
  listed: readonly Value[],
  w: string,
): string {
  const [change, values, table, place] = [code.name(), code.name("d"), code.name("d"), code.name()];
  const columns = valueColumns(aggregate);
  const specs = valueSpecs(aggregate);
  const isList = aggregate.name === "array_agg";
  // array_agg takes NULL as a value; all others pass over it.
  const given: readonly Value[] = [isList ? operand : { ...operand, n: null }, ...listed];
  const counts = isList ? (aggregate.filter === null ? null : operand.counts) : operand.counts;
  code.line(`let ${change} = 0;`);
  code.block(counts === null ? "" : `if (${counts})`, () => {
    code.line(`const ${values} = output.values[${index}], ${table} = ${values}.table;`);
    const cells = columns.map((column, i) => {
      const value = given[i] ?? { v: "0", n: null };
      const isNullable = specs[i]?.nullable === true;
      const u = isNullable ? code.bind(value.n === null ? "0 | 0" : `${value.n} ? 1 : 0`) : null;
      const number = numberOf(column.type, `${table}.pool(${i + 1})`, value.v);
      const k = code.bind(u === null || value.n === null ? `(${number})` : `${u} === 1 ? 0 : ${number}`);
      return { k, u, column };
    });
    const key = cells.flatMap(({ k, u }) => (u === null ? [k] : [k, u]));
    code.line(`let ${place} = ${table}.find(${[table, "r", ...key].join(", ")});`);
    code.block(`if (${place} < 0)`, () => {
      code.line(`${place} = ${table}.insert();`, `${table}.columns[0].values[${place}] = r;`);
      for (const [i, { k, u, column }] of cells.entries()) {
        const at = `${table}.columns[${i + 1}]`;
        code.line(written(column.type, at, place, k));
        if (u !== null) code.line(`${at}.nulls[${place}] = ${u};`);
      }
      if (cells.some(({ column }) => isText(column.type))) code.line(`${table}.retain(${place});`);
      code.line(`${values}.enter(r, ${place});`);
    });
    code.line(`${change} = ${values}.change(${place}, ${w});`);
  });
  return change;
}

function isText(type: Expression["type"]): boolean {
  return type === "text" || type === "json";
}

/** Writes a value of a key. A decimal that no double holds is a bigint, which its column keeps apart. */
function written(type: Expression["type"], column: string, row: string, value: string): string {
  if (type === "numeric") return `library.setNumeric(${column}, ${row}, ${value});`;
  return `${column}.${isText(type) ? "codes" : "values"}[${row}] = ${value};`;
}

/** A value as the number that a table knows it by. */
function numberOf(type: Expression["type"], pool: string, v: string): string {
  return isText(type) ? `${pool}.intern(${v})` : type === "bool" ? `(${v} ? 1 : 0)` : v;
}
