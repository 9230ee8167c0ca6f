/** Looks for what section III.A calls anomalies: runs, or replicas in one run, that do not agree on a stream. */

import type { Topology } from "../analysis/topology.js";
import { Chance } from "./chance.js";
import type { DataRecord } from "./component.js";
import type { Bulk, RunInputs } from "./inputs.js";
import type { Act, Instance } from "./instance.js";
import { type NetworkRun, runOnce } from "./network.js";
import type { CheckPlan } from "./plan.js";
import { canonical } from "./records.js";
import { shrink } from "./shrink.js";

export type Anomaly = "Run" | "Inst" | "Diverge";

/** One of the two that do not agree. */
export interface DifferingSide {
  readonly name: string;
  /** The instances that took part, and what each got in which order: only instances that differ from the other side. */
  readonly instances: readonly { readonly name: string; readonly acts: readonly Act[] }[];
  /** The contents of the stream, or the state of the replica. */
  readonly result: readonly DataRecord[] | { readonly state: unknown };
}

export interface Evidence {
  readonly stream: string;
  readonly kind: Anomaly;
  readonly seed: number;
  readonly inputs: RunInputs;
  readonly sides: readonly [DifferingSide, DifferingSide];
}

export interface Question {
  readonly stream: string;
  readonly kind: Anomaly;
}

export class Search {
  readonly #plan: CheckPlan;
  readonly #coordinated: boolean;
  readonly #before = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

  constructor(plan: CheckPlan, coordinated: boolean) {
    this.#plan = plan;
    this.#coordinated = coordinated;
  }

  /** Several runs of the same inputs. */
  runs(inputs: RunInputs, seed: number, count: number): NetworkRun[] {
    return Array.from({ length: count }, (_, i) =>
      runOnce(this.#plan, inputs, new Chance(seed, i), this.#coordinated),
    );
  }

  /** The pair that takes the fewest words to show; `null` if all agree. */
  evidence(runs: readonly NetworkRun[], { stream, kind }: Question, seed: number): Evidence | null {
    let best: Evidence | null = null;
    let length = Number.POSITIVE_INFINITY;
    for (const sides of kind === "Run" ? this.#acrossRuns(runs, stream) : this.#inRuns(runs, stream, kind)) {
      const words = sides.flatMap(({ instances }) => instances.flatMap(({ acts }) => acts)).length;
      if (words >= length) continue;
      length = words;
      best = { stream, kind, seed, inputs: runs[0]?.inputs ?? new Map(), sides };
    }
    return best;
  }

  shrunk(found: Evidence, count: number): Evidence {
    const all = [...found.inputs].flatMap(([name, records]) => records.map((bulk) => ({ name, ...bulk })));
    return shrink(all, found, (fewer) => {
      const inputs = new Map([...found.inputs.keys()].map((name): [string, Bulk[]] => [name, []]));
      for (const { name, ...bulk } of fewer) inputs.get(name)?.push(bulk);
      return this.evidence(this.runs(inputs, found.seed, count), found, found.seed);
    });
  }

  *#acrossRuns(
    runs: readonly NetworkRun[],
    stream: string,
  ): Generator<readonly [DifferingSide, DifferingSide]> {
    for (const [i, one] of runs.entries()) {
      for (const other of runs.slice(i + 1)) {
        for (const [replica, contents] of one.contents.get(stream)?.entries() ?? []) {
          const others = other.contents.get(stream)?.[replica];
          if (others === undefined || contents.equals(others)) continue;
          const [a, b] = differing(this.#upstream(one, stream), this.#upstream(other, stream));
          yield [
            { name: "one run", instances: a, result: contents.records },
            { name: "another run", instances: b, result: others.records },
          ];
        }
      }
    }
  }

  *#inRuns(
    runs: readonly NetworkRun[],
    stream: string,
    kind: "Inst" | "Diverge",
  ): Generator<readonly [DifferingSide, DifferingSide]> {
    const producer = this.#plan.analysis.topology.stream(stream)?.from?.component ?? "";
    for (const run of runs) {
      const replicas = run.instances.filter(({ component }) => component.name === producer);
      const [first, ...rest] = replicas.map((instance) => {
        const state = kind === "Diverge" ? { state: instance.view() } : null;
        const result = state ?? run.contents.get(stream)?.[instance.replica]?.records ?? [];
        const near = this.#upstream(run, stream).filter(
          ({ instance: { component, replica } }) => component.replicas > 1 && replica === instance.replica,
        );
        return { result, near, name: `${producer}, replica ${instance.replica + 1}` };
      });
      for (const other of rest) {
        if (first === undefined || canonical(first.result) === canonical(other.result)) continue;
        const [a, b] = differing(first.near, other.near);
        yield [
          { name: first.name, instances: a, result: first.result },
          { name: other.name, instances: b, result: other.result },
        ];
      }
    }
  }

  /** Each instance with what it did that could matter to the stream. */
  #upstream(run: NetworkRun, stream: string): Involved[] {
    let places = this.#before.get(stream);
    if (places === undefined)
      this.#before.set(stream, (places = inputsBefore(this.#plan.analysis.topology, stream)));
    const known = places;
    return run.instances.flatMap((instance) => {
      const inputs = known.get(instance.component.name);
      if (inputs === undefined) return [];
      return [{ instance, acts: instance.acts.filter((act) => "answers" in act || inputs.has(act.input)) }];
    });
  }
}

interface Involved {
  readonly instance: Instance;
  readonly acts: readonly Act[];
}

/** The inputs from which paths lead to a stream, by component. */
function inputsBefore({ input, output, stream }: Topology, name: string): Map<string, Set<string>> {
  const before = new Map<string, Set<string>>();
  const walked = new Set([name]);
  // A set that grows while it is walked is its own worklist.
  for (const each of walked) {
    const from = stream(each)?.from ?? null;
    if (from === null) continue;
    const inputs = before.get(from.component) ?? new Set();
    before.set(from.component, inputs);
    for (const path of output(from.component, from.interface)?.paths ?? []) {
      inputs.add(path.from);
      for (const { name: earlier } of input(from.component, path.from)?.streams ?? []) walked.add(earlier);
    }
  }
  return before;
}

/** Instances that got the same in the same order on both sides explain nothing. */
function differing(
  one: readonly Involved[],
  other: readonly Involved[],
): [DifferingSide["instances"], DifferingSide["instances"]] {
  const pairs = one.flatMap((each, i) => {
    const twin = other[i];
    return twin === undefined || canonical(each.acts) === canonical(twin.acts) ? [] : [{ each, twin }];
  });
  const shown = ({ instance: { component, replica }, acts }: Involved) => ({
    name: component.replicas > 1 ? `${component.name}, replica ${replica + 1}` : component.name,
    acts,
  });
  return [pairs.map(({ each }) => shown(each)), pairs.map(({ twin }) => shown(twin))];
}
