import type { LabelledStream } from "./analyze.js";
import type { Derivation } from "./derivation.js";
import type { Acceptance, Component, Dataflow } from "./graph.js";
import { isAnomaly, type Label, severityOf, showInternal } from "./labels.js";

/**
 * Which streams are lived with. An acceptance covers its own stream, up to the label it names, and the streams that merely
 * hand that label on (rule p). What a rule adds on the way is another finding and needs an acceptance of its own; where the
 * component is ordered, the reason that was written for the order is one, for what an order leaves: `Run`.
 */
export function acceptances(
  streams: readonly LabelledStream[],
  { accepted, components }: Dataflow,
): ReadonlyMap<string, Acceptance> {
  const covers = new Map<string, Acceptance>();
  const byName = new Map(streams.map((each) => [each.stream.name, each]));
  const ordered = new Map(
    components.flatMap((each) => (each.coordination?.kind === "order" ? [[each.name, each] as const] : [])),
  );
  const waiting = new Map<string, { readonly missing: Set<string>; readonly own: Acceptance | null }>();
  const readers = new Map<string, string[]>();
  const ready: string[] = [];
  const cover = (name: string, acceptance: Acceptance) => {
    covers.set(name, acceptance);
    ready.push(name);
  };

  for (const acceptance of accepted) {
    const label = byName.get(acceptance.stream)?.label ?? "Async";
    if (isAnomaly(label) && isCovered(label, acceptance)) cover(acceptance.stream, acceptance);
  }
  const verdicts = new Map<Derivation, Verdict>();
  for (const { stream, label, derivation } of streams) {
    if (!isAnomaly(label) || derivation === null || covers.has(stream.name)) continue;
    const verdict = verdicts.get(derivation) ?? verdictOn(derivation, ordered);
    verdicts.set(derivation, verdict);
    if (verdict.open) continue;
    const own = verdict.by === null ? null : byOrder(stream.name, verdict.by);
    if (verdict.handedOn.length === 0) {
      if (own !== null) cover(stream.name, own);
      continue;
    }
    waiting.set(stream.name, { missing: new Set(verdict.handedOn), own });
    for (const each of verdict.handedOn) readers.set(each, [...(readers.get(each) ?? []), stream.name]);
  }
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    const acceptance = covers.get(name);
    if (acceptance === undefined) continue;
    for (const reader of readers.get(name) ?? []) {
      const left = waiting.get(reader);
      left?.missing.delete(name);
      if (left?.missing.size === 0 && !covers.has(reader)) cover(reader, left.own ?? acceptance);
    }
  }
  return covers;
}

interface Verdict {
  /** A rule has added something that no order accounts for. */
  readonly open: boolean;
  /** The component whose order accounts for what rules have added. */
  readonly by: Component | null;
  /** The streams from which an anomaly comes. */
  readonly handedOn: readonly string[];
}

function verdictOn({ steps, reconciliations }: Derivation, ordered: ReadonlyMap<string, Component>): Verdict {
  // An order does nothing against repetition.
  const repeated = new Set(
    steps.flatMap(({ rule, adds, component }) =>
      rule === "d" && adds !== null ? [`${component} ${showInternal(adds)}`] : [],
    ),
  );
  const found = reconciliations.filter(({ gives }) => gives !== null);
  const open = found.some(
    ({ component, from }) => !ordered.has(component) || repeated.has(`${component} ${showInternal(from)}`),
  );
  const handedOn = steps.filter(({ passes, around }) => isAnomaly(passes) && !around);
  return {
    open,
    by: ordered.get(found[0]?.component ?? "") ?? null,
    handedOn: [...new Set(handedOn.map(({ stream }) => stream))],
  };
}

function byOrder(stream: string, { coordination, position }: Component): Acceptance {
  const at = coordination?.position ?? position;
  return {
    stream,
    label: "Run",
    reason: coordination?.reason ?? "",
    ...(at === undefined ? {} : { position: at }),
  };
}

function isCovered(label: Label, acceptance: Acceptance): boolean {
  return acceptance.label === undefined || severityOf(label) <= severityOf(acceptance.label);
}
