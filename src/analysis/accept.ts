import type { LabelledStream } from "./analyze.js";
import type { Acceptance } from "./graph.js";
import { isAnomaly, type Label, severityOf } from "./labels.js";

/**
 * Which streams are lived with. An acceptance covers its own stream, up to the label it names, and whoever merely
 * hands that label on (rule p). Whatever a rule adds on the way is another finding and needs its own.
 */
export function acceptances(
  streams: readonly LabelledStream[],
  declared: readonly Acceptance[],
): ReadonlyMap<string, Acceptance> {
  const covers = new Map<string, Acceptance>();
  const byName = new Map(streams.map((each) => [each.stream.name, each]));
  const waiting = new Map<string, Set<string>>();
  const readers = new Map<string, string[]>();
  const ready: string[] = [];

  for (const acceptance of declared) {
    const label = byName.get(acceptance.stream)?.label ?? "Async";
    if (!isAnomaly(label) || !isCovered(label, acceptance)) continue;
    covers.set(acceptance.stream, acceptance);
    ready.push(acceptance.stream);
  }
  for (const { stream, label, derivation } of streams) {
    if (!isAnomaly(label) || derivation === null || covers.has(stream.name)) continue;
    const { steps, reconciliations } = derivation;
    if (reconciliations.some(({ gives }) => gives !== null)) continue;
    const handedOn = steps.filter(({ passes }) => isAnomaly(passes)).map((step) => step.stream ?? "");
    waiting.set(stream.name, new Set(handedOn));
    for (const each of new Set(handedOn)) {
      const list = readers.get(each);
      if (list === undefined) readers.set(each, [stream.name]);
      else list.push(stream.name);
    }
  }
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    const acceptance = covers.get(name);
    if (acceptance === undefined) continue;
    for (const reader of readers.get(name) ?? []) {
      const left = waiting.get(reader);
      left?.delete(name);
      if (left?.size !== 0 || covers.has(reader)) continue;
      covers.set(reader, acceptance);
      ready.push(reader);
    }
  }
  return covers;
}

function isCovered(label: Label, acceptance: Acceptance): boolean {
  return acceptance.label === undefined || severityOf(label) <= severityOf(acceptance.label);
}
