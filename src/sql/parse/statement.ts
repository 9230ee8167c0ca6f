import type { ColumnDef, Constraint, CreateStmt, Node } from "libpg-query";
import type { SqlQuery } from "../ast.js";
import { intervalMs } from "../interval.js";
import type { SqlColumn } from "../schema.js";
import type { Span } from "../source.js";
import { readType } from "./cast.js";
import { loadPostgres, postgres } from "./postgres.js";
import { parseStatement, readStatement } from "./query.js";
import { type StatementReader, words } from "./reader.js";
import type { WatermarkWords } from "./tokens.js";

/** `WATERMARK FOR ts AS ts - INTERVAL '5' SECOND`: rows come at most so much later than the latest. */
export interface Watermark {
  readonly column: string;
  readonly latenessMs: number;
}

export type Statement =
  | {
      readonly kind: "query";
      readonly query: SqlQuery;
      readonly options: Readonly<Record<string, string>>;
    }
  | {
      /** A stream only grows; a table has a key, and a row replaces the one before it with the same key. */
      readonly kind: "create stream" | "create table";
      readonly name: string;
      readonly columns: readonly SqlColumn[];
      readonly key: readonly string[];
      readonly watermark: Watermark | null;
      /** What stands in `WITH (…)`. */
      readonly options: Readonly<Record<string, string>>;
      readonly span: Span;
    }
  | {
      readonly kind: "create view";
      readonly name: string;
      readonly query: SqlQuery;
      readonly options: Readonly<Record<string, string>>;
      readonly span: Span;
    };

/** The text of one SELECT to the small tree of `ast.ts`. Whatever does not fit in there is refused, with its place. */
export async function parseQuery(text: string): Promise<SqlQuery> {
  await loadPostgres();
  const { reader, statement } = parseStatement(text);
  if (!("SelectStmt" in statement)) return reader.refuse(reader.whole, "Only SELECT is supported here.");
  if (Object.keys(reader.options).length > 0)
    return reader.refuse(
      reader.whole,
      "WITH (…) at the end is for queries that are registered; leave it out.",
    );
  return readStatement(reader, statement.SelectStmt);
}

/** One statement: a SELECT, or the definition of a stream, a table or a materialized view. */
export async function parseDefinition(text: string): Promise<Statement> {
  await loadPostgres();
  return parseDefinitionSync(text);
}

/** For those that call functions which end with "Sync". */
export function loadParser(): Promise<void> {
  return loadPostgres();
}

/** What PostgreSQL's parser makes of a text, for those who know its trees. */
export async function treeOf(text: string): Promise<unknown> {
  await loadPostgres();
  return postgres().parseSync(text);
}

/** The same as `parseDefinition`, at once, when the parser has been loaded. */
export function parseDefinitionSync(text: string): Statement {
  const { reader, statement } = parseStatement(text);
  if ("SelectStmt" in statement)
    return {
      kind: "query",
      query: readStatement(reader, statement.SelectStmt),
      options: reader.options,
    };
  if ("CreateStmt" in statement) return readTable(reader, statement.CreateStmt);
  if ("CreateTableAsStmt" in statement) {
    const { query, into, objtype } = statement.CreateTableAsStmt;
    if (objtype !== "OBJECT_MATVIEW" || query === undefined || !("SelectStmt" in query))
      return reader.refuse(reader.whole, "CREATE TABLE AS is not supported; write CREATE MATERIALIZED VIEW.");
    const span = reader.span(into?.rel?.location);
    return {
      kind: "create view",
      name: reader.name(into?.rel?.relname),
      query: readStatement(reader, query.SelectStmt),
      options: { ...optionsOf(into?.options), ...reader.options },
      span,
    };
  }
  if ("ViewStmt" in statement)
    return reader.refuse(reader.whole, "CREATE VIEW is not supported; write CREATE MATERIALIZED VIEW.");
  return reader.refuse(
    reader.whole,
    "Only SELECT, CREATE STREAM, CREATE TABLE and CREATE MATERIALIZED VIEW are supported.",
  );
}

