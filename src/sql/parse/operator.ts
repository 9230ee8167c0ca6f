import type { A_Expr, BoolExpr, BooleanTest, Node } from "libpg-query";
import type { SqlExpression, SqlOperator } from "../ast.js";
import { words } from "./reader.js";
import { operation, type Reading } from "./reading.js";

const BINARY = new Set([
  ...["=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||"],
  ...["->", "->>", "#>", "#>>", "@>", "<@", "?", "~", "~*", "!~", "!~*"],
]);

export function readBoolean(reading: Reading, { boolop, args, location }: BoolExpr): SqlExpression {
  const operands = (args ?? []).map(reading.expression);
  const operator = ({ AND_EXPR: "and", OR_EXPR: "or", NOT_EXPR: "not" } as const)[boolop ?? "AND_EXPR"];
  return operation(operator, operands, operator === "not" ? [reading.reader.span(location)] : []);
}

/** `IS TRUE` and its like never answer "not known". */
export function readTruthTest({ reader, expression }: Reading, node: BooleanTest): SqlExpression {
  const { arg, booltesttype = "IS_UNKNOWN", location } = node;
  if (arg === undefined) return reader.unsupported("This test", { location: location ?? -1 });
  const own = reader.span(location);
  const operand = expression(arg);
  if (booltesttype === "IS_UNKNOWN") return operation("is null", [operand], [own]);
  if (booltesttype === "IS_NOT_UNKNOWN") return operation("is not null", [operand], [own]);
  const value = booltesttype === "IS_TRUE" || booltesttype === "IS_NOT_TRUE";
  const same = booltesttype === "IS_TRUE" || booltesttype === "IS_FALSE";
  const constant: SqlExpression = { kind: "constant", value, type: "bool", span: own };
  return operation(same ? "is not distinct from" : "is distinct from", [operand, constant], [own]);
}

export function readOperator(reading: Reading, node: A_Expr): SqlExpression {
  const { reader } = reading;
  const operator = words(node.name)?.join(".") ?? "";
  const { lexpr: left, rexpr: right } = node;
  if (right === undefined) return reader.unsupported(`The operator ${operator}`, node);
  if (left === undefined) return readPrefix(reading, operator, right, node);
  if ("RowExpr" in left && "RowExpr" in right) return readRows(reading, operator, left, right, node);
  switch (node.kind) {
    case "AEXPR_OP":
      return BINARY.has(operator)
        ? binary(reading, operator as SqlOperator, left, right, node)
        : reader.unsupported(`The operator ${operator}`, node);
    case "AEXPR_LIKE":
    case "AEXPR_ILIKE": {
      const name = node.kind === "AEXPR_LIKE" ? "like" : "ilike";
      return negatedIf(operator.startsWith("!"), binary(reading, name, left, right, node));
    }
    case "AEXPR_DISTINCT":
      return binary(reading, "is distinct from", left, right, node);
    case "AEXPR_NOT_DISTINCT":
      return binary(reading, "is not distinct from", left, right, node);
    case "AEXPR_IN":
      return readList(reading, operator, left, itemsOf(right), node);
    case "AEXPR_OP_ANY":
      if (operator === "=" && "A_ArrayExpr" in right)
        return readList(reading, operator, left, right.A_ArrayExpr.elements ?? [], node);
      return reader.refuse(
        reader.span(node.location),
        `${operator} ANY is supported with = and ARRAY[…] only; write the alternatives with OR.`,
      );
    case "AEXPR_BETWEEN":
    case "AEXPR_NOT_BETWEEN":
      return readBetween(reading, left, itemsOf(right), node);
    case "AEXPR_NULLIF": {
      const own = reader.span(node.location, true);
      const [a, b] = [reading.expression(left), reading.expression(right)];
      const nothing: SqlExpression = { kind: "constant", value: null, type: "unknown", span: own };
      const branches = [{ when: operation("=", [a, b], [own]), result: nothing }];
      return { kind: "case", branches, otherwise: a, span: own };
    }
    default:
      return reader.unsupported(`The operator ${operator}`, node);
  }
}

function readPrefix(reading: Reading, operator: string, right: Node, node: A_Expr): SqlExpression {
  const { reader, expression } = reading;
  if (operator === "+") return expression(right);
  if (operator === "-") return operation("negate", [expression(right)], [reader.span(node.location)]);
  return reader.unsupported(`The operator ${operator}`, node);
}

function binary(
  reading: Reading,
  operator: SqlOperator,
  left: Node,
  right: Node,
  node: A_Expr,
): SqlExpression {
  const operands = [reading.expression(left), reading.expression(right)];
  return operation(operator, operands, [reading.reader.span(node.location)]);
}

function negatedIf(negated: boolean, expression: SqlExpression): SqlExpression {
  return negated ? operation("not", [expression], []) : expression;
}

function itemsOf(node: Node): readonly Node[] {
  return "List" in node ? (node.List.items ?? []) : [];
}

/** `x IN (1, 2)` is `x = 1 OR x = 2`, and `(x, y) IN ((1, 2))` is `x = 1 AND y = 2`. */
function readList(
  reading: Reading,
  operator: string,
  left: Node,
  items: readonly Node[],
  node: A_Expr,
): SqlExpression {
  const own = reading.reader.span(node.location);
  const equal = items.map((item) => {
    if ("RowExpr" in left && "RowExpr" in item) return readRows(reading, "=", left, item, node);
    return binary(reading, "=", left, item, node);
  });
  return negatedIf(operator === "<>", operation("or", equal, [own]));
}

type Row = Extract<Node, { RowExpr: unknown }>;

function readRows(reading: Reading, operator: string, left: Row, right: Row, node: A_Expr): SqlExpression {
  const { reader } = reading;
  const [own, others] = [left.RowExpr.args ?? [], right.RowExpr.args ?? []];
  const span = reader.span(node.location);
  if (own.length !== others.length)
    return reader.refuse(span, `Rows with ${own.length} and ${others.length} values cannot be compared.`);
  if (operator !== "=" && operator !== "<>")
    return reader.refuse(span, `Rows can be compared with = and <>; write ${operator} for each column.`);
  const equal = own.map((each, i) => binary(reading, "=", each, others[i] ?? each, node));
  return negatedIf(operator === "<>", operation("and", equal, [span]));
}

function readBetween(
  reading: Reading,
  left: Node,
  [low, high]: readonly Node[],
  node: A_Expr,
): SqlExpression {
  if (low === undefined || high === undefined) return reading.reader.unsupported("This BETWEEN", node);
  const from = binary(reading, ">=", left, low, node);
  const to = binary(reading, "<=", left, high, node);
  return negatedIf(node.kind === "AEXPR_NOT_BETWEEN", operation("and", [from, to], []));
}
