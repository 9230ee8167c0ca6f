/**
 * One component by itself: a confluent path gives the same set of records in whatever order its input comes (section
 * III.B), and does not change it if records come again, unless it is said to mind. Where other paths to the same output
 * are order-sensitive, what they get comes afterwards and always in the same order: a race with them is their fault.
 */

import type { Component, ComponentPath } from "../analysis/graph.js";
import { isOrderSensitive, isWrite } from "../analysis/labels.js";
import { repetitionOf } from "../analysis/rules.js";
import type { Chance } from "./chance.js";
import { type DataRecord, type RunnableComponent, RunningComponent } from "./component.js";
import { type Bulk, type MakeRecord, timesFor, valuesFor } from "./inputs.js";
import type { Act } from "./instance.js";
import { Contents, canonical } from "./records.js";
import { shrink } from "./shrink.js";

const RECORDS_MAX = 5;
const OTHERS_MAX = 2;
/** With so few records, all their orders are tried. */
const ALL_ORDERS_MAX = 4;
const SOME_ORDERS = 24;

export interface PathViolation {
  readonly kind: "order" | "repetition" | "state";
  readonly component: string;
  /** The inputs whose records it takes. */
  readonly from: readonly string[];
  readonly to: string;
  readonly paths: readonly ComponentPath[];
  readonly seed: number;
  readonly sides: readonly [PathSide, PathSide];
}

export interface PathSide {
  readonly acts: readonly Act[];
  readonly result: readonly DataRecord[] | { readonly state: unknown };
}

interface Item extends Bulk {
  readonly input: string;
  /** Comes after all that may come in any order. */
  readonly last: boolean;
}

/** What a component is made to do, in order. */
type Step = ({ readonly input: string } & Bulk) | "answer";

/** What is known of one component before records are made. */
export interface Subject {
  readonly component: Component;
  readonly code: RunnableComponent;
  /** Whether it says itself what it keeps. A query keeps open requests, which are no state that anybody reads. */
  readonly isModule: boolean;
  /** By input. */
  readonly makers: ReadonlyMap<string, MakeRecord>;
}

/** The outputs with a confluent path for whose input there are records. */
export function checkedOutputs({ component, makers }: Subject): string[] {
  const outputs = new Set(component.paths.map(({ to }) => to));
  return [...outputs].filter((to) => confluentInputs(component, to).some((input) => makers.has(input)));
}

export function checkPaths(subject: Subject, to: string, seed: number, chance: Chance): PathViolation | null {
  const { component, code, makers } = subject;
  const free = confluentInputs(component, to).filter((input) => makers.has(input));
  const others = component.paths
    .filter((path) => path.to === to && !free.includes(path.from) && makers.has(path.from))
    .map(({ from }) => from);
  const values = valuesFor(chance);
  const make = (inputs: readonly string[], count: number, last: boolean): Item[] => {
    const [first, ...rest] = inputs;
    if (first === undefined) return [];
    return Array.from({ length: count }, () => {
      const input = chance.pick([first, ...rest]);
      const times = timesFor(code.sizes?.(input) ?? [], chance);
      return { input, record: makers.get(input)?.(chance, values) ?? {}, times, last };
    });
  };
  const items = [
    ...make(free, 1 + chance.int(RECORDS_MAX), false),
    ...make([...new Set(others)], chance.int(OTHERS_MAX + 1), true),
  ];
  const trial = new Trial(subject, to, seed, chance);
  for (const find of [trial.order, trial.repetition, trial.state]) {
    const found = find(items);
    if (found !== null) return shrink(items, found, find);
  }
  return null;
}

function confluentInputs({ paths }: Component, to: string): string[] {
  const inputs = new Set(paths.filter((path) => path.to === to).map(({ from }) => from));
  return [...inputs].filter((from) =>
    paths.every((path) => path.from !== from || path.to !== to || !isOrderSensitive(path.annotation)),
  );
}

class Trial {
  readonly #subject: Subject;
  readonly #to: string;
  readonly #seed: number;
  readonly #chance: Chance;

  constructor(subject: Subject, to: string, seed: number, chance: Chance) {
    this.#subject = subject;
    this.#to = to;
    this.#seed = seed;
    this.#chance = chance;
  }

