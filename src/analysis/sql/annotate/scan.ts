import type { LogicalPlan } from "../../../sql/index.js";
import { columnType } from "../column-types.js";
import type { Relation } from "../relation.js";
import { STILL } from "../sign.js";
import { type ColumnFacts, PLAIN } from "../value.js";
import type { Walk } from "./walk.js";

export function unitRelation(): Relation {
  return {
    columns: [],
    rows: STILL,
    repetition: new Map(),
    parts: new Map(),
    fixed: new Map(),
    bound: [],
    kept: new Set(),
  };
}

/** Rows that are written in the query are always there. */
export function valuesRelation({ columns }: Extract<LogicalPlan, { kind: "values" }>): Relation {
  const values = columns.map(
    ({ type, nullable }): ColumnFacts => ({ ...PLAIN, lacks: nullable, type: columnType(type) }),
  );
  return { ...unitRelation(), columns: values };
}

/** A table only grows. */
export function scanRelation(
  { known, findings }: Walk,
  { scan, table, columns }: Extract<LogicalPlan, { kind: "scan" }>,
): Relation {
  findings.tableOf.set(scan, table);
  const isRequest = table === known.request;
  const nonNegative = known.nonNegative[table] ?? [];
  return {
    ...unitRelation(),
    columns: columns.map(({ name: attribute, type }) => ({
      ...PLAIN,
      nonNegative: nonNegative.includes(attribute),
      type: known.types[table]?.[attribute] ?? columnType(type),
      constant: isRequest,
      origins: [{ scan, attribute, computed: false, injective: true, orderPreserving: true }],
    })),
    rows: isRequest ? STILL : new Map([[scan, "grows"]]),
    repetition: new Map([[scan, "passes"]]),
    parts: new Map([[scan, null]]),
  };
}
