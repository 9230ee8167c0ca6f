import { appendRows, Batch, decodeBatch, encodeBatch, gathered, type Schema } from "../columns/index.js";
import type { Refused } from "./answers.js";
import type { PartitionSeals } from "./definition.js";
import { HeldPartition } from "./held-partition.js";
import type { GraphMoment } from "./moment.js";
import { type CheckpointPart, jsonOf, jsonPart, type OwnParts, partsBelow } from "./parts.js";
import type { Released } from "./released.js";
import { hashOf, SeenValues } from "./seen.js";

const META = "held";
const PARTS = "held/";

interface Meta {
  readonly producers: readonly string[];
  readonly finished: readonly string[];
  readonly nextId: number;
  readonly sealed: SeenValues["position"];
}

/** A push that was checked: the rows of each partition, and the partitions that its producer seals behind them. */
interface Admitted {
  readonly producer: string;
  readonly groups: readonly (readonly [key: string, rows: Batch])[];
  readonly sealed: readonly string[];
}

/** How far a partition is. */
export interface PartitionStatus {
  readonly state: "not begun" | "open" | "sealed";
  /** The producers that have not sealed it. */
  readonly waitingFor: readonly string[];
  readonly rows: number;
}

/**
 * Sealing (Blazes, section V.B.1) at a stream: the rows of a partition are held until every producer that it waits for has sealed
 * it, and are released as one, by producer and in the order in which each sent them; so what is released does not depend on
 * how the producers' batches were interleaved.
 *
 * A partition begins with its first row or seal, and waits for the producers that are declared then. One that is declared later
 * contributes to partitions that begin later. One that is removed, or has sealed the whole stream, is not waited for any more; the
 * rows that it had sent stay.
 */
export class PartitionHold {
  readonly #schema: Schema;
  readonly #open = new Map<string, HeldPartition>();
  readonly #sealed: SeenValues;
  readonly #released: HeldPartition[] = [];
  #producers: ReadonlySet<string>;
  readonly #finished = new Set<string>();
  #nextId = 1;
  #bytes = 0;
  #isChanged = true;

  constructor(
    readonly seals: PartitionSeals,
    schema: Schema,
  ) {
    this.#schema = schema;
    this.#producers = new Set(seals.producers);
    this.#sealed = new SeenValues(seals.keepMs, "sealed/");
  }

