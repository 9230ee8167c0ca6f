import type { LogicalPlan } from "../plan.js";
import type { Row } from "./expression.js";

/** All pairs for which the condition is true, and for outer joins the rows of a side that are in none of them, with NULLs. */
export function joinedRows(
  { join, left: one, right: other }: Extract<LogicalPlan, { kind: "join" }>,
  left: readonly Row[],
  right: readonly Row[],
  matches: (pair: Row) => boolean,
): Row[] {
  const matched = new Set<Row>();
  const nulls = (plan: LogicalPlan) => plan.columns.map(() => null);
  const pairs = left.flatMap((row) => {
    const partners = right.filter((each) => matches([...row, ...each]));
    for (const each of partners) matched.add(each);
    const lone = partners.length === 0 && (join === "left" || join === "full");
    return lone ? [[...row, ...nulls(other)]] : partners.map((each) => [...row, ...each]);
  });
  if (join !== "right" && join !== "full") return pairs;
  const rest = right.filter((row) => !matched.has(row));
  return [...pairs, ...rest.map((row) => [...nulls(one), ...row])];
}
