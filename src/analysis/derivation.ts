/** How a label came about: kept for every output interface, printed and drawn by others. */

import type { Delivery, Path, Seal } from "./graph.js";
import type { Internal, Label } from "./labels.js";
import type { Rule } from "./rules.js";

/** One rule applied to one input stream and one path: a line above a line in the paper's notation. */
export interface Step {
  readonly rule: Rule;
  /** The stream that came in; `null` for what a cycle feeds back to itself. */
  readonly stream: string | null;
  readonly label: Label;
  readonly seals: readonly Seal[];
  readonly component: string;
  /** In a cycle, the collapsed one. */
  readonly path: Path;
  /** The path reads what a stream without a fitting seal still writes. */
  readonly exposed: boolean;
  /** The internal label that the rule adds; `null` for rule p. */
  readonly adds: Internal | null;
  /** What is left of the input's own label behind the path. */
  readonly passes: Label;
  readonly passesSeals: readonly Seal[];
  /** Records may come more than once behind the path. */
  readonly repeats: boolean;
}

/** Figure 10: what an internal label became. */
export interface Reconciliation {
  readonly from: Internal;
  /** The streams that the read meets, if all of them are sealed on fitting keys. */
  readonly protectedBy: readonly string[] | null;
  /** Those that are not. Empty for a Taint. */
  readonly exposedTo: readonly string[];
  /** `null` when it is protected. */
  readonly gives: Label | null;
}

export interface Derivation {
  /** The component, or all members of a cycle, sorted. */
  readonly components: readonly string[];
  readonly interface: string;
  /** The interfaces of a cycle have one derivation together. */
  readonly cycle: boolean;
  readonly rep: boolean;
  readonly steps: readonly Step[];
  readonly reconciliations: readonly Reconciliation[];
  readonly label: Label;
  readonly seals: readonly Seal[];
  readonly delivery: Delivery;
}
