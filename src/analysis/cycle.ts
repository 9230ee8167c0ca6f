/**
 * A cycle gets one label, that of its worst member (section V.A): each output in it is derived as any other, with the
 * cycle's own label on the streams that come back, until that label no longer changes. It only gets worse, and there are
 * five labels, so this ends.
 *
 * The paper applies the worst annotation to what enters, seals included. But a record that comes round again arrives after
 * the seal of what entered, so no stream of a cycle is sealed, and an order-sensitive member that reads one is not protected
 * by seals outside. A cycle of confluent members, such as caches that tell each other, stays confluent.
 */

import { compare } from "./compare.js";
import type { Derivation } from "./derivation.js";
import type { Stream } from "./graph.js";
import { push } from "./grouped.js";
import type { Label } from "./labels.js";
import { merge } from "./reconcile.js";
import type { StreamState } from "./rules.js";
import { deriveInterface, type Setting } from "./steps.js";
import type { Interface } from "./topology.js";

export function deriveCycle(group: readonly Interface[], setting: Setting): Derivation {
  const outputs = group.filter(({ side }) => side === "output");
  const inputs = new Set(group.flatMap(({ id, side }) => (side === "input" ? [id] : [])));
  const { input } = setting.topology;
  const inside = outputs.flatMap(({ streams }) =>
    streams.filter(({ to }) => to !== null && inputs.has(input(to.component, to.interface)?.id ?? -1)),
  );
  const sorted = outputs.toSorted(
    (a, b) => compare(a.component.name, b.component.name) || compare(a.name, b.name),
  );
  const enters = sorted.some(({ component, paths }) =>
    paths.some(({ from }) =>
      (input(component.name, from)?.streams ?? []).some(({ name }) => setting.states.has(name)),
    ),
  );
  const returning = new Map<string, StreamState[]>();
  let label: Label = "Async";
  let repeats = false;
  for (;;) {
    const round: Round = { label, delivery: repeats ? "at-least-once" : "exactly-once" };
    if (enters) for (const stream of inside) push(returning, stream.name, comingBack(stream, round));
    const derived = sorted.map((port) => deriveInterface(port, setting, returning));
    const steps = derived.flatMap((each) => each.steps);
    const reconciliations = derived.flatMap((each) => each.reconciliations);
    const merged = merge(steps, reconciliations).label;
    const next: Label = merged === "Seal" ? "Async" : merged;
    const nowRepeats = steps.some((step) => step.repeats);
    if (next === label && nowRepeats === repeats) {
      return {
        components: [...new Set(sorted.map(({ component }) => component.name))],
        interface: [...new Set(sorted.map(({ name }) => name))].sort(compare).join(", "),
        cycle: true,
        rep: setting.rep,
        steps,
        reconciliations,
        label,
        seals: [],
        delivery: round.delivery,
      };
    }
    label = next;
    repeats = nowRepeats;
  }
}

/** What is known of the whole cycle so far. */
type Round = Pick<StreamState, "label" | "delivery">;

/** What comes back carries no seal, and keeps no order. */
function comingBack({ id, delivery, changelog }: Stream, round: Round): StreamState {
  const delivered = id === undefined ? (delivery ?? round.delivery) : "exactly-once";
  return {
    label: round.label,
    seals: [],
    delivery: delivered,
    order: null,
    changelog: changelog ?? null,
  };
}