  readonly order = (items: readonly Item[]): PathViolation | null => {
    const free = items.filter(({ last }) => !last);
    const last = items.filter((item) => item.last);
    // Equal records need not come all at once.
    const split = free.flatMap((item, i) =>
      item.times < 2 ? [] : [free.toSpliced(i, 1, { ...item, times: 1 }, { ...item, times: item.times - 1 })],
    );
    const orders = [free, ...split].flatMap((pieces) =>
      pieces.length <= ALL_ORDERS_MAX
        ? [...permutations(pieces)]
        : Array.from({ length: SOME_ORDERS }, () => this.#chance.shuffled(pieces)),
    );
    return this.#compare("order", items, orders, last);
  };

  readonly repetition = (items: readonly Item[]): PathViolation | null => {
    const free = items.filter(({ last }) => !last);
    const last = items.filter((item) => item.last);
    const more = free.flatMap((item, i) => {
      if (this.#minds(item.input)) return [];
      const again = { ...item, times: 1 };
      return [free.toSpliced(i, 0, again), [...free, again]];
    });
    return this.#compare("repetition", items, [free, ...more], last);
  };

  /** A path that only reads leaves the state alone. */
  readonly state = (items: readonly Item[]): PathViolation | null => {
    const { component, code, isModule } = this.#subject;
    if (!isModule) return null;
    const running = new RunningComponent(component.name, code);
    const acts: Act[] = [];
    for (const item of items) {
      const { input, record, times } = item;
      const before = canonical(running.view());
      const earlier = { acts: [...acts], result: { state: structuredClone(running.view()) } };
      running.receive(input, record, times);
      acts.push({ input, record, times });
      const writes = component.paths.some((path) => path.from === input && isWrite(path.annotation));
      if (writes || canonical(running.view()) === before) continue;
      const later = { acts: [...acts], result: { state: structuredClone(running.view()) } };
      return this.#violation("state", [{ ...item, last: false }], [earlier, later]);
    }
    return null;
  };

  #compare(
    kind: PathViolation["kind"],
    items: readonly Item[],
    orders: readonly (readonly Item[])[],
    last: readonly Item[],
  ): PathViolation | null {
    let first: { side: PathSide; contents: Contents } | null = null;
    // One that answers when it suits it may do so after each record, or only when all are there.
    const ways = orders.flatMap((order) => [
      order.flatMap(({ input, record, times }): Step[] => [{ input, record, times }]),
      order.flatMap(({ input, record, times }): Step[] => [{ input, record, times }, "answer"]),
    ]);
    const end = last.flatMap(({ input, record, times }): Step[] => [{ input, record, times }, "answer"]);
    for (const way of ways) {
      const { acts, contents } = this.#outcome([...way, "answer", ...end]);
      const side = { acts, result: contents.records };
      if (first === null) first = { side, contents };
      else if (!first.contents.equals(contents)) return this.#violation(kind, items, [first.side, side]);
    }
    return null;
  }

  #outcome(steps: readonly Step[]): { acts: Act[]; contents: Contents } {
    const { component, code } = this.#subject;
    const running = new RunningComponent(component.name, code);
    const contents = new Contents();
    const acts: Act[] = [];
    for (const step of steps) {
      const emitted =
        step === "answer" ? running.answer() : running.receive(step.input, step.record, step.times);
      for (const [output, record] of emitted) if (output === this.#to) contents.add(record);
      if (step !== "answer") acts.push(step);
      else if (emitted.length > 0) acts.push({ answers: emitted.map(([, record]) => record) });
    }
    return { acts, contents };
  }

  #violation(
    kind: PathViolation["kind"],
    items: readonly Item[],
    sides: readonly [PathSide, PathSide],
  ): PathViolation {
    const { component } = this.#subject;
    const from = [...new Set(items.filter(({ last }) => !last).map(({ input }) => input))];
    const paths = component.paths.filter((path) => path.to === this.#to && from.includes(path.from));
    return { kind, component: component.name, from, to: this.#to, paths, seed: this.#seed, sides };
  }

  #minds(input: string): boolean {
    const { paths } = this.#subject.component;
    return paths.some(
      (path) => path.from === input && path.to === this.#to && repetitionOf(path) === "minds",
    );
  }
}

function* permutations<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length < 2) return yield items;
  for (const [i, item] of items.entries()) {
    for (const rest of permutations(items.toSpliced(i, 1))) yield [item, ...rest];
  }
}
