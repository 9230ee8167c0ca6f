import { showAnnotation, showLabel, showSeal } from "../../analysis/index.js";
import { HeadwaterError } from "../../errors.js";
import type { ExaminedQuery } from "./examine.js";

/** Why a query is refused: what depends on the order of rows, by which words, and what its registrant can choose. */
export function refusal(query: ExaminedQuery): HeadwaterError {
  const { name, label, seals } = query;
  const lines = [
    `the answers of "${name}" depend on the order in which rows come, and nothing says what to do about it. ` +
      `Their label is ${showLabel(label, seals)}.`,
    ...reasonsOf(query),
    "Choose one of these, in the SQL text or as options of the registration:",
    ...choicesFor(query),
  ];
  return new HeadwaterError("HW-5451", lines.join("\n"));
}

function reasonsOf({ paths, faults }: ExaminedQuery): string[] {
  const sensitive = paths.filter(({ annotation }) => annotation.startsWith("O"));
  const why = sensitive.flatMap(({ from, annotation, gate, why: reasons }) =>
    reasons.map(
      ({ text, position: { line, column } }) =>
        `  ${line}:${column}  ${from} is ${showAnnotation(annotation, gate)}: ${text}`,
    ),
  );
  const before = faults.flatMap(({ after }) => (after === null ? [] : [after]));
  const first = [...new Set(before)].map((stream) => `  ${stream} depends on order itself`);
  return [...why, ...first];
}

/** What ends it, the cheapest first. */
export function choicesFor({ faults, coordination }: ExaminedQuery): string[] {
  const keys = faults.flatMap(({ seal }) =>
    (seal?.keys ?? []).map(({ seal: key }) => `${streamsOf(seal?.streams ?? [])} on ${showSeal(key)}`),
  );
  const sealed = coordination.coordination.kind === "seal" || keys.length > 0;
  const where = keys.length === 0 ? "" : `, once producers seal ${[...new Set(keys)].join(" or ")}`;
  return [
    ...(sealed ? [`  WITH (coordination = 'seal')                  wait for seals${where}`] : []),
    "  EMIT CHANGES                                  answer at once, and take back what turns out wrong",
    "  WITH (coordination = 'order')                 the order of the graph's tickets, which another run may choose differently",
    "  WITH (coordination = 'accept', reason = '…')  live with it, for a written reason",
  ];
}

function streamsOf(names: readonly string[]): string {
  return names.map((name) => name.replace(/ → .*$/, "")).join(" and ");
}
