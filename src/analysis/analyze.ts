/**
 * The analysis (section V.A): every output interface gets a label, in the order of the dataflow, each interface once.
 * The paper enumerates paths between sources and sinks; a label depends only on the labels before it, so one walk in
 * topological order gives the same, and its cost is that of the graph.
 */

import { acceptances } from "./accept.js";
import { unsealable } from "./circular.js";
import { compare } from "./compare.js";
import { deriveCycle } from "./cycle.js";
import { stronglyConnected } from "./cycles.js";
import { Dependencies } from "./dependencies.js";
import type { Derivation } from "./derivation.js";
import type { Acceptance, Dataflow, Delivery, Seal, Stream } from "./graph.js";
import { isAnomaly, type Label, severityOf } from "./labels.js";
import { merge } from "./reconcile.js";
import { replicatedComponents } from "./replication.js";
import type { StreamOrder, StreamState } from "./rules.js";
import { deriveInterface, type Setting } from "./steps.js";
import { type Interface, type Topology, topologyOf } from "./topology.js";

export interface LabelledStream {
  readonly stream: Stream;
  readonly label: Label;
  readonly seals: readonly Seal[];
  readonly rep: boolean;
  readonly delivery: Delivery;
  /** It leads from a cycle back into it, so no seal holds for what it brings. */
  readonly around: boolean;
  /** What would wait for its seals is what it is made from, so nothing does. */
  readonly circular: boolean;
  /** `null` for a stream from outside. */
  readonly derivation: Derivation | null;
  /** Why this label is lived with, if it is: by its own acceptance or by that of the stream it was handed on from. */
  readonly accepted: Acceptance | null;
}

export interface Analysis {
  readonly topology: Topology;
  readonly dependencies: Dependencies;
  /** By name, sorted: nothing depends on the order in which a graph was written down. */
  readonly streams: ReadonlyMap<string, LabelledStream>;
  /** The streams that leave the dataflow. */
  readonly outputs: readonly LabelledStream[];
  /** Worse than Async, and not accepted. */
  readonly open: readonly LabelledStream[];
}

export function analyze(graph: Dataflow): Analysis {
  const topology = topologyOf(graph);
  const dependencies = new Dependencies(graph.dependencies);
  const replicated = replicatedComponents(graph);
  const states = new Map<string, StreamState>();
  const derivations = new Map<number, Derivation>();
  const around = new Set<string>();
  const circular = unsealable(topology);

  for (const stream of graph.streams) {
    if (stream.from === null) states.set(stream.name, ofStream(stream, null, dependencies));
  }
  for (const group of inOrder(topology)) {
    const outputs = group.filter(({ side }) => side === "output");
    if (outputs.length === 0) continue;
    const [only] = outputs;
    const rep = outputs.some(({ component }) => replicated.has(component.name));
    const setting: Setting = { topology, dependencies, states, rep, circular };
    const isCycle = group.length > 1;
    const derivation =
      isCycle || only === undefined ? deriveCycle(group, setting) : deriveOutput(only, setting);
    const inside = new Set(isCycle ? group.map(({ id }) => id) : []);
    for (const { id, streams } of outputs) {
      derivations.set(id, derivation);
      for (const stream of streams) {
        const { to } = stream;
        const back = to !== null && inside.has(topology.input(to.component, to.interface)?.id ?? -1);
        if (back) around.add(stream.name);
        // What comes round again is not sealed, whatever its producer says of what it sends for the first time.
        states.set(stream.name, ofStream(back ? { ...stream, seals: [] } : stream, derivation, dependencies));
      }
    }
  }
  return result(topology, dependencies, replicated, { states, derivations, around, circular });
}

