import type { LogicalPlan } from "../../../sql/index.js";
import { allScans, meetIn, type Relation, repeated, settledColumns, settledRows } from "../relation.js";
import { wavering } from "../sign.js";
import { addOrigins, blurred, type ColumnFacts, type ColumnOrigin, PLAIN } from "../value.js";
import type { Walk } from "./walk.js";

type WindowPlan = Extract<LogicalPlan, { kind: "window" }>;

/** TUMBLE and HOP give each row its windows whatever the others are. A session depends on the rows around it. */
export function windowRelation(walk: Walk, plan: WindowPlan, input: Relation): Relation {
  const ends = ["window_start", "window_end"].map((name) => windowEnd(walk, plan, input, name));
  const columns = [...input.columns, ...ends];
  if (plan.window !== "session") return { ...input, columns };
  const { findings } = walk;
  const scans = allScans(input);
  findings.meet(scans, scans);
  findings.note(
    scans,
    "SESSION: a row that comes later can make one session of two, or a session longer",
    plan.span,
    true,
  );
  const keys = plan.keys.map((key) => input.columns[key] ?? PLAIN);
  return {
    ...input,
    columns: settledColumns(columns),
    rows: wavering(settledRows(input)),
    parts: meetIn(input, [...keys, ...ends], findings),
    repetition: repeated(input, keys, null),
    kept: new Set([...input.kept, ...scans]),
  };
}

/** An attribute of the rows that they do not carry: it grows with their time. */
function windowEnd({ text, findings }: Walk, plan: WindowPlan, input: Relation, name: string): ColumnFacts {
  const time = input.columns[plan.time] ?? PLAIN;
  const { window, sizeMs, slideMs, offsetMs, keys, span } = plan;
  const words = `${name} of ${text.slice(span.start, span.end).replace(/\s+/g, " ")}`;
  const made = time.origins.flatMap((origin): ColumnOrigin[] => {
    if (!origin.injective) return [];
    const { scan } = origin;
    const from = findings.bases(origin);
    const definition = JSON.stringify([origin.attribute, window, sizeMs, slideMs, offsetMs, keys]);
    const attribute = findings.name(name, words, definition);
    const grows = (each: ColumnOrigin) =>
      each.scan === scan && each.attribute === from[0] && each.orderPreserving;
    const orderPreserving = from.length === 1 && time.origins.some(grows);
    findings.compute(scan, attribute, { from, orderPreserving });
    return [{ scan, attribute, computed: true, injective: true, orderPreserving: false }];
  });
  return addOrigins({ ...PLAIN, type: time.type, origins: made }, blurred(time, true));
}
