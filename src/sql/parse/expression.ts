import type { Node } from "libpg-query";
import type { SqlExpression } from "../ast.js";
import type { Span } from "../source.js";
import { readCall, readPlainCall } from "./call.js";
import { readCase } from "./case.js";
import { readCast } from "./cast.js";
import { readColumn, readConstant } from "./leaf.js";
import { readBoolean, readOperator, readTruthTest } from "./operator.js";
import { cover, locationOf } from "./reader.js";
import { operation, type Reading, refusalOfChance } from "./reading.js";
import { readSubquery } from "./subquery.js";

/** PostgreSQL's expressions to ours. What can be said with less is said with less: BETWEEN, IN with a list. */
export function readExpression(reading: Reading, node: Node): SqlExpression {
  const { reader } = reading;
  const span = reader.span(locationOf(node));
  return reader.deeper(span, () => read(reading, node, span));
}

function read(reading: Reading, node: Node, span: Span): SqlExpression {
  const { reader, expression } = reading;
  if ("ColumnRef" in node) return readColumn(reader, node.ColumnRef);
  if ("A_Const" in node) return readConstant(reader, node.A_Const);
  if ("ParamRef" in node) {
    const { number = 0, location } = node.ParamRef;
    return { kind: "parameter", number, span: reader.span(location) };
  }
  if ("A_Expr" in node) return readOperator(reading, node.A_Expr);
  if ("BoolExpr" in node) return readBoolean(reading, node.BoolExpr);
  if ("BooleanTest" in node) return readTruthTest(reading, node.BooleanTest);
  if ("NullTest" in node && node.NullTest.arg !== undefined) {
    const operator = node.NullTest.nulltesttype === "IS_NULL" ? "is null" : "is not null";
    return operation(operator, [expression(node.NullTest.arg)], [reader.span(node.NullTest.location)]);
  }
  if ("FuncCall" in node) return readCall(reading, node.FuncCall);
  if ("CoalesceExpr" in node)
    return readPlainCall(reading, "coalesce", node.CoalesceExpr.args ?? [], node.CoalesceExpr.location);
  if ("MinMaxExpr" in node) {
    const name = node.MinMaxExpr.op === "IS_LEAST" ? "least" : "greatest";
    return readPlainCall(reading, name, node.MinMaxExpr.args ?? [], node.MinMaxExpr.location);
  }
  if ("TypeCast" in node) return readCast(reading, node.TypeCast);
  if ("CaseExpr" in node) return readCase(reading, node.CaseExpr);
  if ("SubLink" in node) return readSubquery(reading, node.SubLink);
  if ("A_ArrayExpr" in node) {
    const elements = (node.A_ArrayExpr.elements ?? []).map(expression);
    return { kind: "array", elements, span: cover([span, ...elements.map((each) => each.span)]) };
  }
  if ("A_Indirection" in node)
    return readIndex(reading, node.A_Indirection.arg, node.A_Indirection.indirection);
  if ("SQLValueFunction" in node) reader.refuse(span, refusalOfChance("The time of asking"));
  return reader.unsupported("This expression", node);
}

/** `a[1]`; elements are counted from 1. */
function readIndex(reading: Reading, array: Node | undefined, indices: readonly Node[] = []): SqlExpression {
  const [only, ...more] = indices;
  if (array === undefined || only === undefined || !("A_Indices" in only) || more.length > 0)
    return reading.reader.unsupported("A field of a row", array);
  const { is_slice, uidx } = only.A_Indices;
  if (is_slice === true || uidx === undefined) return reading.reader.unsupported("A part of an array", array);
  return operation("[]", [reading.expression(array), reading.expression(uidx)], []);
}
