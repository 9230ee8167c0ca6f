import type { Analysis } from "../analysis/analyze.js";
import type { Component } from "../analysis/graph.js";
import { Chance } from "./chance.js";
import type { DataRecord } from "./component.js";
import { attributesAt, type MakeRecord, makerFor, typesAt } from "./inputs.js";
import type { NetworkRun } from "./network.js";
import { checkedOutputs, checkPaths, type PathViolation, type Subject } from "./paths.js";
import type { ComponentCode } from "./plan.js";
import { canonical } from "./records.js";

/** Each component by itself, with records like its records in the dataflow, or like the records that its query takes. */
export class EachAlone {
  readonly #analysis: Analysis;
  readonly #code: ComponentCode;
  readonly #found = new Map<string, PathViolation>();
  readonly #tried = new Set<string>();

  constructor(analysis: Analysis, code: ComponentCode) {
    this.#analysis = analysis;
    this.#code = code;
  }

  /** How many outputs with confluent paths were tried. */
  get outputs(): number {
    return this.#tried.size;
  }

  get violations(): PathViolation[] {
    return [...this.#found.values()];
  }

  look(seed: number, runs: readonly NetworkRun[]): void {
    const seen = recordsIn(runs);
    for (const [i, component] of this.#analysis.topology.graph.components.entries()) {
      const code = this.#code.get(component.name);
      if (code === undefined) continue;
      const isModule = component.runs === undefined || "module" in component.runs;
      const subject: Subject = { component, code, isModule, makers: this.#makers(component, seen) };
      for (const to of checkedOutputs(subject)) {
        const place = `${component.name}.${to}`;
        this.#tried.add(place);
        if (this.#found.has(place)) continue;
        const found = checkPaths(subject, to, seed, new Chance(seed, i));
        if (found !== null) this.#found.set(place, found);
      }
    }
  }

  #makers({ name, paths }: Component, seen: ReadonlyMap<string, readonly DataRecord[]>) {
    const { topology } = this.#analysis;
    const { graph } = topology;
    const makers = new Map<string, MakeRecord>();
    for (const input of new Set(paths.map(({ from }) => from))) {
      const streams = topology.input(name, input)?.streams ?? [];
      const attributes = streams.map((stream) => attributesAt(graph, stream)).find((each) => each !== null);
      const sample = streams.find((stream) => stream.sample !== undefined)?.sample;
      const types = Object.assign({}, ...streams.map((stream) => typesAt(graph, stream)));
      const make = makerFor(
        attributes ?? null,
        types,
        seen.get(`${name}.${input}`) ?? sample,
        graph.dependencies,
      );
      if (make !== null) makers.set(input, make);
    }
    return makers;
  }
}

function recordsIn(runs: readonly NetworkRun[]): ReadonlyMap<string, readonly DataRecord[]> {
  const seen = new Map<string, Map<string, DataRecord>>();
  for (const { component, acts } of runs.flatMap(({ instances }) => instances)) {
    for (const act of acts) {
      if ("answers" in act) continue;
      const place = `${component.name}.${act.input}`;
      const records = seen.get(place) ?? new Map<string, DataRecord>();
      seen.set(place, records.set(canonical(act.record), act.record));
    }
  }
  return new Map([...seen].map(([place, records]) => [place, [...records.values()]]));
}
