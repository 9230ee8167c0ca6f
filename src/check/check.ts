/**
 * Runs what a dataflow is made of, and compares with what the analysis says of it. Confluent paths and streams no worse
 * than Async must come out the same whatever the network does; where it is worse, a run is looked for that shows it.
 */

import type { Analysis, LabelledStream } from "../analysis/analyze.js";
import { isAnomaly, severityOf } from "../analysis/labels.js";
import { HeadwaterError } from "../errors.js";
import { EachAlone } from "./alone.js";
import { Chance } from "./chance.js";
import { makeInputs } from "./inputs.js";
import type { NetworkRun } from "./network.js";
import type { PathViolation } from "./paths.js";
import { type CheckPlan, type ComponentCode, planOf } from "./plan.js";
import { type Anomaly, type Evidence, Search } from "./search.js";

const RUNS_PER_SEED = 8;
const RUNS_TO_SHRINK = 24;
/** Weakest first. */
export const ANOMALIES: readonly Anomaly[] = ["Run", "Inst", "Diverge"];

export interface CheckOptions {
  readonly seeds: readonly number[];
  /** What components do, by name. */
  readonly code: ComponentCode;
  readonly progress?: (seedsDone: number) => void;
  /** Leave it at the first run that shows something, instead of looking for the smallest input that does. */
  readonly unshrunk?: boolean;
}

/** A stream that may differ, and the worst that was seen of it. */
export interface Predicted {
  readonly stream: LabelledStream;
  readonly found: Evidence | null;
}

export interface CheckResult {
  readonly seeds: number;
  readonly runs: number;
  /** Nothing can be said about them. */
  readonly left: CheckPlan["left"];
  /** How many outputs with confluent paths were tried, each component by itself. */
  readonly outputs: number;
  readonly paths: readonly PathViolation[];
  /** Streams that differed more than their labels say: the first on their way. */
  readonly streams: readonly Evidence[];
  /** Streams no worse than Async that agreed in all runs, as they should. */
  readonly agreed: readonly LabelledStream[];
  readonly predicted: readonly Predicted[];
  /** What would become of the outputs without the coordination that they rely on. */
  readonly uncoordinated: readonly Evidence[];
  readonly ok: boolean;
}

export function check(
  analysis: Analysis,
  { seeds, code, progress, unshrunk = false }: CheckOptions,
): CheckResult {
  if (code.size === 0) {
    throw new HeadwaterError(
      "HW-5007",
      "No component of the dataflow has sql or a module, so there is nothing to run.",
    );
  }
  const plan = planOf(analysis, code);
  const planned = new Findings(plan, true, unshrunk);
  const relies = plan.components.some(({ coordination }) => coordination.kind !== "none");
  const without = relies ? new Findings(plan, false, unshrunk) : null;
  const alone = new EachAlone(analysis, code);
  const outputs = plan.made.filter(({ stream }) => stream.to === null);
  for (const [done, seed] of seeds.entries()) {
    const runs = plan.components.length > 0 ? planned.look(seed, plan.made) : [];
    alone.look(seed, runs);
    without?.look(seed, outputs);
    progress?.(done + 1);
  }
  const { violations } = alone;
  const wrong = plan.made.filter((each) => planned.worseThan(each) !== null);
  const streams = firstOf(analysis, wrong).flatMap((each) => planned.worseThan(each) ?? []);
  return {
    seeds: seeds.length,
    runs: planned.runs,
    left: plan.left,
    outputs: alone.outputs,
    paths: violations,
    streams,
    agreed: plan.made.filter((each) => !isAnomaly(each.label) && !wrong.includes(each)),
    predicted: plan.made
      .filter((each) => isAnomaly(each.label) && !wrong.includes(each))
      .map((stream) => ({ stream, found: planned.worst(stream.stream.name) })),
    uncoordinated: outputs.flatMap((each) => without?.worseThan(each) ?? []),
    ok: violations.length === 0 && streams.length === 0,
  };
}

/** What has been seen of each stream so far, the first time that it was seen. */
class Findings {
  readonly #plan: CheckPlan;
  readonly #search: Search;
  readonly #found = new Map<string, Map<Anomaly, Evidence>>();
  readonly #shrunk = new Map<Evidence, Evidence>();
  readonly #unshrunk: boolean;
  runs = 0;

  constructor(plan: CheckPlan, coordinated: boolean, unshrunk: boolean) {
    this.#plan = plan;
    this.#unshrunk = unshrunk;
    this.#search = new Search(plan, coordinated);
  }

  look(seed: number, streams: readonly LabelledStream[]): readonly NetworkRun[] {
    const inputs = makeInputs(this.#plan.sources, new Chance(seed));
    const runs = this.#search.runs(inputs, seed, RUNS_PER_SEED);
    this.runs += runs.length;
    for (const { stream, label } of streams) {
      const converges = label === "Diverge" || this.#says(stream.from?.component);
      for (const kind of converges ? ANOMALIES : ANOMALIES.slice(0, -1)) {
        const known = this.#found.get(stream.name) ?? new Map<Anomaly, Evidence>();
        if (known.has(kind)) continue;
        const found = this.#search.evidence(runs, { stream: stream.name, kind }, seed);
        if (found === null) continue;
        this.#found.set(stream.name, known.set(kind, found));
      }
    }
    return runs;
  }

  /**
   * A state may hold more than is meant, such as an order of arrival, unless the component says what counts (`view`); and where one
   * output of a component may diverge, its state says nothing about the others.
   */
  #says(component: string | undefined): boolean {
    const { components, made } = this.#plan;
    if (made.some(({ stream, label }) => stream.from?.component === component && label === "Diverge"))
      return false;
    return components.some(({ name, code }) => name === component && code.view !== undefined);
  }

  /** What was seen of a stream, if its label does not allow it. */
  worseThan({ stream, label }: LabelledStream): Evidence | null {
    const found = this.#worst(stream.name);
    return found !== null && severityOf(found.kind) > severityOf(label) ? this.worst(stream.name) : null;
  }

  /** The worst that was seen of a stream, made small. */
  worst(stream: string): Evidence | null {
    const found = this.#worst(stream);
    if (found === null || this.#unshrunk) return found;
    const shrunk = this.#shrunk.get(found) ?? this.#search.shrunk(found, RUNS_TO_SHRINK);
    this.#shrunk.set(found, shrunk);
    return shrunk;
  }

  #worst(stream: string): Evidence | null {
    const known = this.#found.get(stream);
    return ANOMALIES.map((kind) => known?.get(kind) ?? null).findLast((each) => each !== null) ?? null;
  }
}

/** Whatever comes after a stream that differs differs too, and explains nothing. */
function firstOf({ topology }: Analysis, wrong: readonly LabelledStream[]): LabelledStream[] {
  const names = new Set(wrong.map(({ stream }) => stream.name));
  return wrong.filter(({ stream }) => {
    const { from } = stream;
    const port = from === null ? undefined : topology.output(from.component, from.interface);
    const before = (port?.paths ?? []).flatMap(
      (path) => topology.input(from?.component ?? "", path.from)?.streams ?? [],
    );
    return !before.some(({ name }) => name !== stream.name && names.has(name));
  });
}
