/**
 * Where a component waits for seals (section V.B.1), read off the derivations of its outputs, so that it waits exactly
 * where its labels count on it:
 *
 * - A stream into an order-sensitive path is held until its partition is complete. Where several such streams meet, a
 *   partition is processed when it is complete in all of them.
 * - A stream into another path to the same output meets what is held, so its records wait for the partition that they
 *   meet: in `r LEFT JOIN s`, a row of r that comes before its match would be answered too early.
 * - A read (`OR`) waits for the partitions of the streams that write what it reads.
 * - Held streams that wait for each other, directly or through others, would wait for ever. A partition of them is processed
 *   when it is complete in all of them, in an order that does not depend on arrival.
 */

import type { Analysis } from "./analyze.js";
import { compare } from "./compare.js";
import { stronglyConnected } from "./cycles.js";
import { sealName } from "./dependencies.js";
import type { Derivation, DerivationStep } from "./derivation.js";
import type { ComponentPath, Gate, Seal } from "./graph.js";
import { grouped } from "./grouped.js";
import { isOrderSensitive, isWrite } from "./labels.js";
import type { Interface } from "./topology.js";

export interface SealedStream {
  readonly name: string;
  /** `null`: until the whole stream is complete, because no single seal of it suffices. */
  readonly seal: Seal | null;
  /** Streams in which the same partition must be complete too. Their keys correspond attribute by attribute. */
  readonly with: readonly string[];
  /** All producers must have sealed a partition; without a vote, there is only one. */
  readonly vote: boolean;
}

export interface Hold {
  readonly name: string;
  /** The sealed stream whose partition a record waits for. */
  readonly until: string;
  /**
   * The attributes of a record that name the partition, in the order of the seal's key. A record waits for all partitions if
   * it has not all of them, or if this is `null`.
   */
  readonly by: readonly string[] | null;
}

export interface Sealing {
  readonly streams: readonly SealedStream[];
  readonly holds: readonly Hold[];
  /** The first path for which seals do not suffice, and the stream that lacks one. */
  readonly unmet: { readonly path: ComponentPath; readonly stream: string } | null;
}

/** The steps of a derivation by the output that they belong to; a cycle has those of many. */
export class StepsByOutput {
  readonly #analysis: Analysis;
  readonly #known = new Map<Derivation, ReadonlyMap<string, DerivationStep[]>>();

  constructor(analysis: Analysis) {
    this.#analysis = analysis;
  }

  at({ component, name, streams }: Interface): readonly DerivationStep[] {
    const derivation = this.#analysis.streams.get(streams[0]?.name ?? "")?.derivation;
    if (derivation === undefined || derivation === null) return [];
    const place = (of: string, to: string) => JSON.stringify([of, to]);
    const steps =
      this.#known.get(derivation) ?? grouped(derivation.steps, (step) => place(step.component, step.path.to));
    this.#known.set(derivation, steps);
    // Repetition has nothing to do with order, and its rule repeats a step.
    return (steps.get(place(component.name, name)) ?? []).filter(({ rule }) => rule !== "d");
  }
}

export function sealingOf(outputs: readonly Interface[], steps: StepsByOutput, analysis: Analysis): Sealing {
  const demands = new Demands(analysis);
  let unmet: Sealing["unmet"] = null;
  for (const port of outputs) {
    const missing = demands.add(steps.at(port));
    const accepted = port.streams.every(
      ({ name }) => (analysis.streams.get(name)?.accepted ?? null) !== null,
    );
    if (!accepted) unmet ??= missing;
  }
  return { ...demands.settled(), unmet };
}

/** A stream that is held, the path that it goes to, and the streams that are held together with it. */
interface Held {
  readonly step: DerivationStep;
  readonly gates: Gate[];
  readonly partners: Set<string>;
}

