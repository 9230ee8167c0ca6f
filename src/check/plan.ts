/** What of a dataflow can be run, and with which coordination: that which the analysis says is in force. */

import type { Analysis, LabelledStream } from "../analysis/analyze.js";
import { compare } from "../analysis/compare.js";
import { stronglyConnected } from "../analysis/cycles.js";
import type { Stream } from "../analysis/graph.js";
import { type Coordination, planCoordination } from "../analysis/plan.js";
import { replicatedComponents } from "../analysis/replication.js";
import type { RunnableComponent } from "./component.js";
import { attributesAt, makerFor, type RecordSource, typesAt } from "./inputs.js";

const REPLICAS = 2;

export type ComponentCode = ReadonlyMap<string, RunnableComponent>;

export interface PlannedComponent {
  readonly name: string;
  readonly code: RunnableComponent;
  readonly replicas: number;
  /** Producers before consumers; members of a cycle share one. */
  readonly rank: number;
  readonly coordination: Coordination;
}

export interface CheckPlan {
  readonly analysis: Analysis;
  readonly components: readonly PlannedComponent[];
  /** How to make records of the streams from outside. */
  readonly sources: ReadonlyMap<string, RecordSource>;
  /** The streams that come from the components that run. */
  readonly made: readonly LabelledStream[];
  /** What cannot be run, and why. */
  readonly left: readonly { readonly component: string; readonly why: string }[];
}

export function planOf(analysis: Analysis, code: ComponentCode): CheckPlan {
  const { graph } = analysis.topology;
  const sources = new Map<string, RecordSource>();
  for (const stream of graph.streams.toSorted((a, b) => compare(a.name, b.name))) {
    if (stream.from !== null) continue;
    const make = makerFor(
      attributesAt(graph, stream),
      typesAt(graph, stream),
      stream.sample,
      graph.dependencies,
    );
    const sizes = code.get(stream.to?.component ?? "")?.sizes?.(stream.to?.interface ?? "") ?? [];
    if (make !== null) sources.set(stream.name, { make, sizes });
  }
  const { running, left } = whoRuns(analysis, code, sources);
  const ranks = ranksOf(analysis);
  const replicated = replicatedComponents(graph);
  const choices = planCoordination(analysis);
  const components = [...running].sort(compare).flatMap((name): PlannedComponent[] => {
    const [runs, choice] = [code.get(name), choices.get(name)];
    if (runs === undefined || choice === undefined) return [];
    const replicas = replicated.has(name) ? REPLICAS : 1;
    return [{ name, code: runs, replicas, rank: ranks.get(name) ?? 0, coordination: choice.inForce }];
  });
  const made = [...analysis.streams.values()].filter(
    ({ stream }) => stream.from !== null && running.has(stream.from.component),
  );
  return { analysis, components, sources, made, left };
}

/** Those with code all of whose inputs can be had. */
function whoRuns(analysis: Analysis, code: ComponentCode, sources: ReadonlyMap<string, RecordSource>) {
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
        ? `the records of ${name} are unknown: give it attributes or a sample`
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