/** Interfaces in the order of the dataflow; those of a cycle together. */
function inOrder({ interfaces, input, output }: Topology): Interface[][] {
  const successors = (node: number): number[] => {
    const here = interfaces[node];
    if (here === undefined) return [];
    const after =
      here.side === "input"
        ? here.paths.map(({ to }) => output(here.component.name, to))
        : here.streams.map(({ to }) => (to === null ? undefined : input(to.component, to.interface)));
    return after.flatMap((each) => each?.id ?? []);
  };
  const groups = stronglyConnected(interfaces.length, successors);
  return groups.toReversed().map((group) => group.flatMap((node) => interfaces[node] ?? []));
}

/** What arrives over a stream: what its producer makes, and what the stream itself promises. */
function ofStream(stream: Stream, made: Derivation | null, dependencies: Dependencies): StreamState {
  const { attributes, seals: declared, id } = stream;
  const delivery = stream.delivery ?? made?.delivery ?? "exactly-once";
  const state = {
    delivery: id === undefined ? delivery : ("exactly-once" as const),
    order: orderOf(stream),
    changelog: stream.changelog ?? null,
  };
  const label = made?.label ?? "Async";
  if (severityOf(label) > severityOf("Async")) return { ...state, label, seals: [] };
  const handedOn = made?.seals ?? [];
  const left =
    attributes === undefined
      ? handedOn
      : handedOn.map((seal) => dependencies.projected(seal, attributes)).filter((seal) => seal !== null);
  const seals = [...left, ...declared];
  return { ...state, label: seals.length > 0 ? "Seal" : "Async", seals };
}

/** In which order a component sends may differ from run to run; what comes from outside has the order that it has. */
function orderOf({ from, ordered, singleWriter }: Stream): StreamOrder | null {
  const key = singleWriter === true ? [] : ordered;
  return key === undefined ? null : { key, across: from === null ? "runs" : "instances" };
}

function deriveOutput(port: Interface, setting: Setting): Derivation {
  const { steps, reconciliations } = deriveInterface(port, setting, new Map());
  return {
    components: [port.component.name],
    interface: port.name,
    cycle: false,
    rep: setting.rep,
    steps,
    reconciliations,
    ...merge(steps, reconciliations),
    delivery: steps.some(({ repeats }) => repeats) ? "at-least-once" : "exactly-once",
  };
}

/** What is known of streams by name, and of interfaces by number, when all have been derived. */
interface Derived {
  readonly states: ReadonlyMap<string, StreamState>;
  readonly derivations: ReadonlyMap<number, Derivation>;
  /** The streams that lead from a cycle back into it. */
  readonly around: ReadonlySet<string>;
  readonly circular: ReadonlySet<string>;
}

function result(
  topology: Topology,
  dependencies: Dependencies,
  replicated: ReadonlySet<string>,
  { states, derivations, around, circular }: Derived,
): Analysis {
  const derivationOf = ({ from }: Stream) => {
    const port = from === null ? undefined : topology.output(from.component, from.interface);
    return port === undefined ? null : (derivations.get(port.id) ?? null);
  };
  const byName = topology.graph.streams.toSorted((a, b) => compare(a.name, b.name));
  const unjudged = byName.map((stream): LabelledStream => {
    const state = states.get(stream.name) ?? ofStream(stream, null, dependencies);
    const produced = stream.from !== null && replicated.has(stream.from.component);
    return {
      stream,
      label: state.label,
      seals: state.seals,
      rep: stream.rep ?? produced,
      delivery: state.delivery,
      around: around.has(stream.name),
      circular: circular.has(stream.name),
      derivation: derivationOf(stream),
      accepted: null,
    };
  });
  const accepted = acceptances(unjudged, topology.graph);
  const streams = unjudged.map((each) => ({ ...each, accepted: accepted.get(each.stream.name) ?? null }));
  return {
    topology,
    dependencies,
    streams: new Map(streams.map((each) => [each.stream.name, each])),
    outputs: streams.filter(({ stream }) => stream.to === null),
    open: streams.filter(({ label, accepted }) => isAnomaly(label) && accepted === null),
  };
}
