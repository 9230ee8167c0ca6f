import type { Node, ParseResult, SelectStmt } from "libpg-query";
import { HeadwaterError } from "../../errors.js";
import {
  type Combination,
  GROUP_WINDOW,
  type Select,
  type SelectItem,
  type SortItem,
  type SqlExpression,
  type SqlQuery,
  type ValuesClause,
} from "../ast.js";
import { Offsets, pointAt, type Span } from "../source.js";
import { readExpression } from "./expression.js";
import { readFrom } from "./from.js";
import { readOver, windowsOf } from "./over.js";
import { postgres } from "./postgres.js";
import { cover, locationOf, StatementReader } from "./reader.js";
import type { Reading } from "./reading.js";
import { type Adapted, adapt } from "./tokens.js";
import { isGroupWindow, readGroupWindow } from "./window.js";

/** Longer than any query that people write; keeps a parser that cannot be interrupted short. */
const LENGTH_MAX = 100_000;

/** A SELECT that is a statement of its own, or the query of a view. */
export function readStatement(reader: StatementReader, statement: SelectStmt): SqlQuery {
  return { ...readQuery(reader, statement, reader.whole), emit: reader.emit };
}

/** One statement as PostgreSQL's parser reads it, and what is needed to go on. The parser must have been loaded. */
export function parseStatement(text: string): { reader: StatementReader; statement: Node } {
  if (text.length > LENGTH_MAX)
    throw new HeadwaterError(
      "HW-5102",
      `The query has ${text.length} characters; ${LENGTH_MAX} are allowed.`,
    );
  const offsets = new Offsets(text);
  const adapted = adapt(text);
  const [statement, ...more] = parsed(text, adapted, offsets).stmts ?? [];
  const reader = new StatementReader(text, adapted, offsets);
  if (more.length > 0)
    reader.refuse(reader.span(locationOf(more[0]?.stmt)), "Only one statement can be given at a time.");
  if (statement?.stmt === undefined) throw new HeadwaterError("HW-5101", "The query is empty.");
  return { reader, statement: statement.stmt };
}

function parsed(text: string, adapted: Adapted, offsets: Offsets): ParseResult {
  // The parser reads C strings, so it would overlook what follows.
  const end = text.indexOf("\0");
  const nul = "The query cannot be read: there is a NUL character in it.";
  if (end >= 0) throw new HeadwaterError("HW-5101", pointAt(text, { start: end, end: end + 1 }, nul));
  if (text.trim() === "") throw new HeadwaterError("HW-5101", "The query is empty.");
  try {
    return postgres().parseSync(adapted.text);
  } catch (error) {
    if (error instanceof RangeError)
      throw new HeadwaterError("HW-5102", "The query is nested too deeply.", { cause: error });
    const message = adapted.written(error instanceof Error ? error.message : String(error));
    const at = postgres().hasSqlDetails(error) ? error.sqlDetails?.cursorPosition : undefined;
    if (at === undefined) throw new HeadwaterError("HW-5101", `The query cannot be read: ${message}.`);
    const start = Math.max(0, Math.min(offsets.fromCharacters(at), text.trimEnd().length));
    const end = start + (/^[\w$]+/.exec(text.slice(start))?.[0].length ?? 1);
    throw new HeadwaterError(
      "HW-5101",
      pointAt(text, { start, end }, `The query cannot be read: ${message}.`),
    );
  }
}

function readQuery(reader: StatementReader, statement: SelectStmt, span: Span): SqlQuery {
  return reader.deeper(span, () => {
    if (statement.withClause?.recursive === true)
      reader.refuse(reader.span(statement.withClause.location), "WITH RECURSIVE is not supported.");
    if ((statement.lockingClause ?? []).length > 0)
      reader.refuse(span, "FOR UPDATE and its like are not supported.");
    const withItems = (statement.withClause?.ctes ?? []).map((node) => {
      if (!("CommonTableExpr" in node)) return reader.unsupported("This WITH", node);
      const { ctename, ctequery, aliascolnames, location } = node.CommonTableExpr;
      if (ctequery === undefined || !("SelectStmt" in ctequery))
        return reader.unsupported("WITH for anything but SELECT", { location: location ?? -1 });
      const query = readQuery(reader, ctequery.SelectStmt, reader.spanToClosing(location));
      return { name: reader.name(ctename), columns: names(reader, aliascolnames), query };
    });
    return {
      with: withItems,
      body: readBody(reader, statement, span),
      orderBy: (statement.sortClause ?? []).map(readingOf(reader, statement).sort),
      ...readLimit(reader, statement, span),
      emit: null,
      span,
    };
  });
}

