import type { A_Const, A_Expr, FuncCall, Node, SelectStmt, SubLink, TypeCast } from "libpg-query";
import type { Expression, Operator, Query, Scalar } from "./ast.js";
import { intervalMs } from "./interval.js";
import { cover, locationOf, type Reader, words } from "./reader.js";
import type { Span } from "./source.js";

const BINARY = new Set(["=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||"]);

/** They answer differently when asked again, so no order of delivery gives one answer. */
const CHANCY = new Set([
  "random",
  "now",
  "clock_timestamp",
  "statement_timestamp",
  "nextval",
  "gen_random_uuid",
]);

export type ReadQuery = (statement: SelectStmt, span: Span) => Query;

/** PostgreSQL's expressions to ours. What can be said with less is said with less: BETWEEN, IN with a list. */
export function readExpression(reader: Reader, node: Node, readQuery: ReadQuery): Expression {
  const span = reader.span(locationOf(node));
  return reader.deeper(span, () => read(node));

  function read(node: Node): Expression {
    if ("ColumnRef" in node) return column(node.ColumnRef.fields ?? [], node.ColumnRef.location);
    if ("A_Const" in node) return constant(node.A_Const);
    if ("ParamRef" in node)
      return {
        kind: "parameter",
        number: node.ParamRef.number ?? 0,
        span: reader.span(node.ParamRef.location),
      };
    if ("A_Expr" in node) return comparison(node.A_Expr);
    if ("BoolExpr" in node) {
      const operands = (node.BoolExpr.args ?? []).map(each);
      const operator = ({ AND_EXPR: "and", OR_EXPR: "or", NOT_EXPR: "not" } as const)[
        node.BoolExpr.boolop ?? "AND_EXPR"
      ];
      const own = operator === "not" ? [reader.span(node.BoolExpr.location)] : [];
      return operation(operator, operands, own);
    }
    if ("NullTest" in node && node.NullTest.arg !== undefined) {
      const operator = node.NullTest.nulltesttype === "IS_NULL" ? "is null" : "is not null";
      return operation(operator, [each(node.NullTest.arg)], [reader.span(node.NullTest.location)]);
    }
    if ("FuncCall" in node) return call(node.FuncCall);
    if ("CoalesceExpr" in node)
      return plainCall("coalesce", node.CoalesceExpr.args ?? [], node.CoalesceExpr.location);
    if ("MinMaxExpr" in node) {
      const name = node.MinMaxExpr.op === "IS_LEAST" ? "least" : "greatest";
      return plainCall(name, node.MinMaxExpr.args ?? [], node.MinMaxExpr.location);
    }
    if ("TypeCast" in node) return cast(node.TypeCast);
    if ("CaseExpr" in node) {
      if (node.CaseExpr.arg !== undefined)
        reader.unsupported("CASE with a value to compare with", node.CaseExpr.arg);
      const branches = (node.CaseExpr.args ?? []).flatMap((branch) =>
        "CaseWhen" in branch && branch.CaseWhen.expr !== undefined && branch.CaseWhen.result !== undefined
          ? [{ when: each(branch.CaseWhen.expr), result: each(branch.CaseWhen.result) }]
          : [],
      );
      const otherwise = node.CaseExpr.defresult === undefined ? null : each(node.CaseExpr.defresult);
      return { kind: "case", branches, otherwise, span: reader.spanOfCase(node.CaseExpr.location) };
    }
    if ("SubLink" in node) return subquery(node.SubLink);
    if ("SQLValueFunction" in node) reader.refuse(span, refusalOfChance("The time of asking"));
    return reader.unsupported("This expression", node);
  }

  function each(node: Node): Expression {
    return readExpression(reader, node, readQuery);
  }

  function column(fields: readonly Node[], location: number | undefined): Expression {
    const names = words(fields);
    if (names === null) return reader.unsupported("A star in an expression", { location: location ?? -1 });
    if (names.length > 2)
      return reader.unsupported("A column name with a schema", { location: location ?? -1 });
    const [first = "", second] = names.map((name) => reader.name(name));
    const span = reader.span(location);
    return second === undefined
      ? { kind: "column", table: null, name: first, span }
      : { kind: "column", table: first, name: second, span };
  }

  function constant(node: A_Const): Expression {
    const span = reader.span(node.location);
    const value: Scalar =
      node.isnull === true
        ? null
        : node.boolval !== undefined
          ? (node.boolval.boolval ?? false)
          : node.ival !== undefined
            ? (node.ival.ival ?? 0)
            : node.fval !== undefined
              ? Number(node.fval.fval)
              : node.sval !== undefined
                ? (node.sval.sval ?? "")
                : reader.unsupported("A bit string", node);
    return { kind: "constant", value, span };
  }

  function comparison(node: A_Expr): Expression {
    const operator = words(node.name)?.join(".") ?? "";
    const own = reader.span(node.location);
    if (node.rexpr === undefined) return reader.unsupported(`The operator ${operator}`, node);
    const list = "List" in node.rexpr ? (node.rexpr.List.items ?? []) : [];
    if (node.lexpr === undefined) {
      if (operator === "+") return each(node.rexpr);
      if (operator === "-") return operation("negate", [each(node.rexpr)], [own]);
      return reader.unsupported(`The operator ${operator}`, node);
    }
    const left = each(node.lexpr);
    if (node.kind === "AEXPR_OP" && BINARY.has(operator))
      return operation(operator as Operator, [left, each(node.rexpr)], [own]);
    if (node.kind === "AEXPR_LIKE") {
      const like = operation("like", [left, each(node.rexpr)], [own]);
      return operator === "~~" ? like : operation("not", [like], []);
    }
    if (node.kind === "AEXPR_IN") {
      const equal = list.map((item) => operation("=", [left, each(item)], [own]));
      const any = operation("or", equal, [own]);
      return operator === "=" ? any : operation("not", [any], []);
    }
    const [low, high] = list;
    if ((node.kind === "AEXPR_BETWEEN" || node.kind === "AEXPR_NOT_BETWEEN") && low && high) {
      const inside = operation(
        "and",
        [operation(">=", [left, each(low)], [own]), operation("<=", [left, each(high)], [own])],
        [],
      );
      return node.kind === "AEXPR_BETWEEN" ? inside : operation("not", [inside], []);
    }
    return reader.unsupported(`The operator ${operator}`, node);
  }

  function call(node: FuncCall): Expression {
    const name = words(node.funcname)?.at(-1) ?? "";
    const span = reader.span(node.location, true);
    const [schema] = words(node.funcname) ?? [];
    if (schema !== name && schema !== "pg_catalog")
      return reader.refuse(span, "A function name with a schema is not supported.");
    if (CHANCY.has(name)) reader.refuse(span, refusalOfChance(`${name}()`));
    if (node.over !== undefined)
      return reader.refuse(span, "OVER is not supported; windows stand in FROM: TUMBLE, HOP, SESSION.");
    if (node.agg_filter !== undefined)
      return reader.refuse(span, "FILTER is not supported; filter with WHERE.");
    if (node.agg_order !== undefined || node.agg_within_group === true)
      return reader.refuse(span, "An order inside an aggregate is not supported.");
    if (node.func_variadic === true) return reader.refuse(span, "VARIADIC is not supported.");
    return {
      kind: "call",
      name,
      operands: (node.args ?? []).map(each),
      distinct: node.agg_distinct === true,
      star: node.agg_star === true,
      span,
    };
  }

  function plainCall(name: string, args: readonly Node[], location: number | undefined): Expression {
    const span = reader.span(location, true);
    return { kind: "call", name, operands: args.map(each), distinct: false, star: false, span };
  }

  function cast(node: TypeCast): Expression {
    const type = words(node.typeName?.names)?.at(-1) ?? "";
    if (node.arg === undefined) return reader.unsupported("This cast", node);
    if (node.typeName?.arrayBounds !== undefined) return reader.unsupported("An array", node.typeName);
    const operand = each(node.arg);
    const span = cover([operand.span, reader.span(node.typeName?.location)]);
    if (operand.kind !== "constant" || typeof operand.value !== "string") {
      return { kind: "cast", type, operand, span };
    }
    if (type === "interval") {
      const fields = node.typeName?.typmods?.[0];
      const mask = fields !== undefined && "A_Const" in fields ? fields.A_Const.ival?.ival : undefined;
      const value = intervalMs(operand.value, mask);
      if (value !== null) return { kind: "constant", value, span };
      return reader.refuse(
        span,
        `'${operand.value}' is not an interval of a fixed length, such as '90 seconds'.`,
      );
    }
    if (type === "timestamp" || type === "timestamptz" || type === "date") {
      const value = Date.parse(
        /[zZ]$|[+-]\d\d(:?\d\d)?$/.test(operand.value)
          ? operand.value
          : `${operand.value.replace(" ", "T")}${operand.value.length > 10 ? "Z" : ""}`,
      );
      if (!Number.isNaN(value)) return { kind: "constant", value, span };
      return reader.refuse(span, `'${operand.value}' is not a time in the form 2025-12-31 23:59:59.`);
    }
    return { kind: "cast", type, operand, span };
  }

  function subquery(node: SubLink): Expression {
    const statement = node.subselect;
    if (statement === undefined || !("SelectStmt" in statement))
      return reader.unsupported("This subquery", node);
    const inner = reader.spanToClosing(node.location);
    const query = readQuery(statement.SelectStmt, inner);
    if (node.subLinkType === "EXISTS_SUBLINK") return { kind: "exists", query, span: inner };
    if (node.subLinkType === "EXPR_SUBLINK") return { kind: "scalar", query, span: inner };
    if (node.subLinkType === "ANY_SUBLINK" && node.testexpr !== undefined) {
      const operator = words(node.operName)?.at(-1) ?? "=";
      if ("RowExpr" in node.testexpr) return reader.unsupported("IN with several columns", node);
      if (operator === "=") {
        const operand = each(node.testexpr);
        return { kind: "in", operand, query, span: cover([operand.span, inner]) };
      }
    }
    return reader.refuse(inner, "Comparing with ANY or ALL is not supported; write it with EXISTS.");
  }
}

function operation(operator: Operator, operands: readonly Expression[], own: readonly Span[]): Expression {
  return { kind: "operator", operator, operands, span: cover([...own, ...operands.map(({ span }) => span)]) };
}

function refusalOfChance(what: string): string {
  return `${what} is not a function of the rows, so a query that is run again would answer differently. Let the rows carry it.`;
}
