import type { SubLink } from "libpg-query";
import type { SqlExpression } from "../ast.js";
import { cover, words } from "./reader.js";
import { operation, type Reading } from "./reading.js";

/** A query inside an expression: EXISTS, IN, or one that stands for a value. */
export function readSubquery(reading: Reading, node: SubLink): SqlExpression {
  const { reader, expression } = reading;
  const statement = node.subselect;
  if (statement === undefined || !("SelectStmt" in statement))
    return reader.unsupported("This subquery", node);
  const inner = reader.spanToClosing(node.location);
  const query = reading.query(statement.SelectStmt, inner);
  if (node.subLinkType === "EXISTS_SUBLINK") return { kind: "exists", query, span: inner };
  if (node.subLinkType === "EXPR_SUBLINK") return { kind: "scalar", query, span: inner };
  const operator = words(node.operName)?.at(-1) ?? "=";
  const test = node.testexpr;
  if (test === undefined) return reader.unsupported("This subquery", node);
  const all = node.subLinkType === "ALL_SUBLINK";
  const means = (all && operator === "<>") || (node.subLinkType === "ANY_SUBLINK" && operator === "=");
  if (!means)
    return reader.refuse(inner, "Comparing with ANY or ALL is not supported; write it with EXISTS.");
  const operands = "RowExpr" in test ? (test.RowExpr.args ?? []).map(expression) : [expression(test)];
  const span = cover([...operands.map((each) => each.span), inner]);
  const among: SqlExpression = { kind: "in", operands, query, span };
  return all ? operation("not", [among], []) : among;
}
