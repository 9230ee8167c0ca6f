import type { LogicalPlan, PlanExpression } from "../../sql/index.js";
import type { QueryFindings, Relation } from "./relation.js";
import { moving } from "./sign.js";
import { addOrigins, type ColumnFacts, type ColumnOrigin, PLAIN } from "./value.js";

/** Where an expression stands: over the rows of `stack[0]`, inside a query over the rows of `stack[1]`, and so on. */
export interface ExpressionSite {
  readonly text: string;
  readonly findings: QueryFindings;
  readonly stack: readonly Relation[];
  readonly relation: (plan: LogicalPlan, outer: readonly Relation[]) => Relation;
}

export function columnAt(site: ExpressionSite, expression: PlanExpression): ColumnFacts {
  if (expression.kind !== "column") return PLAIN;
  return site.stack[expression.depth]?.columns[expression.index] ?? PLAIN;
}

/** Rows inside meet rows outside that agree in a column, so the column outside tells the parts inside apart. */
export function link(
  site: ExpressionSite,
  expression: PlanExpression,
  origins: readonly ColumnOrigin[],
): void {
  const target = expression.kind === "column" ? site.stack[expression.depth] : undefined;
  if (target === undefined || expression.kind !== "column") return;
  const exact = origins.filter(({ injective }) => injective);
  site.findings.equate([...(target.columns[expression.index]?.origins ?? []), ...exact]);
  target.columns = target.columns.map((column, i) =>
    i === expression.index ? addOrigins(column, exact) : column,
  );
}

/**
 * An expression over columns of one row of one table is an attribute of that row, under the name of its text. It cuts the
 * table into parts like a column, and seals can be known for it through its dependency on the columns.
 */
export function asAttribute(
  site: ExpressionSite,
  expression: PlanExpression,
  value: ColumnFacts,
): ColumnFacts {
  if (moving(value.moves).length > 0 || value.origins.some(({ injective }) => injective)) return value;
  const columns = inputsOf(expression);
  if (columns.some(({ kind }) => kind !== "column")) return value;
  const inputs = columns.map((each) => columnAt(site, each).origins.filter(({ injective }) => injective));
  const [first = []] = inputs;
  const scans = [...new Set(first.map(({ scan }) => scan))].filter((scan) =>
    inputs.every((origins) => origins.some((origin) => origin.scan === scan)),
  );
  const made = scans.map((scan): ColumnOrigin => {
    const own = inputs.map((origins) => origins.filter((origin) => origin.scan === scan));
    const from = [
      ...new Set(own.flatMap(([origin]) => (origin === undefined ? [] : site.findings.bases(origin)))),
    ];
    const ordered = value.origins.some(
      (origin) => origin.scan === scan && origin.attribute === from[0] && origin.orderPreserving,
    );
    const attribute = nameOf(site, expression, columns, own);
    site.findings.compute(scan, attribute, { from, orderPreserving: from.length === 1 && ordered });
    return { scan, attribute, computed: true, injective: true, orderPreserving: false };
  });
  return addOrigins(value, made);
}

/** The words of an expression with the attributes of one scan in the place of its columns: the same for the same function. */
function nameOf(
  site: ExpressionSite,
  { span }: PlanExpression,
  columns: readonly PlanExpression[],
  origins: readonly (readonly ColumnOrigin[])[],
): string {
  const places = columns
    .map((column, i) => ({ ...column.span, attribute: origins[i]?.[0]?.attribute ?? "" }))
    .sort((a, b) => a.start - b.start);
  let name = "";
  let at = span.start;
  for (const { start, end, attribute } of places) {
    if (start < at || end > span.end) continue;
    name += site.text.slice(at, start) + (/^\w+$/.test(attribute) ? attribute : `(${attribute})`);
    at = end;
  }
  return (name + site.text.slice(at, span.end)).replace(/\s+/g, " ");
}

/** The columns in an expression; a subquery in it makes it depend on more than a row. */
export function inputsOf(expression: PlanExpression): PlanExpression[] {
  switch (expression.kind) {
    case "column":
    case "scalar":
    case "exists":
      return [expression];
    case "in":
      return [expression, ...expression.operands.flatMap(inputsOf)];
    case "operator":
    case "call":
      return expression.operands.flatMap(inputsOf);
    case "cast":
      return inputsOf(expression.operand);
    case "case":
      return [
        ...expression.branches.flatMap(({ when, result }) => [...inputsOf(when), ...inputsOf(result)]),
        ...(expression.otherwise === null ? [] : inputsOf(expression.otherwise)),
      ];
    default:
      return [];
  }
}
