/** Figure 10: internal labels become labels of the output, and then the worst one counts. */

import type { Dependencies } from "./dependencies.js";
import { sealName } from "./dependencies.js";
import type { DerivationStep, Reconciliation } from "./derivation.js";
import type { Gate, Seal } from "./graph.js";
import { type Internal, isWrite, type Label, showInternal, worse } from "./labels.js";

/**
 * `protected` ranges over the streams that a read meets, which are the streams that write what it reads. Read literally,
 * over every label of the interface, the paper's own CAMPAIGN could not pass: its requests are not sealed. A read that
 * meets no writer races with its own input.
 */
export function reconcile(
  steps: readonly DerivationStep[],
  about: Reconciled,
  dependencies: Dependencies,
): Reconciliation[] {
  const reconciliations = new Map<string, Reconciliation>();
  for (const { adds } of steps) {
    if (adds === null || reconciliations.has(showInternal(adds))) continue;
    reconciliations.set(showInternal(adds), reconciled(adds, steps, about, dependencies));
  }
  return [...reconciliations.values()];
}

/** The component whose labels are reconciled. */
interface Reconciled {
  readonly component: string;
  readonly rep: boolean;
  /** It waits for seals. */
  readonly waits: boolean;
  /** All its instances get all their input in one order (figure 5, M2), so they cannot disagree; runs still can. */
  readonly ordered: boolean;
}

function reconciled(
  from: Internal,
  steps: readonly DerivationStep[],
  { component, rep, waits, ordered }: Reconciled,
  dependencies: Dependencies,
): Reconciliation {
  const own = steps.filter(({ adds }) => adds !== null && showInternal(adds) === showInternal(from));
  const differs = rep && !ordered && !own.every(({ shared }) => shared);
  if (from.kind === "Taint") {
    return { component, from, protectedBy: null, exposedTo: [], gives: differs ? "Diverge" : "Run" };
  }
  const writers = steps.filter(({ path }) => isWrite(path.annotation));
  const open = writers.filter((step) => !waits || !isSealedFor(from.gate, step, dependencies));
  if (writers.length > 0 && open.length === 0) {
    return { component, from, protectedBy: namesOf(writers), exposedTo: [], gives: null };
  }
  return {
    component,
    from,
    protectedBy: null,
    exposedTo: namesOf(writers.length > 0 ? open : own),
    gives: differs ? "Inst" : "Run",
  };
}

export function isSealedFor(
  gate: Gate,
  { label, seals }: { readonly label: Label; readonly seals: readonly Seal[] },
  dependencies: Dependencies,
): boolean {
  return label === "Seal" && seals.some((seal) => seal.late !== true && dependencies.compatible(gate, seal));
}

/** The label of highest severity. A seal holds for the whole output only if every part of it has that seal. */
export function merge(
  steps: readonly DerivationStep[],
  reconciliations: readonly Reconciliation[],
): { label: Label; seals: readonly Seal[] } {
  let label: Label = steps.length === 0 ? "Async" : "Seal";
  for (const { passes } of steps) label = worse(label, passes);
  for (const { gives } of reconciliations) if (gives !== null) label = worse(label, gives);
  if (label !== "Seal") return { label, seals: [] };
  const [first, ...rest] = steps;
  let seals = first?.passesSeals ?? [];
  for (const { passesSeals } of rest) {
    const names = new Set(passesSeals.map(sealName));
    seals = seals.filter((seal) => names.has(sealName(seal)));
  }
  return seals.length > 0 ? { label, seals } : { label: "Async", seals: [] };
}

function namesOf(steps: readonly DerivationStep[]): string[] {
  return [...new Set(steps.map(({ stream }) => stream))].sort();
}
