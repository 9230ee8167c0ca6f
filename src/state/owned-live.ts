import { HeadwaterError } from "../errors.js";
import type { Owned, OwnedEngine } from "../model/owned.js";
import { isThenable } from "../model/watched.js";
import { broken, checkpointed, rebuilt } from "./owned-engine.js";
import { CHECKPOINT, checkpointValue, DIGEST, OwnedStore, type Seat } from "./owned-store.js";
import type { Content } from "./tracked-content.js";
import { Live } from "./tracked-live.js";
import { storeOf, Version } from "./tracked-version.js";

/** What one record may have. It is one value in the journal, and in memory until the next checkpoint. */
const RECORD_BYTES_MAX = 16 * 2 ** 20;

/** A checkpoint is made when the records behind the last one have this many times its bytes, but so many at most if it is smaller. */
const APART = 4;
const APART_BYTES_MAX = 16 * 2 ** 20;

/** A record counts as so many bytes more than it has: short ones take room, too. */
const RECORD_BYTES_MORE = 200;

/**
 * An owned field as application code holds it: a version, and the way to the engine. There is one engine for all versions of
 * a field. It is at the version to which it has applied the last record. An event that holds another version (because events
 * were rolled back, or because the field was just loaded) has the engine built again from what that version holds.
 */
export class LiveOwned extends Live implements Owned<OwnedEngine> {
  readonly kind = "owned";

  /** `make` is null in a view of the field. */
  constructor(
    readonly make: (() => OwnedEngine) | null,
    readonly checkpointBytes: number,
  ) {
    super();
  }

  protected override empty(): Version {
    return Version.root(this.kind, new OwnedStore());
  }

  protected override reach(): OwnedStore | null {
    return super.reach() as OwnedStore | null;
  }

  get position(): number {
    return this.reach()?.position ?? this.version.first;
  }

  apply(record: Uint8Array): unknown {
    this.refuseView();
    this.#check(record);
    const engine = this.#engine();
    this.#checkpointIfDue();
    const result = this.#use((seat) => {
      try {
        const made = engine.apply(record);
        if (isThenable(made)) throw broken(this.where, "its `apply` returned a promise", undefined);
        return made;
      } catch (error) {
        seat.clear();
        throw error;
      }
    });
    const open = this.open();
    const store = open.store as OwnedStore;
    store.put(open, store.position + 1, record);
    if (engine.digest !== undefined) store.put(open, DIGEST, checkpointValue(store.position, engine.digest));
    store.seat.at = open;
    return result;
  }

  read<T>(look: (engine: never) => T): T {
    const engine = this.#engine();
    const result = this.#use(() => look(engine as never));
    if (isThenable(result)) throw broken(this.where, "`read` was given an async function", undefined);
    return result;
  }

  /**
   * A checkpoint that is due is made before the first record of an event, and is part of its changes. So every record is in the journal
   * for some time, and a copy of the engine that follows the journal needs no checkpoint to go on.
   */
  #checkpointIfDue(): void {
    const { version } = this;
    if (version.isOpen || !this.#isDue(version)) return;
    const open = this.open();
    this.#use((seat) => checkpointed(open, seat, this.where));
    (open.store as OwnedStore).seat.at = open;
  }

  #isDue(version: Version): boolean {
    const store = storeOf(version) as OwnedStore;
    if (store.seat.engine?.isCheckpointDue === true) return true;
    const bytes = store.recordBytes + store.records * RECORD_BYTES_MORE;
    const last = store.checkpointBytes;
    return bytes >= Math.max(this.checkpointBytes, last, Math.min(APART * last, APART_BYTES_MAX));
  }

  /** The engine, at the version that this holds. */
  #engine(): OwnedEngine {
    const { version, make } = this;
    if (make === null) throw this.#isView();
    const { seat } = storeOf(version) as OwnedStore;
    if (seat.isBusy)
      throw broken(this.where, "it was used while it, or a look at it, was running", undefined);
    if (seat.at === version && seat.engine !== null) return seat.engine;
    seat.clear();
    return seat.put(rebuilt(version, make, this.where), version);
  }

  #use<T>(run: (seat: Seat) => T): T {
    const { seat } = storeOf(this.version) as OwnedStore;
    seat.isBusy = true;
    try {
      return run(seat);
    } finally {
      seat.isBusy = false;
    }
  }

  #check(record: unknown): void {
    const why = !(record instanceof Uint8Array)
      ? "it is no Uint8Array"
      : record.byteLength > RECORD_BYTES_MAX
        ? `it has ${record.byteLength} bytes, and ${RECORD_BYTES_MAX} is the most`
        : null;
    if (why === null) return;
    throw new HeadwaterError(
      "HW-1109",
      `${this.where} was given a record that it cannot keep: ${why}. Encode what is to be done as bytes, and apply a ` +
        "large batch in several records.",
    );
  }

  #isView(): HeadwaterError {
    return new HeadwaterError(
      "HW-1111",
      `${this.where} was read through a view of its context. An engine is read by the methods of its own context alone: ` +
        "call one of them, or keep what others are to see in a plain or tracked field beside it.",
    );
  }

  /** What stands for it where it is shown. */
  override plain(): { position: number } {
    return { position: this.position };
  }
}

/** What stands for a version where only its position matters: that of a checkpoint, without its parts. */
export function ownedSummary(version: Version): readonly Content[] {
  const position = version.store?.first ?? version.first;
  return [{ key: CHECKPOINT, sequence: 0, value: checkpointValue(position, 0) }];
}
