import { type Batch, decodeBatch, encodeBatch, type Schema } from "../columns/index.js";
import { HeldPartition } from "./held-partition.js";
import { grouped } from "./hold.js";
import { type CheckpointPart, jsonOf, jsonPart, type OwnParts, partsBelow } from "./parts.js";
import type { Holds, Released } from "./released.js";

const META = "joint";
const PARTS = "joint/";

/** An input whose partitions are those of others: its columns, and which of them name a partition, in the order of the others. */
export interface JointInput {
  readonly schema: Schema;
  /** In the order in which its own seals name them. */
  readonly sealed: readonly number[];
  readonly columns: readonly number[];
}

/** The rows of one input, in whole partitions; or a partition that came when another stream's had been answered. */
type Complete =
  | { readonly input: string; readonly batch: Batch }
  | { readonly input: string; readonly lateKey: string; readonly rows: number };

/**
 * Partitions of several streams that a query waits for together: what one stream has released is held until all of them have released the
 * same partition, or will never have it. The streams' own holds have put the rows in an order that no interleaving changes.
 */
export class JointHold {
  readonly #open = new Map<string, HeldPartition>();
  readonly #released: HeldPartition[] = [];
  #nextId = 1;
  #bytes = 0;
  #isChanged = true;

  constructor(readonly inputs: Readonly<Record<string, JointInput>>) {}

  get memoryBytes(): number {
    return this.#bytes;
  }

  /** Returns what is complete with it, in the order of the partitions' names. */
  take(input: string, { rows, keys, isFinished }: Released, holds: Holds): readonly Complete[] {
    const spec = this.inputs[input];
    if (spec === undefined) return [];
    this.#isChanged = true;
    const late: Complete[] = [];
    const groups = new Map(grouped(rows, spec.columns));
    const touched = new Set<HeldPartition>();
    for (const own of keys) {
      const key = this.#shared(own, spec);
      const batch = groups.get(key);
      const partition = this.#open.get(key) ?? this.#begun(key, input, holds);
      if (partition === null) {
        if (batch !== undefined) late.push({ input, lateKey: key, rows: batch.rows });
        continue;
      }
      if (batch !== undefined) this.#bytes += partition.hold(input, encodeBatch(batch), batch.rows);
      partition.seal(input);
      touched.add(partition);
    }
    if (isFinished)
      for (const partition of this.#open.values()) {
        partition.leave(input);
        touched.add(partition);
      }
    return [...late, ...this.#complete(touched)];
  }

  /** A partition that begins here; `null` if another stream's was released before the query could be given it. */
  #begun(key: string, input: string, holds: Holds): HeldPartition | null {
    const others = Object.entries(this.inputs).filter(([name]) => name !== input);
    if (others.some(([name, spec]) => holds.isOver(name, this.#own(key, spec)))) return null;
    const awaited = others.flatMap(([name]) => (holds.isFinished(name) ? [] : [name]));
    const begun = new HeldPartition(this.#nextId++, key, [input, ...awaited]);
    this.#bytes += begun.bytes;
    this.#open.set(key, begun);
    return begun;
  }

  #complete(touched: Iterable<HeldPartition>): Complete[] {
    const complete = [...touched].filter(({ waitingFor }) => waitingFor.size === 0);
    complete.sort((a, b) => (a.key < b.key ? -1 : 1));
    return complete.flatMap((partition) => {
      this.#open.delete(partition.key);
      this.#bytes -= partition.bytes;
      this.#released.push(partition);
      return partition.pieces().map(({ producer: input, bytes }): Complete => {
        const schema = this.inputs[input]?.schema ?? [];
        return { input, batch: decodeBatch(bytes, schema, Number.POSITIVE_INFINITY) };
      });
    });
  }

  /** A partition's name among all inputs: seals of each stream name the columns in an order of their own. */
  #shared(own: string, { sealed, columns }: JointInput): string {
    const values = JSON.parse(own) as unknown[];
    return JSON.stringify(columns.map((column) => values[sealed.indexOf(column)]));
  }

  #own(key: string, { sealed, columns }: JointInput): string {
    const values = JSON.parse(key) as unknown[];
    return JSON.stringify(sealed.map((column) => values[columns.indexOf(column)]));
  }

  *checkpoint(): Generator<CheckpointPart> {
    for (const partition of this.#released) yield* partition.removal(PARTS);
    this.#released.length = 0;
    for (const partition of this.#open.values()) yield* partition.checkpoint(PARTS);
    if (!this.#isChanged) return;
    this.#isChanged = false;
    yield [META, jsonPart(this.#nextId)];
  }

  load(parts: OwnParts): void {
    this.#nextId = jsonOf<number>(parts.get(META)) ?? 1;
    this.#isChanged = false;
    for (const partition of HeldPartition.loaded(new Map(partsBelow(parts, PARTS)))) {
      this.#open.set(partition.key, partition);
      this.#bytes += partition.bytes;
    }
  }
}
