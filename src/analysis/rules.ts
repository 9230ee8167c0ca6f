/** Figure 9, and what the paper leaves open (DESIGN.md, section 9), one path and one input stream at a time. */

import type { Dependencies } from "./dependencies.js";
import type { ComponentPath, Delivery, Gate, Repetition, Seal } from "./graph.js";
import { type Internal, isOrderSensitive, isWrite, type Label } from "./labels.js";

/**
 * The rules of figure 9 by their numbers; "p" preserves the input's label. The paper does not have these: "d" is about
 * duplicates, "o" about streams that keep an order, "l" about records that come after an estimated watermark.
 */
export type Rule = "p" | "1" | "2" | "3" | "4" | "d" | "o" | "l";

/** An order that the transport keeps among records with the same key: in all runs, or at all instances of one run. */
export interface StreamOrder {
  readonly key: readonly string[];
  readonly across: "runs" | "instances";
}

/** What is known of a stream. `seals` is empty unless the label is Seal. */
export interface StreamState {
  readonly label: Label;
  readonly seals: readonly Seal[];
  /** As the receiver sees it: what it can tell by an event id and drop does not count as repeated. */
  readonly delivery: Delivery;
  /** For a component that reads it, `null` if the order does not protect it. */
  readonly order: StreamOrder | null;
  /** A record replaces the one before it with the same values here. */
  readonly changelog: readonly string[] | null;
}

/** What a path meets at its output. */
export interface PathSurroundings {
  /** The path reads state that a stream without a fitting seal still writes: then a seal on its own input protects nothing. */
  readonly exposed: boolean;
  /** The component waits for seals; it does not if another coordination was chosen for it. */
  readonly waits: boolean;
}

export interface Inference {
  readonly rule: Rule;
  /** What the rule adds to the labels of the output; `null` for the rules p and o. */
  readonly adds: Internal | null;
  /** All instances get the records in one order, so what it adds cannot differ between them. */
  readonly shared: boolean;
}

/** What a path makes of its input's label. */
export function infer(
  input: StreamState,
  path: ComponentPath,
  around: PathSurroundings,
  dependencies: Dependencies,
): Inference[] {
  const inferences = [ruleForOrder(input, path, around, dependencies)];
  if (input.delivery === "at-least-once" && repetitionOf(path) === "minds") {
    inferences.push({
      rule: "d",
      adds: isWrite(path.annotation) ? { kind: "Taint" } : { kind: "NDRead", gate: "*" },
      shared: false,
    });
  }
  return inferences;
}

function ruleForOrder(
  { label, seals, order }: StreamState,
  { annotation, gate, batches = false }: ComponentPath,
  { exposed, waits }: PathSurroundings,
  dependencies: Dependencies,
): Inference {
  const preserved: Inference = { rule: "p", adds: null, shared: false };
  if (label === "Inst") {
    return isWrite(annotation) ? { rule: "3", adds: { kind: "Taint" }, shared: false } : preserved;
  }
  if (label === "Diverge" || !isOrderSensitive(annotation)) return preserved;
  const ordered = order !== null;
  if (order?.across === "runs" && label !== "Run" && waits && !batches) return { ...preserved, rule: "o" };
  const sealed = label === "Seal" && waits;
  const fitting = sealed ? seals.filter((seal) => dependencies.compatible(gate, seal)) : [];
  const reads = annotation === "OR";
  if (fitting.some(({ late }) => late !== true) && !(reads && exposed)) return preserved;
  const late = fitting.length > 0;
  // In one order, it comes to keep the same, but how many records an answer is about is chance, at each instance.
  if (ordered && batches) return { rule: late ? "l" : "1", adds: { kind: "NDRead", gate }, shared: false };
  if (reads) return { rule: late ? "l" : "1", adds: { kind: "NDRead", gate }, shared: ordered };
  return { rule: late ? "l" : sealed ? "4" : "2", adds: { kind: "Taint" }, shared: ordered };
}

/**
 * The order of a stream protects the order-sensitive paths that read it if records of one part of their gates have one key,
 * and if no other stream reaches their outputs. A component that has to hold the stream for a seal breaks its order, so it
 * protects all of them or none.
 */
export function isProtectedByOrder(
  key: readonly string[],
  gates: readonly Gate[],
  dependencies: Dependencies,
): boolean {
  return gates.every((gate) => isDetermined(key, gate, dependencies));
}

function isDetermined(key: readonly string[], gate: Gate, dependencies: Dependencies): boolean {
  return key.length === 0 || (gate !== "*" && dependencies.determines(gate, key));
}

/**
 * A path over a changelog whose records can overtake each other is not confluent, whatever it does with single records:
 * which of two records with one key counts depends on which comes last.
 */
export function pathOver(
  { changelog, order }: StreamState,
  path: ComponentPath,
  dependencies: Dependencies,
): ComponentPath {
  if (changelog === null || isOrderSensitive(path.annotation)) return path;
  if (order !== null && order.across === "runs" && dependencies.determines(changelog, order.key)) return path;
  const text = "a record of a changelog replaces the one before it, and the two can overtake each other";
  return {
    ...path,
    annotation: path.annotation === "CW" ? "OW" : "OR",
    gate: changelog,
    why: [...(path.why ?? []), { text }],
  };
}

/** What is left of the input itself on the other side of the path. */
export function passOn(
  input: StreamState,
  path: ComponentPath,
  dependencies: Dependencies,
): Pick<StreamState, "label" | "seals" | "delivery"> {
  const absorbs = repetitionOf(path) === "absorbs";
  return {
    ...labelPassedOn(input, path, dependencies),
    delivery: absorbs ? "exactly-once" : input.delivery,
  };
}

/** An order-sensitive path uses its seal up; a confluent one passes it on if the key survives. */
function labelPassedOn(
  { label, seals }: StreamState,
  { annotation, lineage }: ComponentPath,
  dependencies: Dependencies,
): Pick<StreamState, "label" | "seals"> {
  if (label !== "Seal") return { label, seals: [] };
  if (isOrderSensitive(annotation)) return { label: "Async", seals: [] };
  const left =
    lineage === undefined
      ? seals
      : seals.map((seal) => dependencies.carried(seal, lineage)).filter((seal) => seal !== null);
  return left.length > 0 ? { label, seals: left } : { label: "Async", seals: [] };
}

export function repetitionOf({ repetition, annotation }: ComponentPath): Repetition {
  return repetition ?? (isWrite(annotation) ? "minds" : "passes");
}
