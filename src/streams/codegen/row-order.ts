import { type Column, compareCells, compareText, type Scaled, type Schema } from "../columns/index.js";
import type { SortKey } from "../plan/index.js";

/** The order of row `a` of some columns and row `b` of others of the same schema. */
export type RowOrder = (
  this: void,
  a: number,
  of: readonly Column[],
  b: number,
  than: readonly Column[],
) => number;

type Compare = (this: void, a: Scaled, b: Scaled) => number;

const made = new Map<string, RowOrder>();

/**
 * The order of rows by sort keys, as code for one shape of them. `isTotal`: rows that the keys do not tell apart are compared by all
 * their columns, so that only equal rows are equal.
 */
export function rowOrder(schema: Schema, order: readonly SortKey[], isTotal: boolean): RowOrder {
  const rest = schema.map((_, index) => ({ index, descending: false, nullsFirst: false }));
  const code = [...order, ...(isTotal ? rest : [])]
    .filter(({ index }, i, all) => all.findIndex((each) => each.index === index) === i)
    .flatMap((key) => compared(schema[key.index], key))
    .join("\n");
  const known = made.get(code);
  if (known !== undefined) return known;
  const text = `return function (a, of, b, than) {\n${code}\nreturn 0;\n}`;
  const own = new Function("compareText", "compareCells", "scaledAt", text)(
    compareText,
    compareCells satisfies Compare,
    scaledAt,
  ) as RowOrder;
  made.set(code, own);
  return own;
}

function compared(spec: Schema[number] | undefined, { index, descending, nullsFirst }: SortKey): string[] {
  if (spec === undefined) return [];
  const { type, nullable } = spec;
  const [less, more] = descending ? [1, -1] : [-1, 1];
  const own = valueLines(type, less, more);
  return [
    "{",
    `const x = of[${index}], y = than[${index}];`,
    ...(nullable
      ? [
          "const xn = x.nulls[a], yn = y.nulls[b];",
          `if (xn !== yn) return xn === 1 ? ${nullsFirst ? -1 : 1} : ${nullsFirst ? 1 : -1};`,
          "if (xn === 0) {",
          ...own,
          "}",
        ]
      : own),
    "}",
  ];
}

function valueLines(type: Schema[number]["type"], less: number, more: number): string[] {
  const plain = `if (v < w) return ${less}; if (v > w) return ${more};`;
  switch (type) {
    case "text":
    case "json":
      return [
        "const xt = x.texts, yt = y.texts, xc = x.codes[a], yc = y.codes[b];",
        `if (xt !== yt || xc !== yc) { const d = compareText(xt.get(xc), yt.get(yc)); if (d !== 0) return d < 0 ? ${less} : ${more}; }`,
      ];
    case "numeric":
    case "float":
      return [
        type === "float"
          ? "const v = x.values[a], w = y.values[b];"
          : "const v = scaledAt(x, a), w = scaledAt(y, b);",
        plain,
        // NaN lies behind all numbers.
        `if (v !== w) { const d = compareCells(v, w); if (d !== 0) return d < 0 ? ${less} : ${more}; }`,
      ];
    default:
      return ["const v = x.values[a], w = y.values[b];", plain];
  }
}

function scaledAt(column: Column, row: number): Scaled {
  const value = (column as Extract<Column, { storage: "numeric" }>).values[row] as number;
  return Number.isNaN(value)
    ? ((column as Extract<Column, { storage: "numeric" }>).bigs.get(row) ?? value)
    : value;
}
