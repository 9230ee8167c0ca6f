import { HeadwaterError } from "../../errors.js";
import { literalOf, parseQuery, type ResolvedQuery, resolveQuery, type SqlType } from "../../sql/index.js";
import type { Schema } from "../columns/index.js";
import type { Plan } from "../plan/index.js";
import { lower } from "./lower.js";
import { SQL_TYPES } from "./types.js";

type Query = Awaited<ReturnType<typeof parseQuery>>;

/** The columns of a query's results by their SQL types, and the types of its parameters `$1`, `$2`… */
export interface QueryShape {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly parameters: readonly SqlType[];
}

/**
 * The plan of a query over tables that end. Other than a stream, such a table has an order: ORDER BY needs no LIMIT, and
 * LIMIT alone takes the first rows as they come.
 */
export async function planQuery(text: string, tables: Readonly<Record<string, Schema>>): Promise<Plan> {
  const { query, resolved } = await read(text, tables);
  return planned(query, resolved, tables);
}

/** What a query answers with, without a plan for it: its parameters have no values yet. */
export async function describeQuery(
  text: string,
  tables: Readonly<Record<string, Schema>>,
): Promise<QueryShape> {
  const { resolved } = await read(text, tables);
  return shapeOf(resolved);
}

/** The same with values for the parameters, as PostgreSQL writes them. */
export async function planBound(
  text: string,
  tables: Readonly<Record<string, Schema>>,
  parameters: readonly (string | null)[],
): Promise<{ readonly plan: Plan; readonly shape: QueryShape }> {
  const { query, resolved } = await read(text, tables);
  return { plan: planned(query, bound(resolved, parameters), tables), shape: shapeOf(resolved) };
}

function shapeOf({ plan, parameters }: ResolvedQuery): QueryShape {
  return { columns: plan.columns.map(({ name, type }) => ({ name, type })), parameters };
}

async function read(
  text: string,
  tables: Readonly<Record<string, Schema>>,
): Promise<{ readonly query: Query; readonly resolved: ResolvedQuery }> {
  const query = await parseQuery(text);
  const columns = Object.fromEntries(
    Object.entries(tables).map(([name, schema]) => [
      name,
      schema.map((spec) => ({ name: spec.name, type: SQL_TYPES[spec.type], nullable: spec.nullable })),
    ]),
  );
  const isOrdered = query.orderBy.length > 0;
  const unlimited: Query = { ...query, limit: Number.MAX_SAFE_INTEGER };
  const asked: Query = !isOrdered
    ? { ...query, limit: null, offset: 0 }
    : query.limit === null
      ? unlimited
      : query;
  return { query, resolved: resolveQuery(asked, text, columns) };
}

function planned(query: Query, resolved: ResolvedQuery, tables: Readonly<Record<string, Schema>>): Plan {
  const plan = lower(resolved, tables);
  const isCut = query.orderBy.length === 0 && (query.limit !== null || query.offset > 0);
  if (!isCut) return plan;
  return {
    kind: "sort",
    input: plan,
    order: [],
    limit: query.limit,
    offset: query.offset,
    columns: plan.columns,
  };
}

/** The same query with a constant in the place of each parameter. */
function bound(query: ResolvedQuery, given: readonly (string | null)[]): ResolvedQuery {
  const values = query.parameters.map((type, i) => {
    const text = given[i] ?? null;
    const value = text === null ? null : literalOf(text, type);
    if (value !== undefined) return value;
    throw new HeadwaterError("HW-5104", `The parameter $${i + 1} is no value of the type ${type}.`);
  });
  const replaced = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.map(replaced);
    if ("kind" in part && part.kind === "parameter" && "number" in part)
      return { ...part, kind: "constant", value: values[Number(part.number) - 1] ?? null };
    return Object.fromEntries(Object.entries(part).map(([name, below]) => [name, replaced(below)]));
  };
  return values.length === 0 ? query : { ...query, plan: replaced(query.plan) as ResolvedQuery["plan"] };
}
