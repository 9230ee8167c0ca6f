/**
 * A cycle becomes one component with the annotation of its worst member (section V.A). Two things are stricter than
 * the paper's words: a seal must fit every order-sensitive member, not only the worst, and what comes out is fed in
 * again until nothing changes, because a replicated read and a confluent write in one cycle do diverge. A cycle of
 * confluent members, such as caches that tell each other, stays confluent; only seals do not pass it, since a record
 * may still be under way around it.
 */

import { compare, pathName } from "./compare.js";
import type { Dependencies } from "./dependencies.js";
import type { Derivation, Step } from "./derivation.js";
import type { AnnotationKind, Path, Repetition } from "./graph.js";
import { isOrderSensitive, isWrite, type Label } from "./labels.js";
import { isSealedFor, merge, reconcile } from "./reconcile.js";
import { repetitionOf, type StreamState } from "./rules.js";
import { stepsOf } from "./steps.js";
import type { Interface, Topology } from "./topology.js";

/** What enters a cycle: a stream into a member, or a path of a member that begins outside. */
interface Entry {
  readonly stream: string;
  readonly state: StreamState;
  readonly path: Path | null;
  readonly component: string;
}

export function deriveCycle(
  group: readonly Interface[],
  topology: Topology,
  replicated: ReadonlySet<string>,
  states: ReadonlyMap<string, StreamState>,
  dependencies: Dependencies,
): Derivation {
  const { inside, entries } = membersOf(group, topology, states);
  const components = [...new Set(group.map(({ component }) => component.name))].sort(compare);
  const outputs = group.filter(({ side }) => side === "output").map(({ name }) => name);
  const rep = components.some((name) => replicated.has(name));
  const collapsed = collapse(inside);
  const sensitive = orderSensitive(inside);
  const writes = inside.some(({ annotation }) => isWrite(annotation));
  const repeats = entries.some(({ state }) => state.delivery === "at-least-once");
  const delivery = repeats ? "at-least-once" : "exactly-once";
  const steps: Step[] = [];

  const take = (
    stream: string | null,
    state: StreamState,
    path: Path,
    component: string,
    exposed: boolean,
  ) => {
    for (const step of stepsOf({ stream, state, path, component, exposed }, dependencies)) {
      steps.push({ ...step, passes: step.passes === "Seal" ? "Async" : step.passes, passesSeals: [] });
    }
  };
  for (const { stream, state, path, component } of entries) {
    if (path !== null) {
      take(stream, state, path, component, writes);
      continue;
    }
    const unfit =
      state.label === "Seal"
        ? sensitive.find(({ gate }) => !isSealedFor(gate, state, dependencies))
        : undefined;
    for (const each of unfit === undefined ? collapsed : replaced(collapsed, unfit)) {
      take(stream, state, each, component, false);
    }
  }

  const goesRound = entries.some(({ path }) => path !== null);
  const around: Step[] = [];
  let before: Label | null = goesRound ? null : "Async";
  for (;;) {
    const reconciliations = reconcile([...steps, ...around], rep, dependencies);
    const { label } = merge([...steps, ...around], reconciliations);
    if (label === before) {
      const name = [...new Set(outputs)].sort(compare).join(", ");
      const all = [...steps, ...around.filter(({ adds }) => adds !== null)];
      return {
        components,
        interface: name,
        cycle: true,
        rep,
        steps: all,
        reconciliations,
        label,
        seals: [],
        delivery,
      };
    }
    before = label;
    const state: StreamState = { label, seals: [], delivery };
    for (const path of collapsed) {
      const crossing = { stream: null, state, path, component: components.join(", "), exposed: false };
      around.push(...stepsOf(crossing, dependencies));
    }
  }
}

function membersOf(
  group: readonly Interface[],
  { input, output }: Topology,
  states: ReadonlyMap<string, StreamState>,
): { inside: Path[]; entries: Entry[] } {
  const members = new Set(group.map(({ id }) => id));
  const inside: Path[] = [];
  const entries: Entry[] = [];
  const enter = (port: Interface, path: Path | null) => {
    for (const { name } of port.streams) {
      const state = states.get(name); // those inside the cycle have none yet
      if (state !== undefined) entries.push({ stream: name, state, path, component: port.component.name });
    }
  };
  for (const port of group) {
    if (port.side === "input") {
      enter(port, null);
      inside.push(...port.paths.filter(({ to }) => members.has(output(port.component.name, to)?.id ?? -1)));
    } else {
      for (const path of port.paths) {
        const from = input(port.component.name, path.from);
        if (from !== undefined && !members.has(from.id)) enter(from, path);
      }
    }
  }
  entries.sort(
    (a, b) =>
      compare(a.stream, b.stream) ||
      compare(a.path === null ? "" : pathName(a.path), b.path === null ? "" : pathName(b.path)),
  );
  return { inside, entries };
}

/** The worst annotation, and beside an `OR` the `CW` that its inconsistent reads would be written by. */
function collapse(paths: readonly Path[]): Path[] {
  const has = (kind: AnnotationKind) => paths.some(({ annotation }) => annotation === kind);
  const kinds: AnnotationKind[] = has("OW")
    ? ["OW"]
    : has("OR")
      ? has("CW")
        ? ["OR", "CW"]
        : ["OR"]
      : [has("CW") ? "CW" : "CR"];
  const repetition: Repetition = paths.some((path) => repetitionOf(path) === "minds") ? "minds" : "passes";
  const sensitive = orderSensitive(paths);
  return kinds.map((annotation) => {
    const gate = sensitive.find((path) => path.annotation === annotation)?.gate ?? "*";
    return { from: "…", to: "…", annotation, gate, repetition };
  });
}

/** The order-sensitive paths, one for each gate, in an order that does not depend on the file. */
function orderSensitive(paths: readonly Path[]): Path[] {
  const distinct = new Map<string, Path>();
  for (const path of paths) {
    const known = distinct.get(nameOf(path));
    const first = known === undefined || compare(pathName(path), pathName(known)) < 0;
    if (isOrderSensitive(path.annotation) && first) distinct.set(nameOf(path), path);
  }
  return [...distinct.entries()].sort(([a], [b]) => compare(a, b)).map(([, path]) => path);
}

function nameOf({ annotation, gate }: Path): string {
  return JSON.stringify([annotation, gate === "*" ? "*" : [...gate].sort(compare)]);
}

function replaced(collapsed: readonly Path[], by: Path): Path[] {
  return [by, ...collapsed.filter(({ annotation }) => annotation !== by.annotation)];
}
