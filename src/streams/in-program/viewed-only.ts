import type { GraphEngine } from "../graph/index.js";

/**
 * The streams whose rows lead to views only. It cannot be observed in which rounds such rows went through the queries: a view has no
 * numbered results, and what it holds depends on the rows and their order alone, as long as no row is ever taken back on the way to
 * it and no event time decides which rows are late. So tables and streams with an event time are not among them.
 */
export function viewedOnly({ nodes }: GraphEngine): ReadonlySet<string> {
  const leadsToViews = (name: string): boolean =>
    nodes
      .readersOf(name)
      .every(
        ({ definition, isAppendOnly }) =>
          definition.kind === "view" &&
          leadsToViews(definition.name) &&
          (isAppendOnly || nodes.readersOf(definition.name).length === 0),
      );
  const found = nodes.sources.filter(
    ({ definition: { kind, time, name } }) => kind === "stream" && time === null && leadsToViews(name),
  );
  return new Set(found.map(({ definition }) => definition.name));
}
