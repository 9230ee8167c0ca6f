import type { Query } from "../../analysis/sql/ast.js";
import { parseQuery } from "../../analysis/sql/parse.js";
import { resolveQuery } from "../../analysis/sql/resolve.js";
import type { Schema } from "../columns/index.js";
import type { Plan } from "../plan/index.js";
import { lower } from "./lower.js";

/**
 * The plan of a query over tables that end. Other than a stream, such a table has an order: ORDER BY needs no LIMIT, and
 * LIMIT alone takes the first rows as they come.
 */
export async function planQuery(text: string, tables: Readonly<Record<string, Schema>>): Promise<Plan> {
  const query = await parseQuery(text);
  const names = Object.fromEntries(
    Object.entries(tables).map(([name, schema]) => [name, schema.map((spec) => spec.name)]),
  );
  const isOrdered = query.orderBy.length > 0;
  const unlimited: Query = { ...query, limit: Number.MAX_SAFE_INTEGER };
  const asked: Query = !isOrdered
    ? { ...query, limit: null, offset: 0 }
    : query.limit === null
      ? unlimited
      : query;
  const plan = lower(resolveQuery(asked, text, names), tables);
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
