import { type Column, setNumeric } from "../columns/index.js";
import type { TextPool } from "./text-pool.js";

/** Writes the values of a column of a batch into rows of a table; the texts that come with them are counted in. */
export function scatter(to: Column, from: Column, rows: Int32Array): void {
  if (to.nulls !== null && from.nulls !== null)
    for (let i = 0; i < rows.length; i++) to.nulls[rows[i] as number] = from.nulls[i] as number;
  if (to.storage === "numeric" && from.storage === "numeric") {
    for (let i = 0; i < rows.length; i++)
      setNumeric(to, rows[i] as number, from.bigs.get(i) ?? (from.values[i] as number));
  } else if (to.storage === "text" && from.storage === "text") {
    const pool = to.texts as TextPool;
    const codes = Int32Array.from({ length: from.texts.size }, (_, code) =>
      pool.intern(from.texts.get(code)),
    );
    for (let i = 0; i < rows.length; i++) {
      if (from.nulls !== null && from.nulls[i] === 1) continue;
      const code = codes[from.codes[i] as number] as number;
      to.codes[rows[i] as number] = code;
      pool.retain(code);
    }
  } else if (to.storage !== "text" && from.storage !== "text")
    for (let i = 0; i < rows.length; i++) to.values[rows[i] as number] = from.values[i] as number;
}