function readBody(
  reader: StatementReader,
  statement: SelectStmt,
  span: Span,
): Select | Combination | ValuesClause {
  const { op, larg, rarg, valuesLists } = statement;
  if (op !== undefined && op !== "SETOP_NONE" && larg !== undefined && rarg !== undefined)
    return readCombination(reader, statement, larg, rarg, span);
  if (valuesLists !== undefined) {
    const { expression } = readingOf(reader);
    const rows = valuesLists.map((row) => ("List" in row ? (row.List.items ?? []).map(expression) : []));
    return { kind: "values", rows, span };
  }
  return readSelect(reader, statement, span);
}

function readCombination(
  reader: StatementReader,
  { op, all }: SelectStmt,
  larg: SelectStmt,
  rarg: SelectStmt,
  span: Span,
): Combination {
  const left = readQuery(reader, larg, spanOfStatement(reader, larg, span));
  const right = readQuery(reader, rarg, spanOfStatement(reader, rarg, span));
  const operation = op === "SETOP_EXCEPT" ? "except" : op === "SETOP_INTERSECT" ? "intersect" : "union";
  return {
    kind: "combination",
    operation,
    all: all === true,
    left,
    right,
    span: reader.spanOfWord(operation, right.span),
  };
}

function readSelect(reader: StatementReader, statement: SelectStmt, span: Span): Select {
  if (statement.intoClause !== undefined) reader.refuse(span, "SELECT INTO is not supported.");
  // DISTINCT alone is a list with one empty node in it.
  const distinct = statement.distinctClause;
  const distinctOn = (distinct ?? []).filter((node) => Object.keys(node).length > 0);
  const reading = readingOf(reader, statement);
  const { expression, windows, groupWindow } = reading;
  const from = (statement.fromClause ?? []).map((node) => readFrom(reading, node));
  return {
    kind: "select",
    distinct: distinct !== undefined && distinctOn.length === 0,
    distinctOn: distinctOn.map(expression),
    items: (statement.targetList ?? []).map((node) => selectItem(reading, node)),
    from: from.reduce<Select["from"]>(
      (left, right) =>
        left === null
          ? right
          : {
              kind: "join",
              join: "inner",
              left,
              right,
              on: null,
              using: [],
              span: cover([left.span, right.span]),
            },
      null,
    ),
    where: statement.whereClause === undefined ? null : expression(statement.whereClause),
    groupWindow,
    groupBy: (statement.groupClause ?? []).flatMap((node) => grouped(reading, node)),
    having: statement.havingClause === undefined ? null : expression(statement.havingClause),
    windows: [...windows.values()].map((window) => readOver(reading, window)),
    span,
  };
}

/** How the expressions of a SELECT are read: with the windows that its clauses define. */
function readingOf(reader: StatementReader, statement: SelectStmt = {}): Reading {
  const plain: Reading = {
    reader,
    expression: (node) => readExpression(plain, node),
    query: (inner, span) => readQuery(reader, inner, span),
    sort: (node) => sortItem(plain, node),
    windows: new Map(),
    groupWindow: null,
  };
  const [first, second] = (statement.groupClause ?? []).filter(isGroupWindow);
  if (second !== undefined)
    reader.refuse(reader.span(second.FuncCall.location, true), "GROUP BY takes one window of a time.");
  const reading: Reading = {
    ...plain,
    expression: (node) => readExpression(reading, node),
    sort: (node) => sortItem(reading, node),
    windows: windowsOf(reader, statement.windowClause),
    groupWindow: first === undefined ? null : readGroupWindow(plain, first.FuncCall),
  };
  return reading;
}

