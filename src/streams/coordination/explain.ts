import { showAnnotation, showLabel } from "../../analysis/index.js";
import type { Candidate, CoordinationDecision } from "./decide.js";
import type { ExaminedQuery } from "./examine.js";
import { planText } from "./plan-text.js";
import { choicesFor } from "./refusal.js";

/**
 * What EXPLAIN says of a query: its operators with what they keep, how it can be divided, the annotations that the analysis has
 * derived and from which words, the label of its answers, the coordination that is carried out with its reason, and,
 * where the query would be refused, what its registrant can choose.
 */
export function explain(candidate: Candidate, decision: CoordinationDecision): string {
  const { name, plan, inputs } = candidate;
  const { query, emit } = decision;
  const { label, seals, coordination, chosen } = query;
  const mode = decision.sealed === null ? emit : "once";
  const lines = ["Plan", ...planText(plan, inputs, mode).map((line) => `  ${line}`)];
  lines.push(`Partitions  ${partitionsText(candidate, decision)}`);
  lines.push("Annotations");
  for (const { from, annotation, gate, why } of query.paths) {
    lines.push(`  ${from} → ${name}  ${showAnnotation(annotation, gate)}`);
    for (const { text, position } of why) lines.push(`    ${position.line}:${position.column}  ${text}`);
  }
  lines.push(`Label  ${showLabel(label, seals)}`);
  lines.push(`Coordination  ${coordinationText(decision)}`);
  for (const { name: stream, producers } of decision.sealed ?? [])
    if (producers.length > 0)
      lines.push(
        `  by the producers ${producers.join(", ")}${decision.sealed?.length === 1 ? "" : ` of ${stream}`}`,
      );
  if (coordination.because !== "" && chosen?.kind !== "accept")
    lines.push(`  because ${coordination.because}`);
  if (chosen?.kind === "accept") lines.push(`  accepted: ${chosen.reason}`);
  if (query.isOpen) lines.push(...choicesFor(query));
  return lines.join("\n");
}

/** How a query is carried out, in one line. */
export function coordinationText(decision: CoordinationDecision): string {
  return decision.query.isOpen ? "refused until one is chosen" : inForce(decision);
}

function inForce({ query, retracts, emit, sealed }: CoordinationDecision): string {
  const { kind } = query.coordination.inForce;
  switch (kind) {
    case "none":
      return retracts ? "none: answers are retracted when they change" : noneText(query);
    case "order":
      return "one order for all inputs: the tickets of the graph";
    case "seal":
      if (sealed !== null && sealed.length > 1)
        return `a partition is held until the producers of all inputs have sealed it: ${sealed.map(({ name, columns }) => `${name} by ${columns.join(", ")}`).join(" and ")}`;
      return `${emit === "on window close" ? "a window is held until the watermark has passed it" : "a partition is held until its producers have sealed it"}: ${sealedText(query)}`;
  }
}

function noneText({ chosen }: ExaminedQuery): string {
  return chosen?.kind === "accept" ? "none, accepted with a reason" : "none";
}

function sealedText({ coordination: { inForce: force } }: ExaminedQuery): string {
  if (force.kind !== "seal") return "";
  return force.streams
    .map(({ name, seal }) => `${name.replace(/ → .*$/, "")} by ${seal?.key.join(", ") ?? "all of it"}`)
    .join(" and ");
}

function partitionsText({ partitions, inputs }: Candidate, { partitioning }: CoordinationDecision): string {
  switch (partitioning.kind) {
    case "any":
      return `${partitions}, any row anywhere`;
    case "none":
      return `1: ${partitioning.because}`;
    case "by": {
      const by = Object.entries(partitioning.columns).map(([table, columns]) => {
        const names = columns.map((index) => inputs[table]?.schema[index]?.name ?? `column ${index + 1}`);
        return `${table} by ${names.join(", ")}`;
      });
      return `${partitions}, ${by.join("; ")}`;
    }
  }
}
