import type { Component, Dataflow } from "./graph.js";

/**
 * Which components have several instances that are given the same input. "A replicated stream connects a producer
 * […] to more than one consumer component instance" (section IV.A.2), so a component that reads one is replicated too, unless
 * the file says that it is not. This is how the paper's caches come by their divergence: only Report is marked.
 */
export function replicatedComponents(graph: Dataflow): ReadonlySet<string> {
  const components = new Map(graph.components.map((component) => [component.name, component]));
  const readers = new Map<string, string[]>();
  const replicated = new Set<string>();
  const mark = (component: Component | undefined) => {
    if (component !== undefined && component.rep !== false) replicated.add(component.name);
  };

  for (const component of graph.components) if (component.rep === true) mark(component);
  for (const { from, to, rep } of graph.streams) {
    if (to === null || rep === false) continue;
    if (rep === true) mark(components.get(to.component));
    else if (from !== null) {
      const list = readers.get(from.component);
      if (list === undefined) readers.set(from.component, [to.component]);
      else list.push(to.component);
    }
  }
  // A set that grows while it is walked is its own worklist.
  for (const name of replicated) for (const reader of readers.get(name) ?? []) mark(components.get(reader));
  return replicated;
}
