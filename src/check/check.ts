/**
 * Tries whether annotations are true: every component that can be run is given the same records in many orders, and what
 * comes out is compared. Where the analysis promises one outcome, another one is an error. Where it warns of several, a
 * run that shows them is looked for, with the coordination off.
 */

import {
  type Analysis,
  type Choice,
  type Component,
  isAnomaly,
  type Label,
  planCoordination,
  severityOf,
} from "../analysis/index.js";
import { Random } from "../sim/random.js";
import type { CheckedComponent } from "./component.js";
import { held, sealedInputs } from "./deliveries.js";
import { type Difference, findDifference } from "./search.js";

export interface Checked {
  readonly component: string;
  /** The worst label that the component's own faults give its outputs. */
  readonly label: Label;
  readonly coordination: Choice["coordination"]["kind"];
  /**
   * `kept`: one outcome was promised, and there was one. `broken`: there were two. `shown`: several were to be expected,
   * and here they are. `hidden`: several were to be expected, and none was found. `skipped`: it cannot be run.
   */
  readonly result: "kept" | "broken" | "shown" | "hidden" | "skipped";
  readonly difference: Difference | null;
}

export async function check(
  analysis: Analysis,
  runnable: (component: Component) => Promise<CheckedComponent | null>,
  seed: number,
): Promise<Checked[]> {
  const plan = planCoordination(analysis);
  const results: Checked[] = [];
  for (const choice of plan.values()) {
    const component = analysis.topology.graph.components.find(({ name }) => name === choice.component);
    if (component === undefined) continue;
    const label = ownLabel(component, analysis);
    const about = { component: component.name, label, coordination: choice.coordination.kind };
    const running = await runnable(component);
    if (running === null) {
      results.push({ ...about, result: "skipped", difference: null });
      continue;
    }
    const sealed = sealedInputs(
      choice.coordination,
      (stream) => analysis.topology.stream(stream)?.to?.interface,
    );
    const trial = {
      component: running,
      coordinate: (delivery: Parameters<typeof held>[0]) =>
        sealed.size === 0 ? delivery : held(delivery, sealed),
      mayRepeat: indifferentInputs(component),
    };
    const difference = findDifference(trial, new Random(seed));
    const promised = !isAnomaly(label);
    const result = difference === null ? (promised ? "kept" : "hidden") : promised ? "broken" : "shown";
    results.push({ ...about, result, difference });
  }
  return results;
}

/** What the component itself adds. A Taint by rule 3 comes from replicas before it that disagree, and is not its fault. */
function ownLabel(component: Component, { topology, streams }: Analysis): Label {
  let worst: Label = "Async";
  for (const { to } of component.paths) {
    for (const { name } of topology.output(component.name, to)?.streams ?? []) {
      const { steps = [], reconciliations = [] } = streams.get(name)?.derivation ?? {};
      for (const { from, gives } of reconciliations) {
        const own = steps.some(({ adds, rule }) => adds?.kind === from.kind && rule !== "3");
        if (own && gives !== null && severityOf(gives) > severityOf(worst)) worst = gives;
      }
    }
  }
  return worst;
}

/** Inputs whose every path claims that a repeated record changes nothing but the number of its outputs. */
function indifferentInputs({ paths }: Component): ReadonlySet<string> {
  const minds = ({ repetition, annotation }: Component["paths"][number]) =>
    repetition === "minds" || (repetition === undefined && annotation.endsWith("W"));
  const minding = new Set(paths.filter(minds).map(({ from }) => from));
  return new Set(paths.map(({ from }) => from).filter((from) => !minding.has(from)));
}
