import type { AnnotationKind, Gate, Seal } from "./graph.js";

/** What can go wrong on a stream (figure 8), from best to worst. */
export const LABELS = ["Seal", "Async", "Run", "Inst", "Diverge"] as const;

export type Label = (typeof LABELS)[number];

/** Labels that exist only inside a component; reconciliation turns them into the others. */
export type Internal = { readonly kind: "NDRead"; readonly gate: Gate } | { readonly kind: "Taint" };

const LABEL_SEVERITY: Readonly<Record<Label, number>> = { Seal: 1, Async: 2, Run: 3, Inst: 4, Diverge: 5 };

export function severityOf(label: Label): number {
  return LABEL_SEVERITY[label];
}

export function worse(a: Label, b: Label): Label {
  return LABEL_SEVERITY[a] >= LABEL_SEVERITY[b] ? a : b;
}

export function better(a: Label, b: Label): Label {
  return LABEL_SEVERITY[a] <= LABEL_SEVERITY[b] ? a : b;
}

/** Contents may differ between runs, instances or for ever; `Async` is only an order that may differ. */
export function isAnomaly(label: Label): label is "Run" | "Inst" | "Diverge" {
  return LABEL_SEVERITY[label] > LABEL_SEVERITY.Async;
}

export function isOrderSensitive(kind: AnnotationKind): boolean {
  return kind === "OR" || kind === "OW";
}

export function isWrite(kind: AnnotationKind): boolean {
  return kind === "CW" || kind === "OW";
}

/** `OW_{word,batch}`, as the paper writes it. */
export function showAnnotation(kind: AnnotationKind, gate: Gate): string {
  return isOrderSensitive(kind) ? `${kind}_${showGate(gate)}` : kind;
}

export function showInternal(internal: Internal): string {
  return internal.kind === "Taint" ? "Taint" : `NDRead_${showGate(internal.gate)}`;
}

/** `Seal_{batch}`; a watermark is written `Seal_{≤time}`, an estimated one `Seal_{≲time}`. */
export function showLabel(label: Label, seals: readonly Seal[]): string {
  return label === "Seal" ? `Seal_${seals.map(showSeal).join("|")}` : label;
}

export function showSeal({ key, prefix, late }: Seal): string {
  return `{${late === true ? "≲" : prefix ? "≤" : ""}${key.join(",")}}`;
}

function showGate(gate: Gate): string {
  return gate === "*" ? "*" : `{${gate.join(",")}}`;
}
