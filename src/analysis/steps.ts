import type { Dependencies } from "./dependencies.js";
import type { Step } from "./derivation.js";
import type { Path } from "./graph.js";
import { infer, passOn, type StreamState } from "./rules.js";

/** A stream that goes through a path of a component. */
export interface Crossing {
  /** `null` for what a cycle feeds back to itself. */
  readonly stream: string | null;
  readonly state: StreamState;
  readonly path: Path;
  readonly component: string;
  readonly exposed: boolean;
}

/** Each rule that applies, and what else is left of the stream behind the path. */
export function stepsOf(crossing: Crossing, dependencies: Dependencies): Step[] {
  const { stream, state, path, component, exposed } = crossing;
  const passed = passOn(state, path, dependencies);
  return infer(state, path, exposed, dependencies).map(({ rule, adds }) => ({
    rule,
    stream,
    label: state.label,
    seals: state.seals,
    component,
    path,
    exposed,
    adds,
    passes: passed.label,
    passesSeals: passed.seals,
    repeats: passed.delivery === "at-least-once",
  }));
}