/** What the order-sensitive paths of one component ask for. */
class Demands {
  readonly #analysis: Analysis;
  readonly #held = new Map<string, Held>();
  /** Who waits for whom: the path of the waiting stream, by both names. */
  readonly #waits = new Map<
    string,
    { readonly step: DerivationStep; readonly until: string; readonly paths: ComponentPath[] }
  >();

  constructor(analysis: Analysis) {
    this.#analysis = analysis;
  }

  /** Takes the steps to one output; says what is missing, if seals do not suffice there. */
  add(steps: readonly DerivationStep[]): Sealing["unmet"] {
    const writers = steps.filter(({ path }) => isWrite(path.annotation));
    const barriers = new Map<string, DerivationStep>();
    let unmet: Sealing["unmet"] = null;
    for (const step of steps) {
      const { annotation, gate } = step.path;
      if (!isOrderSensitive(annotation) || step.rule === "o") continue;
      const reads = annotation === "OR" && writers.length > 0;
      const needed = reads ? writers : [step];
      const open = needed.find((each) => !this.#has(each, gate, false));
      if (open !== undefined) unmet ??= { path: step.path, stream: open.stream };
      if (!needed.every((each) => this.#has(each, gate, true))) continue;
      for (const each of needed) {
        this.#hold(each, gate);
        if (reads) this.#wait(step, each);
        else barriers.set(each.stream, each);
      }
    }
    for (const step of steps) {
      for (const barrier of barriers.values()) {
        if (step.stream === barrier.stream) continue;
        if (!barriers.has(step.stream)) this.#wait(step, barrier);
        else if (keyMet(step.path, barrier.path.from, []) !== undefined) {
          this.#held.get(step.stream)?.partners.add(barrier.stream);
        }
      }
    }
    return unmet;
  }

  settled(): Pick<Sealing, "streams" | "holds"> {
    this.#joinCircles();
    const seals = new Map<string, Seal | null>();
    const groups = new Map<string, readonly string[]>();
    for (const name of [...this.#held.keys()].sort(compare)) {
      if (seals.has(name)) continue;
      const group = this.#together(name);
      const chosen = this.#sealsFor(group);
      for (const [i, each] of group.entries()) {
        seals.set(each, chosen?.[i] ?? null);
        groups.set(each, group);
      }
    }
    const streams = [...seals].map(([name, seal]) => ({
      name,
      seal,
      with: (groups.get(name) ?? []).filter((each) => each !== name),
      vote: this.#analysis.topology.stream(name)?.singleWriter !== true,
    }));
    const holds = [...this.#waits.values()].flatMap(({ step, until, paths }): Hold[] => {
      if (groups.get(until)?.includes(step.stream) === true) return [];
      const input = this.#held.get(until)?.step.path.from ?? "";
      const seal = seals.get(until) ?? null;
      const keys = paths.map((path) => keyMet(path, input, seal === null || seal.prefix ? null : seal.key));
      const met = keys.filter((key) => key !== undefined);
      if (met.length === 0) return [];
      const [by = null] = met;
      const same = met.every((key) => key?.join("\0") === by?.join("\0"));
      return [{ name: step.stream, until, by: same ? this.#carried(step.stream, by) : null }];
    });
    return {
      streams: streams.sort((a, b) => compare(a.name, b.name)),
      holds: holds.sort((a, b) => compare(a.name, b.name) || compare(a.until, b.until)),
    };
  }

  #has({ label, seals }: DerivationStep, gate: Gate, orLate: boolean): boolean {
    const { dependencies } = this.#analysis;
    return (
      label === "Seal" &&
      seals.some((seal) => (orLate || seal.late !== true) && dependencies.compatible(gate, seal))
    );
  }

  #hold(step: DerivationStep, gate: Gate): void {
    const held = this.#held.get(step.stream) ?? { step, gates: [], partners: new Set() };
    this.#held.set(step.stream, held);
    held.gates.push(gate);
  }

  #wait(step: DerivationStep, { stream: until }: DerivationStep): void {
    if (step.stream === until) return;
    const name = JSON.stringify([step.stream, until]);
    const wait = this.#waits.get(name) ?? { step, until, paths: [] };
    this.#waits.set(name, wait);
    wait.paths.push(step.path);
  }

  /** Held streams that wait for each other become partners. */
  #joinCircles(): void {
    const names = [...this.#held.keys()];
    const places = new Map(names.map((name, i) => [name, i]));
    const after = names.map((): number[] => []);
    for (const { step, until, paths } of this.#waits.values()) {
      const input = this.#held.get(until)?.step.path.from ?? "";
      const [from, to] = [places.get(step.stream), places.get(until)];
      const meet = paths.some((path) => keyMet(path, input, []) !== undefined);
      if (from !== undefined && to !== undefined && meet) after[from]?.push(to);
    }
    for (const [name, { partners }] of this.#held) {
      for (const partner of partners) {
        const [from, to] = [places.get(name) ?? 0, places.get(partner) ?? 0];
        after[from]?.push(to);
        after[to]?.push(from);
      }
    }
    for (const [first = 0, ...rest] of stronglyConnected(names.length, (node) => after[node] ?? [])) {
      for (const other of rest) this.#held.get(names[first] ?? "")?.partners.add(names[other] ?? "");
    }
  }

  /** A set that grows while it is walked is its own worklist. */
  #together(name: string): string[] {
    const group = new Set([name]);
    for (const each of group) {
      for (const partner of this.#held.get(each)?.partners ?? []) group.add(partner);
      for (const [other, { partners }] of this.#held) if (partners.has(each)) group.add(other);
    }
    return [...group].sort(compare);
  }

  /** One seal for each stream of a group, with keys that correspond; `null` if there are none. */
  #sealsFor([first = "", ...rest]: readonly string[]): Seal[] | null {
    for (const seal of this.#candidates(first)) {
      const others = rest.map((name) => this.#matching(seal, first, name));
      const found = others.filter((each) => each !== null);
      if (found.length === rest.length) return [seal, ...found];
    }
    return null;
  }

  /** Exact ones first. */
  #candidates(name: string): Seal[] {
    const { gates, step } = this.#held.get(name) ?? { gates: [], step: undefined };
    const { dependencies } = this.#analysis;
    const fitting = (step?.seals ?? []).filter((seal) =>
      gates.every((gate) => dependencies.compatible(gate, seal)),
    );
    return fitting.toSorted((a, b) => Number(a.late === true) - Number(b.late === true));
  }

  #matching(seal: Seal, first: string, name: string): Seal | null {
    const [own, other] = [this.#held.get(name)?.step, this.#held.get(first)?.step];
    const key = own && other ? keyMet(own.path, other.path.from, seal.key) : null;
    if (key === null || key === undefined) return null;
    const wanted = sealName({ key, prefix: seal.prefix });
    const found = this.#candidates(name).find(
      ({ key: each, prefix }) => sealName({ key: each, prefix }) === wanted,
    );
    return found === undefined ? null : { ...found, key };
  }

  /** A record that has not all the attributes cannot name its partition. */
  #carried(stream: string, by: readonly string[] | null): readonly string[] | null {
    const attributes = this.#analysis.topology.stream(stream)?.attributes;
    return by?.every((each) => attributes?.includes(each) ?? true) === true ? by : null;
  }
}

/**
 * The attributes of a path's records that equal a key of the records of another input that they meet; `null` if they are not
 * known, `undefined` if the two never meet.
 */
function keyMet(
  { meets }: ComponentPath,
  input: string,
  key: readonly string[] | null,
): readonly string[] | null | undefined {
  if (meets === undefined) return key;
  const meeting = meets.find((each) => each.input === input);
  if (meeting === undefined) return undefined;
  const own = key?.map((attribute) => meeting.equal.find(({ other }) => other === attribute)?.own);
  return own?.every((each) => each !== undefined) === true ? own : null;
}
