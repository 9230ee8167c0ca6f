/** What of a dataflow can be run, and where seals hold records back: read off the analysis. */

import type { Analysis, LabelledStream } from "../analysis/analyze.js";
import { compare } from "../analysis/compare.js";
import { stronglyConnected } from "../analysis/cycles.js";
import { sealName } from "../analysis/dependencies.js";
import type { Gate, Seal, Stream } from "../analysis/graph.js";
import { isOrderSensitive } from "../analysis/labels.js";
import { replicatedComponents } from "../analysis/replication.js";
import type { RunnableComponent } from "./component.js";
import { attributesAt, makerFor, type Source } from "./inputs.js";

const REPLICAS = 2;
/** Where several keys are needed, whoever waits for everything has waited for each of them. */
const ALL: Seal = { key: [], prefix: true };

export type Code = ReadonlyMap<string, RunnableComponent>;

export interface PlannedComponent {
  readonly name: string;
  readonly code: RunnableComponent;
  readonly replicas: number;
  /** Producers before consumers; members of a cycle share one. */
  readonly rank: number;
  /** Streams whose records wait until their partition is complete, in all of them, with the seal that says so. */
  readonly buffered: ReadonlyMap<string, Seal>;
  /**
   * Inputs whose records wait until the partitions of these streams are complete that they are about, as their
   * attributes say; `null` for those that wait for everything, because nobody knows what they are about.
   */
  readonly held: ReadonlyMap<string, readonly string[] | null>;
}

export interface Plan {
  readonly analysis: Analysis;
  readonly components: readonly PlannedComponent[];
  /** How to make records of the streams from outside. */
  readonly sources: ReadonlyMap<string, Source>;
  /** The streams that come from the components that run. */
  readonly made: readonly LabelledStream[];
  /** What cannot be run, and why. */
  readonly left: readonly { readonly component: string; readonly why: string }[];
}

export function planOf(analysis: Analysis, code: Code): Plan {
  const { graph } = analysis.topology;
  const sources = new Map<string, Source>();
  for (const stream of graph.streams.toSorted((a, b) => compare(a.name, b.name))) {
    if (stream.from !== null) continue;
    const make = makerFor(attributesAt(graph, stream), stream.sample, graph.dependencies);
    const sizes = code.get(stream.to?.component ?? "")?.sizes?.(stream.to?.interface ?? "") ?? [];
    if (make !== null) sources.set(stream.name, { make, sizes });
  }
  const { running, left } = whoRuns(analysis, code, sources);
  const ranks = ranksOf(analysis);
  const replicated = replicatedComponents(graph);
  const components = [...running].sort(compare).flatMap((name): PlannedComponent[] => {
    const runs = code.get(name);
    if (runs === undefined) return [];
    const replicas = replicated.has(name) ? REPLICAS : 1;
    return [{ name, code: runs, replicas, rank: ranks.get(name) ?? 0, ...coordination(name, analysis) }];
  });
  const made = [...analysis.streams.values()].filter(
    ({ stream }) => stream.from !== null && running.has(stream.from.component),
  );
  return { analysis, components, sources, made, left };
}

/** Those with code all of whose inputs can be had. */
function whoRuns(analysis: Analysis, code: Code, sources: ReadonlyMap<string, Source>) {
  const { graph } = analysis.topology;
  const left: { component: string; why: string }[] = [];
  const running = new Set<string>();
  for (const { name } of graph.components) {
    if (code.has(name)) running.add(name);
    else left.push({ component: name, why: "nothing says what it runs" });
  }
  const lacking = ({ name, from, to }: Stream) =>
    to !== null &&
    running.has(to.component) &&
    (from === null ? !sources.has(name) : !running.has(from.component));
  for (let stream = graph.streams.find(lacking); stream; stream = graph.streams.find(lacking)) {
    const { name, from, to } = stream;
    const why =
      from === null
        ? `nobody knows the records of ${name}: give it attributes or a sample`
        : `${name} comes from ${from.component}, which does not run`;
    running.delete(to?.component ?? "");
    left.push({ component: to?.component ?? "", why });
  }
  return { running, left };
}

function ranksOf({ topology }: Analysis): ReadonlyMap<string, number> {
  const names = topology.graph.components.map(({ name }) => name);
  const places = new Map(names.map((name, i) => [name, i]));
  const after = names.map((): number[] => []);
  for (const { from, to } of topology.graph.streams) {
    if (from === null || to === null) continue;
    const [start, end] = [places.get(from.component), places.get(to.component)];
    if (start !== undefined && end !== undefined) after[start]?.push(end);
  }
  const groups = stronglyConnected(names.length, (node) => after[node] ?? []).toReversed();
  return new Map(groups.flatMap((group, rank) => group.map((node) => [names[node] ?? "", rank] as const)));
}

/** Section V.B.1, wherever the analysis counted on a seal. Inside a cycle it never does. */
function coordination(component: string, analysis: Analysis): Pick<PlannedComponent, "buffered" | "held"> {
  const { topology, streams, dependencies } = analysis;
  const buffered = new Map<string, Seal>();
  const held = new Map<string, readonly string[] | null>();
  const { components } = topology.graph;
  if (components.some(({ name, coordination: wish }) => name === component && wish?.kind === "none"))
    return { buffered, held };
  const buffer = (name: string, gate: Gate) => {
    const seal = streams.get(name)?.seals.find((each) => dependencies.compatible(gate, each));
    if (seal !== undefined)
      buffered.set(name, sealName(buffered.get(name) ?? seal) === sealName(seal) ? seal : ALL);
  };
  for (const port of topology.interfaces) {
    if (port.side !== "output" || port.component.name !== component) continue;
    const derivation = streams.get(port.streams[0]?.name ?? "")?.derivation;
    if (derivation === undefined || derivation === null || derivation.cycle) continue;
    const waits = derivation.steps.filter(
      ({ rule, label, path }) => rule === "p" && label === "Seal" && isOrderSensitive(path.annotation),
    );
    for (const { stream, path } of waits) if (stream !== null) buffer(stream, path.gate);
    // A confluent input may meet what is sealed: in a left join, it is its rows that must not come too early.
    const others = derivation.steps.filter(({ stream }) => !waits.some((each) => each.stream === stream));
    if (waits.length > 0) for (const { path } of others) held.set(path.from, null);
    for (const { from, protectedBy } of derivation.reconciliations) {
      if (protectedBy === null || from.kind !== "NDRead") continue;
      for (const name of protectedBy) buffer(name, from.gate);
      for (const { adds, path } of derivation.steps) {
        if (adds?.kind === "NDRead") held.set(path.from, protectedBy);
      }
    }
  }
  const keys = new Set([...buffered.values()].map(sealName));
  if (keys.size > 1) for (const name of buffered.keys()) buffered.set(name, ALL);
  return { buffered, held };
}
