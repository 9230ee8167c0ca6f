import type { Alias, JoinExpr, Node } from "libpg-query";
import type { FromItem } from "../ast.js";
import type { SqlJoinKind } from "../plan.js";
import type { Span } from "../source.js";
import { cover, locationOf, type StatementReader } from "./reader.js";
import type { Reading } from "./reading.js";
import { readWindow } from "./window.js";

export function readFrom(reading: Reading, node: Node): FromItem {
  const { reader } = reading;
  const span = reader.span(locationOf(node));
  return reader.deeper(span, () => {
    if ("RangeVar" in node) {
      const { relname, schemaname, catalogname, alias, location } = node.RangeVar;
      const version = reader.version(location);
      if (version === "other")
        return reader.refuse(
          span,
          "FOR SYSTEM_TIME AS OF takes a time column of the left side, or PROCTIME(): the version that the table has when the row is processed.",
        );
      if (catalogname !== undefined) reader.refuse(span, "A table name with a database is not supported.");
      noColumns(reader, alias, span);
      const [table, known] = [reader.name(relname), aliasOf(reader, alias)];
      // A stream that another tenant shares has the name OWNER.STREAM.
      const name = schemaname === undefined ? table : `${reader.name(schemaname)}.${table}`;
      return {
        ...{ kind: "table", name, alias: known ?? (schemaname === undefined ? null : table), span },
        version:
          version === null || version === "now"
            ? version
            : { kind: "column", table: version.table, name: version.name, span: reader.span(version.start) },
      };
    }
    if ("RangeSubselect" in node) {
      const { subquery, lateral, alias } = node.RangeSubselect;
      if (lateral === true)
        reader.refuse(
          span,
          "LATERAL is not supported. A subquery in the place of a value, IN and EXISTS may use columns of the query around them; several columns come from a join with a grouped subquery.",
        );
      if (subquery === undefined || !("SelectStmt" in subquery))
        return reader.unsupported("This subquery", node);
      const query = reading.query(subquery.SelectStmt, span);
      return {
        kind: "subquery",
        query,
        alias: aliasOf(reader, alias),
        columns: columnsOf(reader, alias),
        span,
      };
    }
    if ("JoinExpr" in node) return readJoin(reading, node.JoinExpr);
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
        return readWindow(reading, call.FuncCall, aliasOf(reader, alias));
    }
    return reader.unsupported("This in FROM", node);
  });
}

const JOINS: Readonly<Record<string, SqlJoinKind>> = {
  JOIN_INNER: "inner",
  JOIN_LEFT: "left",
  JOIN_RIGHT: "right",
  JOIN_FULL: "full",
};

function readJoin(reading: Reading, node: JoinExpr): FromItem {
  const { reader } = reading;
  const { jointype, isNatural, larg, rarg, quals, usingClause, alias } = node;
  if (larg === undefined || rarg === undefined) return reader.unsupported("This join", { location: -1 });
  const left = readFrom(reading, larg);
  const right = readFrom(reading, rarg);
  const span = cover([left.span, right.span]);
  if (alias !== undefined) reader.refuse(span, "An alias for a join is not supported.");
  const join =
    JOINS[jointype ?? ""] ??
    reader.refuse(span, "This join is not supported; use INNER, LEFT, RIGHT or FULL.");
  const on = quals === undefined ? null : reading.expression(quals);
  const named = (usingClause ?? []).flatMap((each) =>
    "String" in each ? [reader.name(each.String.sval)] : [],
  );
  return { kind: "join", join, left, right, on, using: isNatural === true ? "natural" : named, span };
}

function aliasOf(reader: StatementReader, alias: Alias | undefined): string | null {
  return alias?.aliasname === undefined ? null : reader.name(alias.aliasname);
}

function columnsOf(reader: StatementReader, alias: Alias | undefined): string[] {
  return (alias?.colnames ?? []).flatMap((node) => ("String" in node ? [reader.name(node.String.sval)] : []));
}

function noColumns(reader: StatementReader, alias: Alias | undefined, span: Span): void {
  if ((alias?.colnames ?? []).length > 0)
    reader.refuse(span, "New names for the columns of a table are not supported.");
}
