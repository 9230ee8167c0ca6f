/**
 * Seals that nothing can wait for. A component that holds a stream until a partition of another one is complete does nothing
 * with its records until then. If the other stream is made from those records, by this component or further on, its seal
 * never comes: the two wait for each other. Such a seal protects nothing, neither in the label nor in the plan.
 */

import { stronglyConnected } from "./cycles.js";
import type { ComponentPath, Stream } from "./graph.js";
import { isOrderSensitive, isWrite } from "./labels.js";
import type { Interface, Topology } from "./topology.js";

/** The streams whose seals would be waited for in a circle, by name. */
export function unsealable(topology: Topology): ReadonlySet<string> {
  const { streams } = topology.graph;
  const places = new Map(streams.map(({ name }, i) => [name, i]));
  const outputs = topology.interfaces.filter(({ side }) => side === "output");
  const waits = outputs.flatMap((port) => waitsAt(port, topology));
  const needs = streams.flatMap((stream) => sourcesOf(stream, topology).map((from) => ({ stream, from })));
  const after = streams.map((): number[] => []);
  const at = (stream: Stream) => places.get(stream.name) ?? 0;
  for (const { waiting, until } of waits) after[at(waiting)]?.push(at(until));
  for (const { stream, from } of needs) after[at(stream)]?.push(at(from));
  const groups = stronglyConnected(streams.length, (node) => after[node] ?? []);
  const groupOf = new Map(groups.flatMap((group, i) => group.map((node) => [node, i] as const)));
  const together = (a: Stream, b: Stream) => groupOf.get(at(a)) === groupOf.get(at(b));
  // Streams that only wait for each other are held as one; it takes one that is made from another.
  const circles = new Set(
    needs.flatMap(({ stream, from }) => (together(stream, from) ? [groupOf.get(at(stream))] : [])),
  );
  const stuck = waits.filter(
    ({ waiting, until }) => together(waiting, until) && circles.has(groupOf.get(at(until))),
  );
  return new Set(stuck.map(({ until }) => until.name));
}

interface Wait {
  readonly waiting: Stream;
  readonly until: Stream;
}

/** Which stream may have to wait for which at an output, if all have seals that fit. */
function waitsAt({ component, paths }: Interface, topology: Topology): Wait[] {
  const { coordination, name } = component;
  if (coordination !== undefined && coordination.kind !== "seal") return [];
  const arriving = (path: ComponentPath) => topology.input(name, path.from)?.streams ?? [];
  const writers = paths.filter(({ annotation }) => isWrite(annotation));
  // A read waits for what is written; what reaches the same output waits for what is held there.
  return paths
    .filter(({ annotation }) => isOrderSensitive(annotation))
    .flatMap((path) => {
      const reads = path.annotation === "OR" && writers.length > 0;
      const pairs = reads ? writers.map((writer) => [path, writer]) : paths.map((other) => [other, path]);
      return pairs.flatMap(([own, barrier]) => {
        if (own === undefined || barrier === undefined || !mayMeet(own, barrier)) return [];
        return arriving(own).flatMap((waiting) =>
          arriving(barrier).flatMap((until) => (waiting === until ? [] : [{ waiting, until }])),
        );
      });
    });
}

function mayMeet({ meets }: ComponentPath, { from }: ComponentPath): boolean {
  return meets === undefined || meets.some(({ input }) => input === from);
}

/** The streams that a component makes this one from. */
function sourcesOf({ from }: Stream, topology: Topology): Stream[] {
  if (from === null) return [];
  const paths = topology.output(from.component, from.interface)?.paths ?? [];
  return paths.flatMap((path) => topology.input(from.component, path.from)?.streams ?? []);
}