  /** The columns that name a partition. */
  get key(): Schema {
    return keySchema(this.#schema, this.seals.columns);
  }

  get producers(): readonly string[] {
    return [...this.#producers];
  }

  get described() {
    const { columns, holdBytes } = this.seals;
    return {
      columns: columns.map((index) => this.#schema[index]?.name ?? ""),
      ...{ producers: this.producers, open: this.#open.size, sealed: this.#sealed.size },
      ...{ heldBytes: this.#bytes, holdBytes },
    };
  }

  get memoryBytes(): number {
    return this.#bytes + this.#sealed.memoryBytes;
  }

  status(key: string): PartitionStatus {
    const partition = this.#open.get(key);
    if (partition !== undefined)
      return { state: "open", waitingFor: [...partition.waitingFor], rows: partition.rows };
    const state = this.#sealed.has(hashOf(key)) ? "sealed" : "not begun";
    return { state, waitingFor: state === "sealed" ? [] : this.#awaited(), rows: 0 };
  }

  /** Why a push is refused, or what `take` takes. It changes nothing. */
  admit(producer: string, rows: Batch, seals: Uint8Array | null, bytes: number): Admitted | Refused {
    if (!this.#producers.has(producer)) return undeclared(producer, this.producers);
    const groups = grouped(rows, this.seals.columns);
    const sealed = seals === null ? [] : keysIn(decodeBatch(Buffer.from(seals), this.key));
    let isBegun = true;
    for (const [key] of groups) {
      const refused = this.#refusalOf(producer, key, true);
      if (refused !== null) return refused;
      isBegun &&= this.#open.has(key);
    }
    for (const key of sealed) {
      const refused = this.#refusalOf(producer, key, false);
      if (refused !== null) return refused;
      isBegun &&= this.#open.has(key) || this.#sealed.has(hashOf(key));
    }
    // Partitions that have begun may take as much again: else none of them could be completed any more.
    const { holdBytes } = this.seals;
    if ((groups.length > 0 || !isBegun) && this.#bytes + bytes > (isBegun ? 2 * holdBytes : holdBytes))
      return this.#full(isBegun);
    return { producer, groups, sealed };
  }

  #refusalOf(producer: string, key: string, hasRows: boolean): Refused | null {
    const partition = this.#open.get(key);
    if (partition === undefined) {
      if (!this.#sealed.has(hashOf(key)) || !hasRows) return null;
      return refused(`the partition ${shown(key)} is sealed. Nothing was pushed.`);
    }
    if (partition.waitingFor.has(producer)) return null;
    if (!partition.sealedBy.has(producer))
      return refused(
        `the partition ${shown(key)} had begun before the producer "${producer}" was declared, and does not wait for it. Nothing was pushed.`,
      );
    if (!hasRows) return null;
    return refused(`the producer "${producer}" has sealed the partition ${shown(key)}. Nothing was pushed.`);
  }

  #full(isBegun: boolean): Refused {
    const { holdBytes } = this.seals;
    const what = isBegun
      ? `${this.#bytes} bytes are held for partitions that are not sealed, and twice ${holdBytes} may be`
      : `${this.#bytes} bytes are held for partitions that are not sealed, and no other partition begins above ${holdBytes}`;
    return { code: "HW-5408", message: `${what}. Nothing was pushed; seal partitions, and try again.` };
  }

  /** Takes what was admitted. Returns the rows of all partitions that it completes. */
  take({ producer, groups, sealed }: Admitted, moment: GraphMoment): Released | null {
    this.#isChanged = true;
    for (const [key, rows] of groups) {
      const partition = this.#partition(key);
      this.#bytes += partition.hold(producer, encodeBatch(rows), rows.rows);
    }
    const touched = sealed.filter((key) => !this.#sealed.has(hashOf(key))).map((key) => this.#partition(key));
    for (const partition of touched) partition.seal(producer);
    return this.#release(new Set(touched), moment);
  }

  /** Declares who contributes from now on. Returns what is complete without producers that are gone. */
  declare(producers: readonly string[], moment: GraphMoment): Released | null {
    this.#isChanged = true;
    const next = new Set(producers);
    for (const name of this.#producers) if (!next.has(name)) this.#leave(name);
    this.#producers = next;
    return this.#release(this.#open.values(), moment);
  }

  /** A producer has sealed the whole stream. */
  finish(producer: string, moment: GraphMoment): Released | null {
    if (!this.#producers.has(producer)) return null;
    this.#isChanged = true;
    this.#finished.add(producer);
    this.#leave(producer);
    return this.#release(this.#open.values(), moment);
  }

  /** Has every declared producer sealed the whole stream? */
  get isFinished(): boolean {
    return this.#awaited().length === 0;
  }

  expire(timeMs: number): void {
    this.#sealed.expire(timeMs);
  }

  #awaited(): string[] {
    return this.producers.filter((name) => !this.#finished.has(name));
  }

  #partition(key: string): HeldPartition {
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const begun = new HeldPartition(this.#nextId++, key, this.#awaited());
    this.#bytes += begun.bytes;
    this.#open.set(key, begun);
    return begun;
  }

  #leave(producer: string): void {
    for (const partition of this.#open.values()) partition.leave(producer);
  }

  #release(touched: Iterable<HeldPartition>, { round, timeMs }: GraphMoment): Released | null {
    const complete = [...touched].filter(({ waitingFor }) => waitingFor.size === 0);
    const { isFinished } = this;
    if (complete.length === 0 && !isFinished) return null;
    complete.sort((a, b) => (a.key < b.key ? -1 : 1));
    const released = Batch.empty(this.#schema);
    for (const partition of complete) {
      for (const { bytes } of partition.pieces())
        appendRows(released, decodeBatch(bytes, this.#schema, Number.POSITIVE_INFINITY));
      this.#open.delete(partition.key);
      this.#bytes -= partition.bytes;
      this.#released.push(partition);
    }
    const keys = complete.map(({ key }) => key);
    this.#sealed.add(keys.map(hashOf), round, timeMs);
    return { rows: released, keys, isFinished };
  }

  *checkpoint(): Generator<CheckpointPart> {
    for (const partition of this.#released) yield* partition.removal(PARTS);
    this.#released.length = 0;
    for (const partition of this.#open.values()) yield* partition.checkpoint(PARTS);
    yield* this.#sealed.checkpoint();
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const meta: Meta = {
      ...{ producers: this.producers, finished: [...this.#finished], nextId: this.#nextId },
      sealed: this.#sealed.position,
    };
    yield [META, jsonPart(meta)];
  }

  load(parts: OwnParts): void {
    const meta = jsonOf<Meta>(parts.get(META));
    if (meta === null) return;
    this.#isChanged = false;
    this.#producers = new Set(meta.producers);
    for (const name of meta.finished) this.#finished.add(name);
    this.#nextId = meta.nextId;
    this.#sealed.load(meta.sealed, parts);
    for (const partition of HeldPartition.loaded(new Map(partsBelow(parts, PARTS)))) {
      this.#open.set(partition.key, partition);
      this.#bytes += partition.bytes;
    }
  }
}

/** The columns that name a partition, as a schema of their own: the form of seals. */
export function keySchema(schema: Schema, columns: readonly number[]): Schema {
  return columns.flatMap((index) => schema[index] ?? []);
}

/** The names of partitions in a batch of their key columns. */
export function keysIn(keys: Batch): string[] {
  return Array.from({ length: keys.rows }, (_, row) => keyText(keys.row(row)));
}

function keyText(cells: readonly unknown[]): string {
  return JSON.stringify(cells, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

/** The rows of a batch by the partition that they are in. */
export function grouped(rows: Batch, columns: readonly number[]): (readonly [string, Batch])[] {
  const groups = new Map<string, number[]>();
  const texts = new Map<unknown, string>();
  const [only] = columns;
  for (let row = 0; row < rows.rows; row++) {
    let key: string | undefined;
    if (columns.length === 1 && only !== undefined) {
      const cell = rows.cell(row, only);
      key = texts.get(cell);
      if (key === undefined) texts.set(cell, (key = keyText([cell])));
    } else key = keyText(columns.map((index) => rows.cell(row, index)));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups].map(([key, own]) => [
    key,
    own.length === rows.rows ? rows : gathered(rows, Int32Array.from(own), rows.schema),
  ]);
}

function undeclared(producer: string, declared: readonly string[]): Refused {
  const who =
    producer === "" ? "the push names no producer" : `"${producer}" is no declared producer of the stream`;
  return refused(
    `${who}; they are ${declared.slice(0, 10).join(", ")}${declared.length > 10 ? ", …" : ""}. Nothing was pushed.`,
  );
}

function refused(message: string): Refused {
  return { code: "HW-5411", message };
}

const SHOWN_MAX = 200;

function shown(key: string): string {
  return key.length > SHOWN_MAX ? `${key.slice(0, SHOWN_MAX)}…` : key;
}
