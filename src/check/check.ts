/**
 * Runs what a dataflow is made of, and compares with what the analysis says of it. Confluent paths and streams no worse
 * than Async must come out the same whatever the network does; where it is worse, a run is looked for that shows it.
 */

import type { Analysis, LabelledStream } from "../analysis/analyze.js";
import { isAnomaly } from "../analysis/labels.js";
import { HeadwaterError } from "../errors.js";
import { EachAlone } from "./alone.js";
import { Chance } from "./chance.js";
import { makeInputs } from "./inputs.js";
import type { Run } from "./network.js";
import type { PathViolation } from "./paths.js";
import { type Code, type Plan, planOf } from "./plan.js";
import { type Anomaly, type Evidence, Search } from "./search.js";

const RUNS_PER_SEED = 8;
const RUNS_TO_SHRINK = 24;
/** Weakest first. */
export const ANOMALIES: readonly Anomaly[] = ["Run", "Inst", "Diverge"];

export interface CheckOptions {
  readonly seeds: readonly number[];
  /** What components do, by name. */
  readonly code: Code;
  readonly progress?: (seedsDone: number) => void;
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
  readonly left: Plan["left"];
  /** How many outputs with confluent paths were tried, each component by itself. */
  readonly outputs: number;
  readonly paths: readonly PathViolation[];
  /** Streams that are no worse than Async, and differed: the first on their way. */
  readonly streams: readonly Evidence[];
  /** Streams that agreed in all runs, as they should. */
  readonly agreed: readonly LabelledStream[];
  readonly predicted: readonly Predicted[];
  /** What would become of the outputs without the seals that they rely on. */
  readonly unsealed: readonly Evidence[];
  readonly ok: boolean;
}

export function check(analysis: Analysis, { seeds, code, progress }: CheckOptions): CheckResult {
  if (code.size === 0) {
    throw new HeadwaterError(
      "HW-5007",
      "No component of the dataflow has sql or a module, so there is nothing to run.",
    );
  }
  const plan = planOf(analysis, code);
  const sealed = new Findings(plan, true);
  const sealing = plan.components.some(({ buffered }) => buffered.size > 0);
  const unsealed = sealing ? new Findings(plan, false) : null;
  const alone = new EachAlone(analysis, code);
  const reliant = plan.made.filter(({ stream, label }) => stream.to === null && !isAnomaly(label));
  for (const [done, seed] of seeds.entries()) {
    const runs = plan.components.length > 0 ? sealed.look(seed, plan.made) : [];
    alone.look(seed, runs);
    unsealed?.look(seed, reliant);
    progress?.(done + 1);
  }
  const { violations } = alone;
  const wrong = plan.made.filter(
    ({ stream, label }) => !isAnomaly(label) && sealed.worst(stream.name) !== null,
  );
  const streams = firstOf(analysis, wrong).flatMap(({ stream }) => sealed.worst(stream.name) ?? []);
  return {
    seeds: seeds.length,
    runs: sealed.runs,
    left: plan.left,
    outputs: alone.outputs,
    paths: violations,
    streams,
    agreed: plan.made.filter((each) => !isAnomaly(each.label) && !wrong.includes(each)),
    predicted: plan.made
      .filter(({ label }) => isAnomaly(label))
      .map((stream) => ({ stream, found: sealed.worst(stream.stream.name) })),
    unsealed: reliant.flatMap(({ stream }) => unsealed?.worst(stream.name) ?? []),
    ok: violations.length === 0 && streams.length === 0,
  };
}

/** What has been seen of each stream so far, the first time that it was seen, made small. */
class Findings {
  readonly #plan: Plan;
  readonly #search: Search;
  readonly #found = new Map<string, Map<Anomaly, Evidence>>();
  runs = 0;

  constructor(plan: Plan, sealing: boolean) {
    this.#plan = plan;
    this.#search = new Search(plan, sealing);
  }

  look(seed: number, streams: readonly LabelledStream[]): readonly Run[] {
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
        this.#found.set(stream.name, known.set(kind, this.#search.shrunk(found, RUNS_TO_SHRINK)));
      }
    }
    return runs;
  }

  /** A state may hold what nobody means, such as an order of arrival, unless the component says what counts. */
  #says(component: string | undefined): boolean {
    return this.#plan.components.some(({ name, code }) => name === component && code.view !== undefined);
  }

  worst(stream: string): Evidence | null {
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
