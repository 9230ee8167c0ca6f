import type { A_Const, ColumnRef } from "libpg-query";
import type { SqlExpression } from "../ast.js";
import { decimalText } from "../values/decimal-text.js";
import { type StatementReader, words } from "./reader.js";

export function readColumn(reader: StatementReader, { fields, location }: ColumnRef): SqlExpression {
  const names = words(fields);
  const place = { location: location ?? -1 };
  if (names === null) return reader.unsupported("A star in an expression", place);
  if (names.length > 2) return reader.unsupported("A column name with a schema", place);
  const [first = "", second] = names.map((name) => reader.name(name));
  const span = reader.span(location);
  return second === undefined
    ? { kind: "column", table: null, name: first, span }
    : { kind: "column", table: first, name: second, span };
}

/** A literal in quotes has no type of its own, and neither has NULL: the resolver gives them one. */
export function readConstant(reader: StatementReader, node: A_Const): SqlExpression {
  const span = reader.span(node.location);
  if (node.isnull === true) return { kind: "constant", value: null, type: "unknown", span };
  if (node.boolval !== undefined)
    return { kind: "constant", value: node.boolval.boolval ?? false, type: "bool", span };
  if (node.ival !== undefined) return { kind: "constant", value: node.ival.ival ?? 0, type: "int4", span };
  if (node.fval !== undefined) return number(node.fval.fval ?? "0", span);
  if (node.sval !== undefined)
    return { kind: "constant", value: node.sval.sval ?? "", type: "unknown", span };
  return reader.unsupported("A bit string", node);
}

/** A number that is no int4: an int8 if it is whole and a double holds it exactly, or else a numeric. */
function number(text: string, span: SqlExpression["span"]): SqlExpression {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value))
    return { kind: "constant", value, type: "int8", span };
  return { kind: "constant", value: decimalText(text) ?? text, type: "numeric", span };
}
