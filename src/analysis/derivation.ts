/** How a label came about: kept for every output interface, printed and drawn by others. */

import type { ComponentPath, Delivery, Seal } from "./graph.js";
import type { Internal, Label } from "./labels.js";
import type { Rule } from "./rules.js";

/** One rule applied to one input stream and one path: a line above a line in the paper's notation. */
export interface DerivationStep {
  readonly rule: Rule;
  readonly stream: string;
  /** The stream is part of the cycle: what it brings has been here before. */
  readonly around: boolean;
  readonly label: Label;
  readonly seals: readonly Seal[];
  readonly component: string;
  /** With the annotation that it has over this stream, which a changelog makes worse. */
  readonly path: ComponentPath;
  /** The path reads what a stream without a fitting seal still writes. */
  readonly exposed: boolean;
  /** The internal label that the rule adds; `null` for the rules p and o. */
  readonly adds: Internal | null;
  /** All instances get the records of the stream in one order. */
  readonly shared: boolean;
  /** What is left of the input's own label behind the path. */
  readonly passes: Label;
  readonly passesSeals: readonly Seal[];
  /** Records may come more than once behind the path. */
  readonly repeats: boolean;
}

/** Figure 10: what an internal label became. */
export interface Reconciliation {
  readonly component: string;
  readonly from: Internal;
  /** The streams that the read meets, if all of them are sealed on fitting keys. */
  readonly protectedBy: readonly string[] | null;
  /** The other attributes. Empty for a Taint. */
  readonly exposedTo: readonly string[];
  /** `null` when it is protected. */
  readonly gives: Label | null;
}

export interface Derivation {
  /** The component, or all members of a cycle, sorted. */
  readonly components: readonly string[];
  readonly interface: string;
  /** The interfaces of a cycle have one derivation together, with the steps of all of them. */
  readonly cycle: boolean;
  readonly rep: boolean;
  readonly steps: readonly DerivationStep[];
  readonly reconciliations: readonly Reconciliation[];
  readonly label: Label;
  readonly seals: readonly Seal[];
  readonly delivery: Delivery;
}
