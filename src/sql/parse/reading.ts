import type { Node, SelectStmt, WindowDef } from "libpg-query";
import type { GroupWindow, SortItem, SqlExpression, SqlOperator, SqlQuery } from "../ast.js";
import type { Span } from "../source.js";
import { cover, type StatementReader } from "./reader.js";

/** What the readers of single constructs need: the text, and how to read what is nested in them. */
export interface Reading {
  readonly reader: StatementReader;
  readonly expression: (node: Node) => SqlExpression;
  readonly query: (statement: SelectStmt, span: Span) => SqlQuery;
  readonly sort: (node: Node) => SortItem;
  /** What the clause WINDOW of this SELECT defines. */
  readonly windows: ReadonlyMap<string, WindowDef>;
  /** The window of a time in the clause GROUP BY of this SELECT. */
  readonly groupWindow: GroupWindow | null;
}

export function operation(
  operator: SqlOperator,
  operands: readonly SqlExpression[],
  own: readonly Span[],
): SqlExpression {
  return { kind: "operator", operator, operands, span: cover([...own, ...operands.map(({ span }) => span)]) };
}

export function refusalOfChance(what: string): string {
  return `${what} is not a function of the rows, so a query that is run again would answer differently. Let the rows carry it.`;
}
