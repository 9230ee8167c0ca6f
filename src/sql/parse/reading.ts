import type { Node, SelectStmt } from "libpg-query";
import type { Expression, Operator, Query, SortItem } from "../ast.js";
import type { Span } from "../source.js";
import { cover, type Reader } from "./reader.js";

/** What the readers of single constructs need: the text, and how to read what is nested in them. */
export interface Reading {
  readonly reader: Reader;
  readonly expression: (node: Node) => Expression;
  readonly query: (statement: SelectStmt, span: Span) => Query;
  readonly sort: (node: Node) => SortItem;
}

export function operation(
  operator: Operator,
  operands: readonly Expression[],
  own: readonly Span[],
): Expression {
  return { kind: "operator", operator, operands, span: cover([...own, ...operands.map(({ span }) => span)]) };
}

export function refusalOfChance(what: string): string {
  return `${what} is not a function of the rows, so a query that is run again would answer differently. Let the rows carry it.`;
}
