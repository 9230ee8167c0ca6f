/** Figure 9, and what the paper leaves open (DESIGN.md, section 9), one path and one input stream at a time. */

import type { Dependencies } from "./dependencies.js";
import type { Delivery, Path, Repetition, Seal } from "./graph.js";
import { type Internal, isOrderSensitive, isWrite, type Label } from "./labels.js";

/**
 * The rules of figure 9 by their numbers; "p" preserves the input's label; "d" is about duplicates, which the paper
 * does not treat.
 */
export type Rule = "p" | "1" | "2" | "3" | "4" | "d";

/** What is known of a stream. `seals` is empty unless the label is Seal. */
export interface StreamState {
  readonly label: Label;
  readonly seals: readonly Seal[];
  /** As the receiver sees it: what it can tell by an event id and drop does not count as repeated. */
  readonly delivery: Delivery;
}

export interface Inference {
  readonly rule: Rule;
  /** What the rule adds to the labels of the output; `null` for rule p. */
  readonly adds: Internal | null;
}

/**
 * What a path makes of its input's label. `exposed` says that the path reads state that another stream, without a
 * fitting seal, still writes: then a seal on the reader's own input protects nothing.
 */
export function infer(
  input: StreamState,
  path: Path,
  exposed: boolean,
  dependencies: Dependencies,
): Inference[] {
  const inferences: Inference[] = [];
  const order = ruleForOrder(input, path, exposed, dependencies);
  inferences.push(order);
  if (input.delivery === "at-least-once" && repetitionOf(path) === "minds") {
    inferences.push({
      rule: "d",
      adds: isWrite(path.annotation) ? { kind: "Taint" } : { kind: "NDRead", gate: "*" },
    });
  }
  return inferences;
}

function ruleForOrder(
  { label, seals }: StreamState,
  { annotation, gate }: Path,
  exposed: boolean,
  dependencies: Dependencies,
): Inference {
  const preserved: Inference = { rule: "p", adds: null };
  if (label === "Inst") return isWrite(annotation) ? { rule: "3", adds: { kind: "Taint" } } : preserved;
  if (label === "Diverge" || !isOrderSensitive(annotation)) return preserved;
  const sealed = label === "Seal";
  const fits = sealed && seals.some((seal) => dependencies.compatible(gate, seal));
  if (annotation === "OW") {
    if (fits) return preserved;
    return { rule: sealed ? "4" : "2", adds: { kind: "Taint" } };
  }
  // No printed rule is about a seal that does not fit an OR path; it is worth no more than none.
  return fits && !exposed ? preserved : { rule: "1", adds: { kind: "NDRead", gate } };
}

/** What is left of the input itself on the other side of the path. */
export function passOn(input: StreamState, path: Path, dependencies: Dependencies): StreamState {
  const absorbs = repetitionOf(path) === "absorbs";
  return {
    ...labelPassedOn(input, path, dependencies),
    delivery: absorbs ? "exactly-once" : input.delivery,
  };
}

/** An order-sensitive path uses its seal up; a confluent one passes it on if the key survives. */
function labelPassedOn(
  { label, seals }: StreamState,
  { annotation, lineage }: Path,
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

export function repetitionOf({ repetition, annotation }: Path): Repetition {
  return repetition ?? (isWrite(annotation) ? "minds" : "passes");
}
