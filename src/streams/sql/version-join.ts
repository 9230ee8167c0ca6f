import { HeadwaterError } from "../../errors.js";
import { pointAt, type LogicalPlan as SqlPlan } from "../../sql/index.js";
import { conjunction, type Expression, type Plan } from "../plan/index.js";
import { meeting } from "./join-keys.js";

/** The tables and streams that have versions by time: the column of their event time, and the key of a table. */
export type Versions = Readonly<Record<string, { readonly time: number; readonly key: readonly number[] }>>;

/**
 * How rows meet the versions of a table. A version belongs to the key of its table; of a stream, to what ON compares it by. Other
 * conditions are asked of the version that was found: one that does not fit is not replaced by an older one.
 */
export function versionJoin(
  { asOf, right: given, join, span }: Extract<SqlPlan, { kind: "join" }>,
  right: Plan,
  on: readonly Expression[],
  { text, width, versions }: { readonly text: string; readonly width: number; readonly versions: Versions },
): Pick<Extract<Plan, { kind: "join" }>, "leftKeys" | "rightKeys" | "condition" | "asOf"> {
  const refuse = (what: string, at = given.span): never => {
    throw new HeadwaterError("HW-5102", pointAt(text, at, what));
  };
  if (asOf === null || given.kind !== "scan")
    return refuse("FOR SYSTEM_TIME AS OF a column stands behind a table or a stream, not behind a subquery.");
  const found = Object.hasOwn(versions, given.table) ? versions[given.table] : undefined;
  if (found === undefined)
    return refuse(
      `${given.table} has no event time, so it has no versions by time. Declare one with WATERMARK FOR, or use FOR SYSTEM_TIME AS OF PROCTIME().`,
    );
  const { leftKeys, rightKeys, condition } = meeting(on, width);
  const isKey = rightKeys.map(
    (key) => found.key.length === 0 || (key.kind === "column" && found.key.includes(key.index)),
  );
  const missing = found.key.find(
    (index) => !rightKeys.some((key) => key.kind === "column" && key.index === index),
  );
  if (missing !== undefined || !isKey.includes(true))
    return refuse(
      `Versions of ${given.table} are found by its key: ON has to compare ${missing === undefined ? "a column of it" : right.columns[missing]?.name} with something of the left side by =.`,
      span,
    );
  const rest = on.filter((each) => !isPartOf(each, { leftKeys, rightKeys, isKey }, width));
  if (join === "left" && (condition !== null || isKey.includes(false)))
    return refuse(
      "LEFT JOIN FOR SYSTEM_TIME AS OF a column compares the key only. Put other conditions into a CASE in SELECT.",
      span,
    );
  return {
    leftKeys: leftKeys.filter((_, i) => isKey[i]),
    rightKeys: rightKeys.filter((_, i) => isKey[i]),
    condition: conjunction(rest),
    asOf: { left: asOf.index, right: found.time },
  };
}

/** Whether a condition is the equality of a key. */
function isPartOf(
  condition: Expression,
  {
    leftKeys,
    rightKeys,
    isKey,
  }: Pick<ReturnType<typeof meeting>, "leftKeys" | "rightKeys"> & { isKey: readonly boolean[] },
  width: number,
): boolean {
  const own = meeting([condition], width);
  const [left, right] = [own.leftKeys[0], own.rightKeys[0]];
  if (left === undefined || right === undefined) return false;
  const same = (a: Expression, b: Expression | undefined) => JSON.stringify(a) === JSON.stringify(b);
  return leftKeys.some((each, i) => isKey[i] && same(left, each) && same(right, rightKeys[i]));
}
