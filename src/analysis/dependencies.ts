/**
 * Which seals fit which gates (section V.A.1). An injective function from A to B means that A determines B *and* that
 * B determines A, so `injectivefd(A, B)` is two closures under functional dependencies and no search: A must reach B,
 * and B must reach back.
 */

import { compare } from "./compare.js";
import type { Dependency, Gate, Lineage, Seal } from "./graph.js";
import { push } from "./grouped.js";

interface Arrow {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

export class Dependencies {
  readonly #arrows: readonly Arrow[];
  readonly #arrowsFrom = new Map<string, number[]>();
  readonly #later = new Map<string, string[]>();
  readonly #known = new WeakMap<readonly string[], Map<string, boolean>>();

  constructor(readonly declared: readonly Dependency[]) {
    this.#arrows = declared.flatMap(({ from, to, injective }) =>
      injective
        ? [
            { from, to },
            { from: to, to: from },
          ]
        : [{ from, to }],
    );
    for (const [i, { from }] of this.#arrows.entries()) {
      for (const attribute of new Set(from)) push(this.#arrowsFrom, attribute, i);
    }
    for (const { from, to, orderPreserving } of declared) {
      const [earlier, later] = [from[0], to[0]];
      if (orderPreserving && earlier !== undefined && later !== undefined) push(this.#later, earlier, later);
    }
  }

  /** Everything that these attributes determine. */
  closure(attributes: Iterable<string>): Set<string> {
    const reached = new Set(attributes);
    const missing = this.#arrows.map(({ from }) => new Set(from).size);
    for (const attribute of reached) {
      for (const i of this.#arrowsFrom.get(attribute) ?? []) {
        missing[i] = (missing[i] ?? 0) - 1;
        if (missing[i] === 0) for (const each of this.#arrows[i]?.to ?? []) reached.add(each);
      }
    }
    return reached;
  }

  determines(from: readonly string[], to: readonly string[]): boolean {
    return within(to, this.closure(from));
  }

  /** The paper's predicate of the same name. */
  injectivefd(from: readonly string[], to: readonly string[]): boolean {
    return this.determines(from, to) && this.determines(to, from);
  }

  /**
   * The paper's predicate of the same name: some part of the gate is an injective function of the seal's key. The
   * largest part that the key determines is the one to try, because more attributes never determine less. A
   * watermark on `time` completes every value of an order-preserving function of `time`, injective or not.
   */
  compatible(gate: Gate, seal: Seal): boolean {
    if (gate === "*" || gate.length === 0) return false;
    let ofGate = this.#known.get(gate);
    if (ofGate === undefined) this.#known.set(gate, (ofGate = new Map()));
    const name = `${seal.prefix ? "≤" : "="}${seal.key.join("\0")}`;
    const known = ofGate.get(name);
    if (known !== undefined) return known;
    const keys = seal.prefix ? this.#laterThan(seal.key).map((attribute) => [attribute]) : [seal.key];
    const fits = keys.some((key) => this.#partOf(gate, key) !== null);
    ofGate.set(name, fits);
    return fits;
  }

  /** Which of these attributes carry the same information as the key, as few as possible; `null` if none do. */
  #partOf(attributes: readonly string[], key: readonly string[]): string[] | null {
    const present = new Set(attributes);
    if (key.every((each) => present.has(each))) return [...key];
    const determined = this.closure(key);
    let part = attributes.filter((each) => determined.has(each));
    if (part.length === 0 || !within(key, this.closure(part))) return null;
    for (const each of part) {
      const fewer = part.filter((other) => other !== each);
      if (fewer.length > 0 && within(key, this.closure(fewer))) part = fewer;
    }
    return part;
  }

  /** The attribute of a watermark and everything that grows with it. */
  #laterThan(key: readonly string[]): string[] {
    const reached = new Set(key);
    for (const attribute of reached) for (const each of this.#later.get(attribute) ?? []) reached.add(each);
    return [...reached];
  }

  /** What is left of a seal when only these attributes are left of the records. */
  projected(seal: Seal, attributes: readonly string[]): Seal | null {
    for (const key of seal.prefix ? this.#laterThan(seal.key).map((each) => [each]) : [seal.key]) {
      const part = this.#partOf(attributes, key);
      if (part === null) continue;
      const prefix = seal.prefix && part.length === 1 && part[0] === key[0];
      return { ...estimated(seal), key: part, prefix };
    }
    return null;
  }

  /** What is left of a seal on the other side of a path that makes its output from its input like this. */
  carried(seal: Seal, lineage: readonly Lineage[]): Seal | null {
    if (seal.prefix) {
      const times = new Set(this.#laterThan(seal.key));
      const kept = lineage.find(
        ({ from: [only, ...more], orderPreserving }) =>
          orderPreserving && only !== undefined && more.length === 0 && times.has(only),
      );
      if (kept !== undefined) return { ...seal, key: [kept.to] };
    }
    const determined = this.closure(seal.key);
    const carries = (entries: readonly Lineage[]) =>
      within(seal.key, this.closure(entries.flatMap(({ from }) => from)));
    let entries = lineage.filter(({ from, injective }) => injective && within(from, determined));
    if (entries.length === 0 || !carries(entries)) return null;
    // As few attributes as possible, because a key with more of them fits fewer gates.
    const wordy = entries.toSorted((a, b) => Number(isCopy(a, seal)) - Number(isCopy(b, seal)));
    for (const each of wordy) {
      const fewer = entries.filter((other) => other !== each);
      if (fewer.length > 0 && carries(fewer)) entries = fewer;
    }
    return { ...estimated(seal), key: [...new Set(entries.map(({ to }) => to))], prefix: false };
  }

  /**
   * Keys that would fit a gate: each of its attributes, and whatever each is an injective or, for a watermark, an
   * order-preserving function of.
   */
  keysFor(gate: Gate): Seal[] {
    if (gate === "*") return [];
    const related = this.#arrows.map(({ from }) => from.toSorted(compare));
    const plain = [...gate.map((each) => [each]), ...related.sort((a, b) => compare(a.join(), b.join()))];
    const times = [...this.#later.keys()].sort(compare).map((time) => [time]);
    const seals = [
      ...plain.map((key): Seal => ({ key, prefix: false })),
      ...times.map((key): Seal => ({ key, prefix: true })),
    ];
    const seen = new Set<string>();
    return seals.filter((seal) => {
      const name = sealName(seal);
      if (seen.has(name) || !this.compatible(gate, seal)) return false;
      seen.add(name);
      return true;
    });
  }
}

/** The same for seals that promise the same. */
export function sealName({ key, prefix, late = false }: Seal): string {
  return JSON.stringify([prefix, late, [...key].sort()]);
}

function estimated({ late }: Seal): Pick<Seal, "late"> {
  return late === true ? { late } : {};
}

function isCopy({ from }: Lineage, { key }: Seal): boolean {
  return from.every((each) => key.includes(each));
}

function within(some: readonly string[], all: ReadonlySet<string>): boolean {
  return some.every((each) => all.has(each));
}
