/** Looks for what section III.A calls anomalies: runs, or replicas in one run, that do not agree on a stream. */

import type { Graph } from "../graph.js";
import { Chance } from "./chance.js";
import type { DataRecord } from "./component.js";
import type { Inputs } from "./inputs.js";
import type { Act, Instance } from "./instance.js";
import { type Run, runOnce } from "./network.js";
import type { Plan } from "./plan.js";
import { canonical } from "./records.js";
import { shrink } from "./shrink.js";

export type Anomaly = "Run" | "Inst" | "Diverge";

/** One of the two that do not agree. */
export interface Side {
  readonly name: string;
  /** Who took part, and what each got in which order: only those that differ from the other side. */
  readonly instances: readonly { readonly name: string; readonly acts: readonly Act[] }[];
  /** The contents of the stream, or the state of the replica. */
  readonly result: readonly DataRecord[] | { readonly state: unknown };
}

export interface Evidence {
  readonly stream: string;
  readonly kind: Anomaly;
  readonly seed: number;
  readonly inputs: Inputs;
  readonly sides: readonly [Side, Side];
}

export interface Question {
  readonly stream: string;
  readonly kind: Anomaly;
}

export class Search {
  readonly #plan: Plan;
  readonly #sealing: boolean;
  readonly #before = new Map<string, ReadonlySet<string>>();

  constructor(plan: Plan, sealing: boolean) {
    this.#plan = plan;
    this.#sealing = sealing;
  }

  /** Several runs of the same inputs. */
  runs(inputs: Inputs, seed: number, count: number): Run[] {
    return Array.from({ length: count }, (_, i) =>
      runOnce(this.#plan, inputs, new Chance(seed, i), this.#sealing),
    );
  }

  /** The pair that takes the fewest words to show; `null` if all agree. */
  evidence(runs: readonly Run[], { stream, kind }: Question, seed: number): Evidence | null {
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
    const all = [...found.inputs].flatMap(([name, records]) => records.map((record) => ({ name, record })));
    return shrink(all, found, (fewer) => {
      const inputs = new Map([...found.inputs.keys()].map((name): [string, DataRecord[]] => [name, []]));
      for (const { name, record } of fewer) inputs.get(name)?.push(record);
      return this.evidence(this.runs(inputs, found.seed, count), found, found.seed);
    });
  }

  *#acrossRuns(runs: readonly Run[], stream: string): Generator<readonly [Side, Side]> {
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

  *#inRuns(runs: readonly Run[], stream: string, kind: "Inst" | "Diverge"): Generator<readonly [Side, Side]> {
    const producer = this.#plan.analysis.topology.stream(stream)?.from?.component ?? "";
    for (const run of runs) {
      const replicas = run.instances.filter(({ component }) => component.name === producer);
      const [first, ...rest] = replicas.map((instance) => {
        const state = kind === "Diverge" ? { state: instance.view() } : null;
        const result = state ?? run.contents.get(stream)?.[instance.replica]?.records ?? [];
        const near = this.#upstream(run, stream).filter(
          ({ component, replica }) => component.replicas > 1 && replica === instance.replica,
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

  #upstream(run: Run, stream: string): Instance[] {
    const { graph, stream: find } = this.#plan.analysis.topology;
    let names = this.#before.get(stream);
    if (names === undefined) {
      names = componentsBefore(graph, find(stream)?.from?.component ?? "");
      this.#before.set(stream, names);
    }
    const known = names;
    return run.instances.filter(({ component }) => known.has(component.name));
  }
}

function componentsBefore({ streams }: Graph, component: string): ReadonlySet<string> {
  const found = new Set([component]);
  // A set that grows while it is walked is its own worklist.
  for (const name of found) {
    for (const { from, to } of streams) {
      if (to?.component === name && from !== null) found.add(from.component);
    }
  }
  return found;
}

/** Instances that got the same in the same order on both sides explain nothing. */
function differing(one: readonly Instance[], other: readonly Instance[]): [Side["instances"], Side["instances"]] {
  const pairs = one.flatMap((instance, i) => {
    const twin = other[i];
    return twin === undefined || canonical(instance.acts) === canonical(twin.acts) ? [] : [{ instance, twin }];
  });
  const shown = ({ component, replica, acts }: Instance) => ({
    name: component.replicas > 1 ? `${component.name}, replica ${replica + 1}` : component.name,
    acts,
  });
  return [pairs.map(({ instance }) => shown(instance)), pairs.map(({ twin }) => shown(twin))];
}