/** What an item of GROUP BY groups by: a window of a time is both of its bounds. */
function grouped({ reader, expression, groupWindow }: Reading, node: Node): SqlExpression[] {
  if ("GroupingSet" in node)
    return reader.refuse(
      reader.span(node.GroupingSet.location),
      "ROLLUP, CUBE and GROUPING SETS are not supported; write a query for each set, and UNION ALL between them.",
    );
  if (groupWindow === null || !isGroupWindow(node)) return [expression(node)];
  const { span } = groupWindow;
  return ["window_start", "window_end"].map((name) => ({ kind: "column", table: GROUP_WINDOW, name, span }));
}

function selectItem({ reader, expression: read }: Reading, node: Node): SelectItem {
  if (!("ResTarget" in node) || node.ResTarget.val === undefined)
    return reader.unsupported("This in SELECT", node);
  const { val, name } = node.ResTarget;
  const fields = "ColumnRef" in val ? (val.ColumnRef.fields ?? []) : [];
  const last = fields.at(-1);
  if (last !== undefined && "A_Star" in last) {
    const first = fields[0];
    const table =
      fields.length > 1 && first !== undefined && "String" in first ? reader.name(first.String.sval) : null;
    if (fields.length > 2) return reader.unsupported("A table name with a schema", node);
    return { expression: null, table, alias: null, span: reader.span(locationOf(val)) };
  }
  const expression = read(val);
  const alias = name === undefined ? null : reader.name(name);
  return { expression, table: null, alias, span: expression.span };
}

function sortItem({ reader, expression }: Reading, node: Node): SortItem {
  if (!("SortBy" in node) || node.SortBy.node === undefined || node.SortBy.sortby_dir === "SORTBY_USING")
    return reader.unsupported("This ORDER BY", node);
  const descending = node.SortBy.sortby_dir === "SORTBY_DESC";
  const nulls = node.SortBy.sortby_nulls;
  return {
    expression: expression(node.SortBy.node),
    descending,
    nullsFirst: nulls === "SORTBY_NULLS_FIRST" || (nulls !== "SORTBY_NULLS_LAST" && descending),
  };
}

function readLimit(reader: StatementReader, statement: SelectStmt, span: Span) {
  if (statement.limitOption === "LIMIT_OPTION_WITH_TIES") reader.refuse(span, "WITH TIES is not supported.");
  const limit = count(reader, statement.limitCount, "LIMIT");
  const offset = count(reader, statement.limitOffset, "OFFSET") ?? 0;
  const places = [statement.limitCount, statement.limitOffset].flatMap((node) => locationOf(node) ?? []);
  const own = places.map((place) => reader.span(place));
  const limitSpan =
    own.length === 0
      ? span
      : cover(
          [...own, ...["limit", "offset"].map((word) => reader.spanOfWord(word, cover(own)))].filter(
            (each) => each.start >= span.start && each.end <= cover(own).end,
          ),
        );
  return { limit, offset, limitSpan };
}

function count(reader: StatementReader, node: Node | undefined, what: string): number | null {
  if (node === undefined) return null;
  const expression = readingOf(reader).expression(node);
  if (expression.kind !== "constant") return reader.refuse(expression.span, `${what} takes a number.`);
  if (expression.value === null) return null;
  if (typeof expression.value === "number" && Number.isInteger(expression.value) && expression.value >= 0)
    return expression.value;
  return reader.refuse(expression.span, `${what} takes a number that is not negative.`);
}

function names(reader: StatementReader, nodes: readonly Node[] | undefined): string[] {
  return (nodes ?? []).flatMap((node) => ("String" in node ? [reader.name(node.String.sval)] : []));
}

/** A SELECT does not know where it begins; its first column does. */
function spanOfStatement(reader: StatementReader, statement: SelectStmt, fallback: Span): Span {
  const location = locationOf(statement);
  return location === undefined
    ? fallback
    : cover([reader.span(location), { start: reader.span(location).start, end: fallback.end }]);
}
