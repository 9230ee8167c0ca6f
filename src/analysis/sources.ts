import type { Analysis } from "./analyze.js";
import type { Lineage, Seal } from "./graph.js";
import { isOrderSensitive } from "./labels.js";

/** Advice must stay cheap on large graphs; who has more than this upstream is told to seal the stream itself. */
const STREAMS_VISITED_MAX = 64;

/**
 * The streams from outside whose seals would arrive at these streams: followed backwards through confluent paths that
 * keep the key. `null` if something on the way does not, or if that is unknown.
 */
export function sourcesOf(streams: readonly string[], seal: Seal, analysis: Analysis): string[] | null {
  const sources = new Set<string>();
  const visited = new Set<string>();
  const work = streams.map((name) => ({ name, key: seal.key }));
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (visited.has(next.name)) continue;
    visited.add(next.name);
    if (visited.size > STREAMS_VISITED_MAX) return null;
    const labelled = analysis.streams.get(next.name);
    if (labelled === undefined) return null;
    const { stream, derivation } = labelled;
    const { key } = next;
    if (stream.attributes !== undefined && !key.every((each) => stream.attributes?.includes(each)))
      return null;
    if (derivation === null) {
      sources.add(stream.name);
      continue;
    }
    if (derivation.cycle) return null;
    for (const { stream: input, path } of derivation.steps) {
      const before = isOrderSensitive(path.annotation) ? null : backwards(key, path.lineage);
      if (before === null) return null;
      work.push({ name: input, key: before });
    }
  }
  return [...sources].sort();
}

/** The streams that say of themselves that they repeat records, and that these streams have it from. */
export function repeatersOf(streams: readonly string[], analysis: Analysis): string[] {
  const repeaters = new Set<string>();
  const visited = new Set(streams);
  for (const name of visited) {
    if (visited.size > STREAMS_VISITED_MAX) return [...streams];
    const labelled = analysis.streams.get(name);
    if (labelled?.delivery !== "at-least-once") continue;
    if (labelled.stream.delivery !== undefined) repeaters.add(name);
    else for (const { stream } of labelled.derivation?.steps ?? []) visited.add(stream);
  }
  return [...repeaters].sort();
}

function backwards(
  key: readonly string[],
  lineage: readonly Lineage[] | undefined,
): readonly string[] | null {
  if (lineage === undefined) return key;
  const before = key.map(
    (attribute) => lineage.find(({ to, injective }) => injective && to === attribute)?.from,
  );
  return before.every((from) => from !== undefined) ? before.flat() : null;
}
