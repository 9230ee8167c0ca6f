/**
 * SQL: from text to a typed plan, and what a plan answers.
 *
 * - `parse/` reads a statement with PostgreSQL's own parser and keeps what Headwater understands of it (`ast.ts`).
 * - `catalog/` has the operators, functions, aggregates and casts as tables; a new one is a line there and its meaning in
 *   `evaluate/`.
 * - `resolve/` looks up names and decides types: the plan (`plan.ts`) is what comes out.
 * - `evaluate/` answers a plan by the book. It is the oracle that everything faster is compared with.
 * - `values/` has the values of types: exact decimals, times, JSON, the order among them.
 */

export type { Scalar, SqlOperator, WindowKind } from "./ast.js";
export {
  type Builtin,
  builtinById,
  builtinOf,
  checkLength,
  declareAggregate,
  declareFunction,
  idOf,
  isDeclared,
  RowError,
  type UserAggregate,
  userAggregate,
} from "./builtins/index.js";
export { aggregateSignatures, signaturesOf } from "./catalog/index.js";
export type { Row } from "./evaluate/expression.js";
export type { EvaluationFailure } from "./evaluate/failure.js";
export { evaluateQuery, queryFunction, type Tables } from "./evaluate/query.js";
export { intervalMs } from "./interval.js";
export {
  loadParser,
  parseDefinition,
  parseDefinitionSync,
  parseQuery,
  type Statement,
  treeOf,
  type Watermark,
} from "./parse/statement.js";
export type {
  AggregateCall,
  AggregateName,
  AggregatePlan,
  Emit,
  FrameClause,
  LogicalPlan,
  OrderKey,
  OverCall,
  PlanColumn,
  PlanExpression,
  ResolvedQuery,
  SetOperation,
  SortExpression,
  SqlJoinKind,
  WindowPlan,
} from "./plan.js";
export { resolveQuery } from "./resolve/query.js";
export type { ColumnDefinition, SqlColumn, SqlSchema } from "./schema.js";
export { pointAt, positionOf, type QueryPosition, type Span } from "./source.js";
export { type SqlType, scalarType, showType, TYPE_NAMES } from "./types.js";
export { canonicalJson, jsonText } from "./values/json.js";
export { literal as literalOf } from "./values/literal.js";
export { outputValue } from "./values/text.js";
