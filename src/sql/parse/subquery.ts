import type { SubLink } from "libpg-query";
import type { QuantifiedComparison, SqlExpression } from "../ast.js";
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
  const isAll = node.subLinkType === "ALL_SUBLINK";
  const written = comparisonOf(operator);
  if (written === undefined || (!isAll && node.subLinkType !== "ANY_SUBLINK"))
    return reader.refuse(
      inner,
      "With ANY and ALL, values are compared by =, <>, <, <=, > and >=; write others with EXISTS.",
    );
  const operands = "RowExpr" in test ? (test.RowExpr.args ?? []).map(expression) : [expression(test)];
  // What is true of all rows is one that no row is an exception to.
  const comparison = isAll ? OPPOSITE[written] : written;
  if (operands.length > 1 && comparison !== "=")
    return reader.refuse(
      inner,
      "Rows are compared with = ANY, IN, <> ALL and NOT IN; write others with EXISTS.",
    );
  const span = cover([...operands.map((each) => each.span), inner]);
  const among: SqlExpression = { kind: "in", comparison, operands, query, span };
  return isAll ? operation("not", [among], []) : among;
}

const OPPOSITE: Readonly<Record<QuantifiedComparison, QuantifiedComparison>> = {
  ...{ "=": "<>", "<>": "=" },
  ...{ "<": ">=", ">=": "<" },
  ...{ ">": "<=", "<=": ">" },
};

function comparisonOf(operator: string): QuantifiedComparison | undefined {
  return Object.hasOwn(OPPOSITE, operator) ? (operator as QuantifiedComparison) : undefined;
}
