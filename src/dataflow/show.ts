import type { SourcePosition } from "../analysis/index.js";
import type { ProgramFacts } from "./program.js";

const REASONS_SHOWN = 3;

/** What the analysis says of a program besides the labels between its logical nodes. */
export function showProgram({ inside, undeclared, queries, unclear }: ProgramFacts): string {
  const parts = queries.map(({ cls, queries: own }) =>
    [
      `queries in ${cls}`,
      ...own.map(({ name, label, coordination }) => `  ${name}  ${label}, coordination: ${coordination}`),
    ].join("\n"),
  );
  if (inside.length > 0)
    parts.push(
      [
        "inside logical nodes",
        ...inside.map(({ field, because }) =>
          because.length === 0
            ? `  ${field}: the order between different keys cannot be observed: no event sees two of them`
            : `  ${field}: order between keys is paid for: ${listed(because.map((each) => `${each.text}${at(each.position)}`))}`,
        ),
      ].join("\n"),
    );
  if (unclear.length > 0)
    parts.push(
      [
        "taken for the worst",
        ...unclear.map((place) => `  a reference goes where it cannot be followed${at(place)}`),
      ].join("\n"),
    );
  if (undeclared.length > 0)
    parts.push(
      `if the order of these makes no difference, declare it: ${undeclared
        .map(
          ({ cls, methods }) =>
            `\`static confluent = [${methods.map((name) => `"${name}"`).join(", ")}]\` in ${cls}`,
        )
        .join(", ")}`,
    );
  return parts.join("\n\n");
}

function listed(texts: readonly string[]): string {
  const shown = texts.slice(0, REASONS_SHOWN).join("; ");
  return texts.length <= REASONS_SHOWN ? shown : `${shown}; and ${texts.length - REASONS_SHOWN} more`;
}

function at(position: SourcePosition | null): string {
  return position === null ? "" : ` (${position.source ?? ""}:${position.line}:${position.column})`;
}
