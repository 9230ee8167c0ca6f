/**
 * Runs what a dataflow is made of, and compares with what the analysis says of it. Confluent paths and streams no worse
 * than Async must come out the same whatever the network does; where it is worse, a run is looked for that shows it.
 */

import { HeadwaterError } from "../../errors.js";
import type { Analysis, LabelledStream } from "../analyze.js";
import { isAnomaly } from "../labels.js";
import { Chance } from "./chance.js";
import type { DataRecord } from "./component.js";
import { attributesAt, type MakeRecord, makeInputs, makerFor } from "./inputs.js";
import type { Run } from "./network.js";
import { checkedOutputs, checkPaths, type PathViolation, type Subject } from "./paths.js";
import { type Code, type Plan, planOf } from "./plan.js";
import { canonical } from "./records.js";
import { type Anomaly, type Evidence, Search } from "./search.js";

const RUNS_PER_SEED = 8;
const RUNS_TO_SHRINK = 24;
const OBSERVED_MAX = 40;
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
      "HW-5004",
      "No component of the dataflow has sql or a module, so there is nothing to run.",
    );
  }
  const plan = planOf(analysis, code);
  const sealed = new Findings(plan, true);
  const sealing = plan.components.some(({ buffered }) => buffered.size > 0);
  const unsealed = sealing ? new Findings(plan, false) : null;
  const observed = new Map<string, Map<string, DataRecord>>();
  const reliant = plan.made.filter(({ stream, label }) => stream.to === null && !isAnomaly(label));
  for (const [done, seed] of seeds.entries()) {
    const runs = plan.components.length > 0 ? sealed.look(seed, plan.made) : [];
    observe(runs, observed);
    unsealed?.look(seed, reliant);
    progress?.(done + 1);
  }
  const { outputs, violations } = checkAllPaths(analysis, code, seeds, observed);
  const wrong = plan.made.filter(({ stream, label }) => !isAnomaly(label) && sealed.worst(stream.name) !== null);
  const streams = firstOf(analysis, wrong).flatMap(({ stream }) => sealed.worst(stream.name) ?? []);
  return {
    seeds: seeds.length,
    runs: sealed.runs,
    left: plan.left,
    outputs,
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
    const inputs = makeInputs(this.#plan.makers, new Chance(seed));
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

function observe(runs: readonly Run[], observed: Map<string, Map<string, DataRecord>>): void {
  for (const { component, acts } of runs.flatMap(({ instances }) => instances)) {
    for (const act of acts) {
      if (act === "answers") continue;
      const place = `${component.name}.${act.input}`;
      const seen = observed.get(place) ?? new Map<string, DataRecord>();
      if (seen.size < OBSERVED_MAX) observed.set(place, seen.set(canonical(act.record), act.record));
    }
  }
}

/** Each component by itself, with records like those that it got in the dataflow, or like those that its query takes. */
function checkAllPaths(
  analysis: Analysis,
  code: Code,
  seeds: readonly number[],
  observed: ReadonlyMap<string, ReadonlyMap<string, DataRecord>>,
): { outputs: number; violations: PathViolation[] } {
  const { topology } = analysis;
  const violations: PathViolation[] = [];
  let outputs = 0;
  for (const component of topology.graph.components) {
    const runs = code.get(component.name);
    if (runs === undefined) continue;
    const makers = new Map<string, MakeRecord>();
    for (const input of new Set(component.paths.map(({ from }) => from))) {
      const sample = [...(observed.get(`${component.name}.${input}`)?.values() ?? [])];
      const streams = topology.input(component.name, input)?.streams ?? [];
      const attributes = streams.map((stream) => attributesAt(topology.graph, stream)).find((each) => each !== null);
      const declared = streams.find((stream) => stream.sample !== undefined)?.sample;
      const make = makerFor(
        attributes ?? null,
        sample.length > 0 ? sample : declared,
        topology.graph.dependencies,
      );
      if (make !== null) makers.set(input, make);
    }
    const isModule = component.runs === undefined || "module" in component.runs;
    const subject: Subject = { component, code: runs, isModule, makers };
    for (const to of checkedOutputs(subject)) {
      outputs++;
      for (const seed of seeds) {
        const found = checkPaths(subject, to, seed, new Chance(seed, outputs));
        if (found === null) continue;
        violations.push(found);
        break;
      }
    }
  }
  return { outputs, violations };
}
