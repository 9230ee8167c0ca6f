import { HeadwaterError, invariant } from "../errors.js";
import { collectionMaker } from "./collections.js";
import { noteTracked } from "./context.js";

/**
 * State that an engine of the program keeps as it likes, in memory, once for each context: keyed tables, indexes, whatever
 * would be too slow as plain or tracked data. The runtime knows the records that have led the engine to where it is, and
 * now and then a checkpoint of it. It writes the records to the journal with the events that applied them; after a rollback,
 * a restart or a migration it builds the engine again from the last checkpoint and the records behind that.
 */
export interface OwnedEngine<Result = unknown> {
  /**
   * The only way to change the engine. Deterministic: the same records give the same state and the same results, without a
   * clock, chance or I/O. Check a record before it is applied: if this throws, the record is not kept, and the engine,
   * which may be half changed, is built again when it is next used.
   */
  apply(record: Uint8Array): Result;
  /**
   * What has changed since the last checkpoint, or since `load`, as named parts; null deletes a part. The runtime keeps the
   * bytes: they must not change any more.
   */
  checkpoint(): Iterable<readonly [name: string, bytes: Uint8Array | null]>;
  /** A fresh engine takes all parts that its checkpoints have left, in no particular order. It must not change the bytes. */
  load(parts: Iterable<readonly [name: string, bytes: Uint8Array]>): void;
  /** About how much memory the engine takes. */
  readonly memoryBytes: number;
  /** It has given up much, which its last checkpoint still holds: then the next is made before the next record. */
  readonly isCheckpointDue?: boolean;
  /**
   * A number that stands for the results of all records so far. An engine that has one promises that the same records give the same number
   * and, at the same positions, the same checkpoints, also if it was loaded in between. Then the standbys of a cluster keep copies of
   * it up to date, and compare them (docs/cluster.md).
   */
  readonly digest?: number;
}

/** A field of a context that holds an engine, as `owned` declares it. */
export interface Owned<E extends OwnedEngine> {
  /** How many records the engine has applied. */
  readonly position: number;
  /** Applies a record. The runtime keeps the bytes: they must not change any more. */
  apply(record: Uint8Array): ReturnType<E["apply"]>;
  /** Looks at the engine, at once. What looks at it must not change it, and must not keep anything of it for later. */
  read<T>(look: (engine: E) => T): T;
}

export interface OwnedOptions {
  /**
   * A checkpoint is due when the records since the last one have so many bytes, and at least as many as the last one had.
   * 1 MB if it is not given.
   */
  readonly checkpointBytes?: number;
}

const CHECKPOINT_BYTES = 2 ** 20;

/** Declares a field of a context that holds an engine: `engine = owned(() => new Engine())`. */
export function owned<E extends OwnedEngine>(make: () => E, options: OwnedOptions = {}): Owned<E> {
  const own = collectionMaker();
  invariant(own !== null, "the runtime has said how owned fields are made");
  const { checkpointBytes = CHECKPOINT_BYTES } = options;
  const field = own.owned(make, checkpointBytes);
  if (noteTracked(field)) return field as unknown as Owned<E>;
  throw new HeadwaterError(
    "HW-1102",
    "`owned()` was called while no context is made. An engine is declared as a field of a context class, " +
      "`engine = owned(() => new Engine())`, and stays there.",
  );
}
