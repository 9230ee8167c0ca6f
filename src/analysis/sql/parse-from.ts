import type { Alias, FuncCall, JoinExpr, Node, SelectStmt } from "libpg-query";
import type { Expression, FromItem, Query, WindowKind } from "./ast.js";
import { cover, locationOf, type Reader, words } from "./reader.js";
import type { Span } from "./source.js";

interface Readers {
  readonly query: (statement: SelectStmt, span: Span) => Query;
  readonly expression: (node: Node) => Expression;
}

const WINDOWS = new Set(["tumble", "hop", "session"]);

export function readFrom(reader: Reader, node: Node, readers: Readers): FromItem {
  const span = reader.span(locationOf(node));
  return reader.deeper(span, () => {
    if ("RangeVar" in node) {
      const { relname, schemaname, catalogname, alias } = node.RangeVar;
      if (schemaname !== undefined || catalogname !== undefined)
        reader.refuse(span, "A table name with a schema is not supported.");
      noColumns(reader, alias, span);
      return { kind: "table", name: reader.name(relname), alias: aliasOf(reader, alias), span };
    }
    if ("RangeSubselect" in node) {
      const { subquery, lateral, alias } = node.RangeSubselect;
      if (lateral === true) reader.refuse(span, "LATERAL is not supported.");
      if (subquery === undefined || !("SelectStmt" in subquery))
        return reader.unsupported("This subquery", node);
      const query = readers.query(subquery.SelectStmt, span);
      return {
        kind: "subquery",
        query,
        alias: aliasOf(reader, alias),
        columns: columnsOf(reader, alias),
        span,
      };
    }
    if ("JoinExpr" in node) return readJoin(reader, node.JoinExpr, readers);
    if ("RangeFunction" in node) {
      const { functions, alias, lateral, ordinality } = node.RangeFunction;
      const [first, ...more] = functions ?? [];
      const call = first !== undefined && "List" in first ? first.List.items?.[0] : undefined;
      noColumns(reader, alias, span);
      if (
        call !== undefined &&
        "FuncCall" in call &&
        more.length === 0 &&
        lateral !== true &&
        ordinality !== true
      )
        return readWindow(reader, call.FuncCall, aliasOf(reader, alias), readers);
    }
    return reader.unsupported("This in FROM", node);
  });
}

function readJoin(reader: Reader, node: JoinExpr, readers: Readers): FromItem {
  const { jointype, isNatural, larg, rarg, quals, usingClause, alias } = node;
  if (larg === undefined || rarg === undefined) return reader.unsupported("This join", { location: -1 });
  const left = readFrom(reader, larg, readers);
  const right = readFrom(reader, rarg, readers);
  const span = cover([left.span, right.span]);
  if (isNatural === true) reader.refuse(span, "NATURAL JOIN is not supported; name the columns with USING.");
  if (alias !== undefined) reader.refuse(span, "An alias for a join is not supported.");
  if (jointype !== "JOIN_INNER" && jointype !== "JOIN_LEFT")
    reader.refuse(span, "Only INNER and LEFT joins are supported; turn a RIGHT join around.");
  const on = quals === undefined ? null : readers.expression(quals);
  const using = (usingClause ?? []).flatMap((each) =>
    "String" in each ? [reader.name(each.String.sval)] : [],
  );
  return { kind: "join", join: jointype === "JOIN_LEFT" ? "left" : "inner", left, right, on, using, span };
}

/** `TUMBLE(clicks, ts, INTERVAL '1 hour')`, in PostgreSQL's or in Flink's spelling (`TABLE`, `DESCRIPTOR`). */
function readWindow(reader: Reader, node: FuncCall, alias: string | null, readers: Readers): FromItem {
  const name = words(node.funcname)?.at(-1) ?? "";
  const span = reader.span(node.location, true);
  if (!WINDOWS.has(name))
    reader.refuse(span, `${name}() is not a function for FROM; there are TUMBLE, HOP and SESSION.`);
  const window = name as WindowKind;
  const [table, ...rest] = (node.args ?? []).map(readers.expression);
  if (table?.kind !== "column" || table.table !== null)
    return reader.refuse(span, `The first argument of ${name.toUpperCase()} is the name of a table.`);
  const columns = rest.filter((each) => each.kind !== "constant").map(descriptor);
  const sizes = rest.flatMap((each) => (each.kind === "constant" ? [each] : []));
  const [time, ...keys] = columns;
  const expected = window === "hop" ? 2 : 1;
  if (time?.kind !== "column" || sizes.length !== expected || (window !== "session" && keys.length > 0))
    return reader.refuse(span, usage(window));
  const lengths = sizes.map(({ value, span: at }) => {
    if (typeof value === "number" && value > 0) return value;
    return reader.refuse(at, "The length of a window is an interval that is longer than nothing.");
  });
  const [first = 0, second = first] = lengths;
  // As in Flink, HOP is given the slide first and the size second.
  const [slideMs, sizeMs] = [first, second];
  if (sizeMs % slideMs !== 0) reader.refuse(span, "The size of a HOP window is a multiple of its slide.");
  return {
    kind: "window",
    window,
    table: table.name,
    tableSpan: table.span,
    time,
    sizeMs,
    slideMs,
    keys: keys.map((key) => (key.kind === "column" ? key : reader.refuse(key.span, usage(window)))),
    alias,
    span,
  };
}

function descriptor(expression: Expression): Expression {
  return expression.kind === "call" && expression.name === "descriptor" && expression.operands.length === 1
    ? (expression.operands[0] ?? expression)
    : expression;
}

function usage(window: WindowKind): string {
  if (window === "tumble")
    return "TUMBLE takes a table, its time column and the size: TUMBLE(t, ts, INTERVAL '1 hour').";
  if (window === "hop")
    return "HOP takes a table, its time column, the slide and the size: HOP(t, ts, INTERVAL '5 minutes', INTERVAL '1 hour').";
  return "SESSION takes a table, its time column, columns to keep sessions apart by, and the gap: SESSION(t, ts, visitor, INTERVAL '30 minutes').";
}

function aliasOf(reader: Reader, alias: Alias | undefined): string | null {
  return alias?.aliasname === undefined ? null : reader.name(alias.aliasname);
}

function columnsOf(reader: Reader, alias: Alias | undefined): string[] {
  return (alias?.colnames ?? []).flatMap((node) => ("String" in node ? [reader.name(node.String.sval)] : []));
}

function noColumns(reader: Reader, alias: Alias | undefined, span: Span): void {
  if ((alias?.colnames ?? []).length > 0)
    reader.refuse(span, "New names for the columns of a table are not supported.");
}
