import type { Batch, Schema } from "../columns/index.js";
import type { KeyedTable } from "../tables/index.js";
import { CodeBuilder, type Value } from "./code.js";
import { functionOf, RowErrors } from "./function.js";
import { GeneratedKey } from "./key.js";
import { columnsOf, rowLoop } from "./row.js";

/** Writes the number of each row's group, by some of its columns, into `ids` from `from` on; new groups are added to the table. */
export type GroupIds = (batch: Batch, table: KeyedTable, ids: Int32Array, from: number) => void;

export function groupIds(schema: Schema, keys: readonly number[]): GroupIds {
  const code = new CodeBuilder();
  const row = columnsOf(code, "input", schema, "i");
  code.line("const table = output.table, ids = output.ids, from = output.from;");
  const key = new GeneratedKey(
    code,
    "table",
    keys.flatMap((index) => schema[index] ?? []),
  );
  code.line(...key.hoist);
  rowLoop(code, () => {
    key.compute(keys.map((index): Value => row[index] ?? { v: "0", n: null }));
    code.line(`let r = ${key.find};`);
    code.block("if (r < 0)", () => {
      code.line("r = table.insert();", ...key.hoist, ...key.store("r"));
      if (key.hasTexts) code.line("table.retain(r);");
    });
    code.line("ids[from + i] = r;");
  });
  code.line("return 0;");
  const run = functionOf(code);
  const errors = new RowErrors();
  return (batch, table, ids, from) => void run(batch, { table, ids, from }, errors);
}
