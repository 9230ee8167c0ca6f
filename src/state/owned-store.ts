import type { TrackedKey } from "../model/collections.js";
import type { OwnedEngine } from "../model/owned.js";
import type { At, EntryAt, Found, Store, UndoStep, Version } from "./tracked-version.js";

/**
 * What there is of an owned engine beside the engine: the parts of its last checkpoint and the records since, as bytes that
 * never change. Versions of it are those of a tracked collection (`tracked-version.ts`), with these keys:
 *
 *     a number     the record at that position
 *     p NAME       a part of the checkpoint
 *     k            the position of the checkpoint, and how many bytes were written for it, both as doubles
 *     g            the digest of an engine that has one, and the position at which it had that, both as doubles
 *
 * The records are those behind the checkpoint, without a gap.
 */
export class OwnedStore implements Store {
  readonly #parts = new Map<string, Uint8Array>();
  readonly #records = new Map<number, Uint8Array>();
  readonly seat = new Seat();
  recordBytes = 0;
  partBytes = 0;

  /** How many records the engine has applied, those behind the checkpoint among them. */
  get position(): number {
    return this.checkpointPosition + this.#records.size;
  }

  /** Versions have it by this name. */
  get first(): number {
    return this.position;
  }

  get size(): number {
    return this.#parts.size + this.#records.size;
  }

  get records(): number {
    return this.#records.size;
  }

  get checkpointPosition(): number {
    return numbersIn(this.#parts.get(CHECKPOINT))[0];
  }

  /** How many bytes the last checkpoint was. */
  get checkpointBytes(): number {
    return numbersIn(this.#parts.get(CHECKPOINT))[1];
  }

  find(key: TrackedKey): Found | undefined {
    const value = this.#get(key);
    return value === undefined ? undefined : { at: atOf(key), value };
  }

  /** The records in their order, behind everything else. */
  *all(): Iterable<Found> {
    for (const [key, value] of this.#parts) yield { at: atOf(key), value };
    for (const at of [...this.#records.keys()].sort((a, b) => a - b))
      yield { at, value: this.#records.get(at) };
  }

  /** In a version that is open and the root. */
  put(open: Version, key: TrackedKey, value: Uint8Array): void {
    const before = this.#get(key);
    open.base?.steps.push({ kind: before === undefined ? "add" : "set", at: atOf(key), value: before });
    this.load(key, value);
  }

  remove(open: Version, key: TrackedKey): void {
    const value = this.#get(key);
    if (value === undefined) return;
    open.base?.steps.push({ kind: "remove", at: atOf(key), value });
    this.load(key, undefined);
  }

  undo({ kind, at, value }: UndoStep): UndoStep {
    const key = keyOf(at);
    const now = this.#get(key);
    this.load(key, kind === "add" ? undefined : (value as Uint8Array));
    if (kind === "set") return { kind, at, value: now };
    return kind === "add" ? { kind: "remove", at, value: now } : { kind: "add", at, value: undefined };
  }

  /** A record cannot be taken out again, so what has changed is not what it was. */
  isAsBefore(): boolean {
    return false;
  }

  #get(key: TrackedKey): Uint8Array | undefined {
    return typeof key === "number" ? this.#records.get(key) : this.#parts.get(key as string);
  }

  /** Puts something in, or takes it out, without a step that leads back. */
  load(key: TrackedKey, value: Uint8Array | undefined): void {
    const change = (value?.byteLength ?? 0) - (this.#get(key)?.byteLength ?? 0);
    if (typeof key === "number") {
      this.recordBytes += change;
      if (value === undefined) this.#records.delete(key);
      else this.#records.set(key, value);
    } else {
      this.partBytes += change;
      if (value === undefined) this.#parts.delete(key as string);
      else this.#parts.set(key as string, value);
    }
  }
}

/** The one live engine that all versions share. It is at only one of them. */
export class Seat {
  engine: OwnedEngine | null = null;
  at: Version | null = null;
  /** Does code of the engine, or code that looks at it, run now? */
  isBusy = false;

  put(engine: OwnedEngine, at: Version): OwnedEngine {
    this.engine = engine;
    this.at = at;
    return engine;
  }

  /** What the engine holds is unknown from now on. */
  clear(): void {
    this.engine = null;
    this.at = null;
  }
}

/** The key of what says where the checkpoint is. */
export const CHECKPOINT = "k";
/** The key of what says what the engine's digest was, and at which position. */
export const DIGEST = "g";
const PART = "p";

export function partKey(name: string): string {
  return PART + name;
}

/** The name of a part, or null for another key. */
export function partName(key: TrackedKey): string | null {
  return typeof key === "string" && key.startsWith(PART) ? key.slice(PART.length) : null;
}

/** A position, and what belongs to it: how many bytes the checkpoint there had, or the digest. */
export function checkpointValue(position: number, other: number): Uint8Array {
  const value = Buffer.alloc(16);
  value.writeDoubleLE(position, 0);
  value.writeDoubleLE(other, 8);
  return value;
}

const NO_CHECKPOINT = [0, 0] as const;

/** What `checkpointValue` was made of. */
export function numbersIn(value: Uint8Array | undefined): readonly [position: number, other: number] {
  if (value === undefined || value.byteLength !== 16) return NO_CHECKPOINT;
  const view = new DataView(value.buffer, value.byteOffset, 16);
  return [view.getFloat64(0, true), view.getFloat64(8, true)];
}

function atOf(key: TrackedKey): At {
  return typeof key === "number" ? key : { key, sequence: 0 };
}

function keyOf(at: At): TrackedKey {
  return typeof at === "number" ? at : (at as EntryAt).key;
}