function readTable(reader: StatementReader, node: CreateStmt): Statement {
  const { relation, tableElts = [], options = [] } = node;
  const span = reader.span(relation?.location);
  const columns = tableElts.flatMap((each) => ("ColumnDef" in each ? [each.ColumnDef] : []));
  const constraints = tableElts.flatMap((each) => ("Constraint" in each ? [each.Constraint] : []));
  const key = keyOf(reader, columns, constraints, span);
  const kind = reader.createsStream ? "create stream" : "create table";
  const read = columns.map((each) => readColumn(reader, each, key));
  const [twice] = read.map(({ name }) => name).filter((name, i, all) => all.indexOf(name) !== i);
  if (twice !== undefined) return reader.refuse(span, `There are two columns ${twice}.`);
  return {
    kind,
    name: reader.name(relation?.relname),
    columns: read,
    key,
    watermark: reader.watermark === null ? null : readWatermark(reader, reader.watermark, read),
    options: optionsOf(options),
    span,
  };
}

function readColumn(
  reader: StatementReader,
  { colname, typeName, constraints = [], location }: ColumnDef,
  key: readonly string[],
): SqlColumn {
  const name = reader.name(colname);
  const span = reader.span(location);
  if (typeName === undefined) return reader.refuse(span, `The column ${name} needs a type.`);
  const kinds = constraints.flatMap((each) => ("Constraint" in each ? [each.Constraint.contype] : []));
  const other = kinds.find(
    (kind) => !["CONSTR_NOTNULL", "CONSTR_NULL", "CONSTR_PRIMARY"].includes(kind ?? ""),
  );
  if (other !== undefined)
    return reader.refuse(
      span,
      `Of constraints, ${name} can have NOT NULL and PRIMARY KEY; leave the others out.`,
    );
  const nullable = !kinds.includes("CONSTR_NOTNULL") && !key.includes(name);
  return { name, type: readType(reader, typeName), nullable };
}

function keyOf(
  reader: StatementReader,
  columns: readonly ColumnDef[],
  constraints: readonly Constraint[],
  span: Span,
): string[] {
  const other = constraints.find(({ contype }) => contype !== "CONSTR_PRIMARY");
  if (other !== undefined)
    return reader.refuse(
      reader.span(other.location),
      "Of constraints, a table can have a PRIMARY KEY; leave the others out.",
    );
  const own = columns.filter(({ constraints: each = [] }) =>
    each.some((one) => "Constraint" in one && one.Constraint.contype === "CONSTR_PRIMARY"),
  );
  const keys = [
    ...own.map(({ colname }) => [reader.name(colname)]),
    ...constraints.map(({ keys: names }) => (words(names) ?? []).map((name) => reader.name(name))),
  ];
  if (keys.length > 1)
    return reader.refuse(span, "There is more than one PRIMARY KEY; name all its columns in one.");
  const [key = []] = keys;
  const missing = key.find((name) => !columns.some(({ colname }) => reader.name(colname) === name));
  if (missing !== undefined) return reader.refuse(span, `There is no column ${missing} for the PRIMARY KEY.`);
  return key;
}

function optionsOf(nodes: readonly Node[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(nodes.flatMap(optionOf));
}

function optionOf(node: Node): [string, string][] {
  if (!("DefElem" in node) || node.DefElem.defname === undefined) return [];
  const { defname, arg } = node.DefElem;
  if (arg === undefined) return [[defname, "true"]];
  if ("String" in arg) return [[defname, arg.String.sval ?? ""]];
  if ("Integer" in arg) return [[defname, String(arg.Integer.ival ?? 0)]];
  return [[defname, "Float" in arg ? (arg.Float.fval ?? "") : ""]];
}

/** The column itself, or the column minus an interval. */
function readWatermark(
  reader: StatementReader,
  { words: written, span }: WatermarkWords,
  columns: readonly SqlColumn[],
): Watermark {
  const form = /^(\w+)\s+as\s+(\w+)\s*(?:-\s*interval\s*'([^']*)'\s*(day|hour|minute|second)?s?)?$/i.exec(
    written,
  );
  const [, column = "", same = "", amount, unit] = form ?? [];
  if (form === null || column.toLowerCase() !== same.toLowerCase())
    return reader.refuse(
      span,
      "A watermark is WATERMARK FOR ts AS ts - INTERVAL '5 seconds', or AS ts alone.",
    );
  const found = columns.find(({ name }) => name === column.toLowerCase());
  if (found === undefined) return reader.refuse(span, `There is no column ${column} for the watermark.`);
  if (found.type !== "timestamp" && found.type !== "timestamptz")
    return reader.refuse(span, `The column ${column} of a watermark is a timestamp.`);
  const latenessMs = amount === undefined ? 0 : intervalMs(unit === undefined ? amount : `${amount} ${unit}`);
  if (latenessMs === null) return reader.refuse(span, `'${amount}' is not an interval of a fixed length.`);
  return { column: found.name, latenessMs };
}
