import { HeadwaterError } from "../../errors.js";
import {
  loadParser,
  parseDefinitionSync,
  pointAt,
  type ResolvedQuery,
  resolveQuery,
  type Statement,
  showType,
} from "../../sql/index.js";
import { column, type Schema } from "../columns/index.js";
import type { Plan } from "../plan/index.js";
import { lower } from "./lower.js";
import { OPEN_SCALE, SQL_TYPES, valueType } from "./types.js";
import type { Versions } from "./version-join.js";

type Created = Extract<Statement, { kind: "create stream" | "create table" }>;

/** What a statement defines. */
export type Defined =
  | {
      readonly kind: "query" | "view";
      readonly name: string | null;
      readonly plan: Plan;
      readonly resolved: ResolvedQuery;
      /** What stands in `WITH (…)`. */
      readonly options: Readonly<Record<string, string>>;
    }
  | (Omit<Created, "columns"> & { readonly columns: Schema });

/** A statement that defines a stream, a table, a query or a view, over the streams and queries that are there. */
export async function planDefinition(
  text: string,
  tables: Readonly<Record<string, Schema>>,
  versions: Versions = {},
): Promise<Defined> {
  await loadParser();
  return planDefinitionSync(text, tables, versions);
}

/** The same at once, when the parser has been loaded. */
export function planDefinitionSync(
  text: string,
  tables: Readonly<Record<string, Schema>>,
  versions: Versions = {},
): Defined {
  const statement = parseDefinitionSync(text);
  if ("columns" in statement) {
    const specs = statement.columns.map((each) => specOf(each, text, statement.span));
    return { ...statement, columns: specs };
  }
  const columns = Object.fromEntries(
    Object.entries(tables).map(([name, schema]) => [
      name,
      schema.map((spec) => ({ name: spec.name, type: SQL_TYPES[spec.type], nullable: spec.nullable })),
    ]),
  );
  const resolved = resolveQuery(statement.query, text, columns);
  const plan = lower(resolved, tables, versions);
  const isView = statement.kind === "create view";
  return {
    kind: isView ? "view" : "query",
    name: isView ? statement.name : null,
    plan,
    resolved,
    options: statement.options,
  };
}

function specOf(
  { name, type, nullable }: Created["columns"][number],
  text: string,
  span: Created["span"],
): Schema[number] {
  const held = valueType(type);
  if (held === null || held === "interval")
    throw new HeadwaterError(
      "HW-5102",
      pointAt(
        text,
        span,
        `The column ${name} has the type ${showType(type)}, which no column of a stream has. Use jsonb for arrays, double precision for real, and a number of seconds for intervals.`,
      ),
    );
  return column(name, held, nullable, held === "numeric" ? OPEN_SCALE : 0);
}
