import type { Schema } from "../columns/index.js";
import type { CodeBuilder, Value } from "./code.js";

/**
 * Appends a row to the columns of `own`, at `at`. A text of a batch is added once for each of the batch's own codes. The arrays
 * must have room and are read once, before the loop.
 */
export function storeRow(code: CodeBuilder, schema: Schema, row: readonly Value[]): void {
  for (const [i, { type, nullable }] of schema.entries()) {
    const { v, n, text } = row[i] ?? { v: "0", n: "true" };
    const [column, values, nulls] = [code.name("b"), code.name("bv"), code.name("bn")];
    const isText = type === "text" || type === "json";
    code.before(`const ${column} = own.columns[${i}], ${values} = ${column}.${isText ? "codes" : "values"};`);
    if (nullable) {
      code.before(`const ${nulls} = ${column}.nulls;`);
      code.line(`${nulls}[at] = ${n === null ? "0" : `${n} ? 1 : 0`};`);
    }
    const given = (value: string) => (n === null ? value : `${n} ? 0 : ${value}`);
    if (type === "numeric") code.line(`library.setNumeric(${column}, at, ${given(v)});`);
    else if (!isText) code.line(`${values}[at] = ${given(type === "bool" ? `(${v} ? 1 : 0)` : v)};`);
    else if (text === undefined) code.line(`${values}[at] = ${given(`${column}.texts.add(${v})`)};`);
    else {
      const known = code.name("m");
      code.before(`const ${known} = new Int32Array(${text.texts}.size).fill(-1);`);
      code.line(`let ${known}c = 0;`);
      code.block(n === null ? "" : `if (!${n})`, () =>
        code.line(
          `${known}c = ${known}[${text.code}];`,
          `if (${known}c < 0) ${known}[${text.code}] = ${known}c = ${column}.texts.add(${text.texts}.get(${text.code}));`,
        ),
      );
      code.line(`${values}[at] = ${known}c;`);
    }
  }
  code.line("at += 1;");
}
