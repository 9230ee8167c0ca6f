import { showAnnotation, showFault, showLabel } from "../../analysis/index.js";
import type { ExaminedQuery, Partition } from "./examine.js";

/**
 * What EXPLAIN says of a query about order: the annotations that the analysis has derived and from which words, the label of
 * its answers, the coordination that is carried out with its reason, and what would make it cheaper.
 */
export function explain(query: ExaminedQuery): string {
  const { label, seals, coordination, chosen, faults, isOpen, partition } = query;
  const lines = ["Annotations"];
  for (const { from, annotation, gate, why } of query.paths) {
    lines.push(`  ${from} → ${query.name}  ${showAnnotation(annotation, gate)}`);
    for (const { text, position } of why) lines.push(`    ${position.line}:${position.column}  ${text}`);
  }
  lines.push(`Label  ${showLabel(label, seals)}`);
  lines.push(`Coordination  ${inForce(query)}`);
  if (coordination.because !== "") lines.push(`  because ${coordination.because}`);
  if (chosen?.kind === "accept") lines.push(`  accepted: ${chosen.reason}`);
  lines.push(`Partitions  ${divided(partition)}`);
  if (isOpen) lines.push(...faults.flatMap((fault) => showFault(fault).split("\n")));
  return lines.join("\n");
}

function inForce({ coordination: { inForce: kind }, chosen }: ExaminedQuery): string {
  switch (kind.kind) {
    case "none":
      return chosen?.kind === "accept" ? "none, accepted with a reason" : "none";
    case "order":
      return "one order for all inputs: the tickets of the graph";
    case "seal":
      return `holds ${kind.streams.map(({ name }) => name).join(", ")} until sealed`;
  }
}

function divided(partition: Partition): string {
  switch (partition.kind) {
    case "any":
      return "any row anywhere";
    case "by":
      return `by ${partition.columns.join(", ")}`;
    case "none":
      return "one";
  }
}
