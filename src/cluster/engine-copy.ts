import { ownedEntryOf } from "../host/context/index.js";
import type { KeyTable } from "../journal/journal.js";
import type { TrackedKey } from "../model/collections.js";
import type { OwnedEngine } from "../model/owned.js";
import { rebuilt } from "../state/owned-engine.js";
import { CHECKPOINT, DIGEST, numbersIn, type OwnedStore, partName } from "../state/owned-store.js";
import { ownedVersion } from "../state/tracked-content.js";
import type { CopiedField } from "./copied-fields.js";

/** What a copy is after what was read: as the original; what it misses is in the table; not what the original is. */
export type CopyState =
  | { readonly kind: "fine" }
  | { readonly kind: "behind" }
  | { readonly kind: "diverged"; readonly why: string };

const FINE: CopyState = { kind: "fine" };
const BEHIND: CopyState = { kind: "behind" };

/**
 * An engine of a context whose events run elsewhere. It is given the records in the order of the log, which has them before anyone hears of
 * their results. The log also has the digest of the original at each position, and its checkpoints: both have to be what the copy makes.
 */
export class EngineCopy {
  readonly engine: OwnedEngine;
  #position: number;
  /** The parts of the checkpoint that is being read. */
  #parts = new Map<string, Uint8Array | null>();
  #digest: readonly [position: number, digest: number] | null = null;
  #state: CopyState = FINE;

  private constructor(engine: OwnedEngine, position: number, digest: Uint8Array | undefined) {
    this.engine = engine;
    this.#position = position;
    if (digest !== undefined) this.#digest = numbersIn(digest);
    this.ended();
  }

  /** As the table has it; null if it has nothing. Throws if an engine cannot be made of that. */
  static of({ prefix, make, context, field }: CopiedField, table: KeyTable): EngineCopy | null {
    const entries = [...table.range(prefix)].map(([key, value]) => ({
      key: ownedEntryOf(prefix, key),
      value,
    }));
    if (entries.length === 0) return null;
    const version = ownedVersion(entries);
    const { position } = version.store as OwnedStore;
    const engine = rebuilt(version, make, `${context}.${field}`);
    return new EngineCopy(engine, position, entries.find(({ key }) => key === DIGEST)?.value);
  }

  /** How many records it has applied. */
  get position(): number {
    return this.#position;
  }

  get state(): CopyState {
    return this.#state;
  }

  /** Something was written for the original. */
  take(entry: TrackedKey, value: Uint8Array | null): void {
    if (this.#state !== FINE) return;
    if (typeof entry === "number") {
      if (value !== null) this.#apply(entry, value);
    } else if (entry === CHECKPOINT) this.#checkpoint(value);
    else if (entry === DIGEST) this.#digest = value === null ? null : numbersIn(value);
    else this.#parts.set(partName(entry) ?? "", value);
  }

  /** Everything of a message of the log was taken. */
  ended(): void {
    if (this.#state !== FINE || this.#digest === null) return;
    const [position, digest] = this.#digest;
    this.#digest = null;
    if (position !== this.#position) this.#state = BEHIND;
    else if (digest !== this.engine.digest)
      this.#state = diverged(`its results up to record ${position} are others`);
  }

  #apply(position: number, record: Uint8Array): void {
    if (position !== this.#position + 1) {
      this.#state = BEHIND;
      return;
    }
    try {
      this.engine.apply(record);
      this.#position = position;
    } catch (error) {
      this.#state = diverged(`record ${position} failed: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** The original has made a checkpoint; the copy makes the same, and from then on counts what has changed since. */
  #checkpoint(value: Uint8Array | null): void {
    const parts = this.#parts;
    this.#parts = new Map();
    if (value === null || numbersIn(value)[0] !== this.#position) {
      this.#state = BEHIND; // deleted, or the records before it came together with it
      return;
    }
    try {
      const own = new Map(this.engine.checkpoint());
      // What is as it was before is not written again.
      const other = [...parts].find(([name, bytes]) => !isSame(own.get(name) ?? null, bytes));
      if (other !== undefined)
        this.#state = diverged(`"${other[0]}" of its checkpoint at record ${this.#position} is another`);
    } catch (error) {
      this.#state = diverged(`its checkpoint failed: ${error instanceof Error ? error.message : error}`);
    }
  }
}

function diverged(why: string): CopyState {
  return { kind: "diverged", why };
}

function isSame(own: Uint8Array | null, written: Uint8Array | null): boolean {
  if (own === null || written === null) return own === written;
  return Buffer.compare(own, written) === 0;
}
