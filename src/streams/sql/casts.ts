import { builtinOf, type SqlType } from "../../sql/index.js";
import type { Expression } from "../plan/index.js";
import { valueType } from "./types.js";

/**
 * A cast that the engine's types do not decide, because several of SQL's types are one of them: dates are times, uuids are texts.
 * `null` if they do. A number in JSON becomes its text first, which is then cast on.
 */
export function castBetween(operand: Expression, from: SqlType, to: SqlType): Expression | null {
  const { nullable } = operand;
  const made = (name: string, type: SqlType): Expression | null => {
    const found = builtinOf(name, [from]);
    const held = valueType(type);
    if (found === undefined || held === null) return null;
    return { type: held, scale: 0, nullable, kind: "builtin", id: found.id, operands: [operand] };
  };
  if (to === "date" && (from === "timestamp" || from === "timestamptz")) {
    const unit: Expression = { type: "text", scale: 0, nullable: false, kind: "constant", value: "day" };
    return {
      type: "timestamp",
      scale: 0,
      nullable,
      kind: "call",
      name: "date_trunc",
      operands: [unit, operand],
    };
  }
  const isNumber = ["int2", "int4", "int8", "numeric", "float8"].includes(to);
  if (from === "jsonb" && isNumber) {
    const text = made(":number", "text");
    // A fraction is rounded as a decimal.
    if (text === null || to === "float8" || to === "numeric") return text;
    return { type: "numeric", scale: 16, nullable, kind: "cast", operand: text };
  }
  return made(`:${to}`, to);
}
