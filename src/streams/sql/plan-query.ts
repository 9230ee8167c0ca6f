import { parseQuery, resolveQuery } from "../../sql/index.js";
import type { Schema } from "../columns/index.js";
import type { Plan } from "../plan/index.js";
import { lower } from "./lower.js";
import { SQL_TYPES } from "./types.js";

type Query = Awaited<ReturnType<typeof parseQuery>>;

/**
 * The plan of a query over tables that end. Other than a stream, such a table has an order: ORDER BY needs no LIMIT, and
 * LIMIT alone takes the first rows as they come.
 */
export async function planQuery(text: string, tables: Readonly<Record<string, Schema>>): Promise<Plan> {
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
  const plan = lower(resolveQuery(asked, text, columns), tables);
  const isCut = !isOrdered && (query.limit !== null || query.offset > 0);
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
