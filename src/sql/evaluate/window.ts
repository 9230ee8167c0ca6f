import type { LogicalPlan } from "../plan.js";
import type { Row } from "./expression.js";

type WindowPlan = Extract<LogicalPlan, { kind: "window" }>;

/** TUMBLE, HOP, CUMULATE and SESSION. A row without a time is in no window. */
export function windowRows(plan: WindowPlan, rows: readonly Row[]): Row[] {
  const timed = rows.filter((row) => typeof row[plan.time] === "number");
  if (plan.window === "session") return sessions(plan, timed);
  const { slideMs, sizeMs, offsetMs } = plan;
  if (plan.window === "cumulate")
    return timed.flatMap((row) => {
      const time = Number(row[plan.time]);
      const start = Math.floor((time - offsetMs) / sizeMs) * sizeMs + offsetMs;
      const ends = Array.from({ length: sizeMs / slideMs }, (_, i) => start + (i + 1) * slideMs);
      return ends.filter((end) => end > time).map((end) => [...row, start, end]);
    });
  return timed.flatMap((row) => {
    const last = Math.floor((Number(row[plan.time]) - offsetMs) / slideMs) * slideMs + offsetMs;
    const starts = Array.from({ length: sizeMs / slideMs }, (_, i) => last - i * slideMs);
    return starts.map((start) => [...row, start, start + sizeMs]);
  });
}

/** Rows with the same keys are in one session if no gap between neighbours reaches the size. */
function sessions(plan: WindowPlan, rows: readonly Row[]): Row[] {
  const byKey = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(plan.keys.map((index) => row[index]));
    byKey.set(key, [...(byKey.get(key) ?? []), row]);
  }
  const time = (row: Row | undefined) => Number(row?.[plan.time]);
  return [...byKey.values()].flatMap((all) => {
    const ordered = all.toSorted((a, b) => time(a) - time(b));
    const groups: Row[][] = [];
    for (const row of ordered) {
      const open = groups.at(-1);
      if (open !== undefined && time(row) - time(open.at(-1)) < plan.sizeMs) open.push(row);
      else groups.push([row]);
    }
    return groups.flatMap((group) =>
      group.map((row) => [...row, time(group[0]), time(group.at(-1)) + plan.sizeMs]),
    );
  });
}
