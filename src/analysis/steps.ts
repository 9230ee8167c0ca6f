/** One output interface: the streams that reach it, path by path, and what the rules make of them. */

import type { Dependencies } from "./dependencies.js";
import type { DerivationStep, Reconciliation } from "./derivation.js";
import type { Component, ComponentPath } from "./graph.js";
import { better, isOrderSensitive, isWrite } from "./labels.js";
import { isSealedFor, reconcile } from "./reconcile.js";
import { infer, isProtectedByOrder, passOn, pathOver, type StreamState } from "./rules.js";
import type { Interface, Topology } from "./topology.js";

/** A stream that goes through a path of a component. */
interface Crossing {
  readonly stream: string;
  readonly state: StreamState;
  readonly around: boolean;
  /** The stream has got worse since. */
  readonly earlier: boolean;
  readonly path: ComponentPath;
}

/** What an output depends on besides its inputs. */
export interface Setting {
  readonly topology: Topology;
  readonly dependencies: Dependencies;
  readonly states: ReadonlyMap<string, StreamState>;
  /** Whether a component has several instances. */
  readonly rep: boolean;
  /** The streams whose seals would be waited for in a circle. */
  readonly circular: ReadonlySet<string>;
}

/**
 * `returning` has the streams that are part of the same cycle as the output, with what was known of them from round to round.
 * A rule that has added something in an earlier round still counts: it is why the label is what it is now.
 */
export function deriveInterface(
  port: Interface,
  { topology, dependencies, states, rep, circular }: Setting,
  returning: ReadonlyMap<string, readonly StreamState[]>,
): { steps: DerivationStep[]; reconciliations: Reconciliation[] } {
  const { name: component, coordination } = port.component;
  const crossings = port.paths.flatMap((path) =>
    (topology.input(component, path.from)?.streams ?? []).flatMap(({ name }): Crossing[] => {
      const back = returning.get(name);
      const state = states.get(name);
      const known = state !== undefined && circular.has(name) ? withoutSeals(state) : state;
      const rounds = back ?? (known === undefined ? [] : [known]);
      return rounds.map((found, i) => ({
        stream: name,
        state: withOrder(found, port.component, path.from, topology, dependencies),
        around: back !== undefined,
        earlier: i + 1 < rounds.length,
        path: pathOver(found, path, dependencies),
      }));
    }),
  );
  const waits = coordination === undefined || coordination.kind === "seal";
  const ordered = coordination?.kind === "order";
  const writers = crossings.filter(({ path }) => isWrite(path.annotation));
  const exposures = new Map<ComponentPath, boolean>();
  const isExposed = (path: ComponentPath): boolean => {
    if (path.annotation !== "OR" || writers.length === 0) return false;
    const known = exposures.get(path);
    if (known !== undefined) return known;
    const found = !waits || writers.some(({ state }) => !isSealedFor(path.gate, state, dependencies));
    exposures.set(path, found);
    return found;
  };
  const steps = crossings.flatMap(({ stream, state, around, earlier, path }): DerivationStep[] => {
    const passed = passOn(state, path, dependencies);
    const exposed = isExposed(path);
    const inferences = infer(state, path, { exposed, waits }, dependencies);
    const counted = earlier ? inferences.filter(({ adds }) => adds !== null) : inferences;
    return counted.map(({ rule, adds, shared }) => ({
      rule,
      stream,
      around,
      label: state.label,
      seals: state.seals,
      component,
      path,
      exposed,
      adds,
      shared,
      // All instances of an ordered component get the same records, also where their producers disagree (figure 5, M2).
      passes: ordered ? better(passed.label, "Run") : passed.label,
      passesSeals: passed.seals,
      repeats: passed.delivery === "at-least-once",
    }));
  });
  return { steps, reconciliations: reconcile(steps, { component, rep, waits, ordered }, dependencies) };
}

function withoutSeals(state: StreamState): StreamState {
  return state.label === "Seal" ? { ...state, label: "Async", seals: [] } : state;
}

/** The state with its order, if that protects all of the component's order-sensitive paths that read the stream. */
function withOrder(
  state: StreamState,
  { name, paths }: Component,
  input: string,
  topology: Topology,
  dependencies: Dependencies,
): StreamState {
  if (state.order === null) return state;
  const own = paths.filter(({ from }) => from === input);
  const outputs = new Set(own.map(({ to }) => to));
  const alone =
    topology.input(name, input)?.streams.length === 1 &&
    paths.every(
      ({ from, to }) =>
        from === input || !outputs.has(to) || (topology.input(name, from)?.streams.length ?? 0) === 0,
    );
  const gates = own
    .map((path) => pathOver(state, path, dependencies))
    .filter(({ annotation }) => isOrderSensitive(annotation))
    .map(({ gate }) => gate);
  return alone && isProtectedByOrder(state.order.key, gates, dependencies)
    ? state
    : { ...state, order: null };
}
