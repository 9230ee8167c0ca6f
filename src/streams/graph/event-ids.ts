import { hash } from "node:crypto";
import { type Batch, type Cell, gathered } from "../columns/index.js";
import type { EventId } from "./definition.js";
import type { CheckpointPart, OwnParts } from "./parts.js";
import { partsBelow } from "./parts.js";
import { Segments } from "./segments.js";

const HASH_BYTES = 16;
/** What an id takes in memory: a string of 16 characters and its place in a set. */
const ID_BYTES = 72;
const PREFIX = "ids/";

/**
 * Drops rows whose event ids were seen before, within a time limit. An id is kept as 128 bits of its SHA-256: two different ids
 * collide less often than memory fails.
 */
export class EventIds {
  readonly #seen = new Set<string>();
  readonly #log = new Segments();

  constructor(readonly id: EventId) {}

  get memoryBytes(): number {
    return ID_BYTES * this.#seen.size + this.#log.bytes;
  }

  /** The rows with new ids; the same batch if all are new. Rows without an id are new. */
  fresh(batch: Batch, round: number, timeMs: number): Batch {
    const rows: number[] = [];
    const added: string[] = [];
    for (let row = 0; row < batch.rows; row++) {
      const cell = batch.cell(row, this.id.column);
      const key = cell === null ? null : hashOf(cell);
      if (key !== null && this.#seen.has(key)) continue;
      rows.push(row);
      if (key === null) continue;
      this.#seen.add(key);
      added.push(key);
    }
    if (added.length > 0)
      this.#log.append(Buffer.from(added.join(""), "latin1"), added.length, round, timeMs);
    return rows.length === batch.rows ? batch : gathered(batch, Int32Array.from(rows), batch.schema);
  }

  expire(timeMs: number): void {
    for (const { bytes } of this.#log.trim(Number.POSITIVE_INFINITY, timeMs - this.id.keepMs))
      for (const key of keysIn(bytes)) this.#seen.delete(key);
  }

  get position() {
    return this.#log.position;
  }

  checkpoint(): Iterable<CheckpointPart> {
    return this.#log.checkpoint(PREFIX);
  }

  load(position: Segments["position"], parts: OwnParts): void {
    this.#log.load(
      position,
      partsBelow(parts, PREFIX).map(([, bytes]) => bytes),
    );
    for (const { bytes } of this.#log.all) for (const key of keysIn(bytes)) this.#seen.add(key);
  }
}

function hashOf(cell: Exclude<Cell, null>): string {
  return hash("sha256", String(cell), "buffer").toString("latin1", 0, HASH_BYTES);
}

function* keysIn(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length; at += HASH_BYTES) yield bytes.toString("latin1", at, at + HASH_BYTES);
}
