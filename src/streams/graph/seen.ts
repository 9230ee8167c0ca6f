import { hash } from "node:crypto";
import type { CheckpointPart, OwnParts } from "./parts.js";
import { partsBelow } from "./parts.js";
import { Segments } from "./segments.js";

const HASH_BYTES = 16;
/** What a value takes in memory: a string of 16 characters and its place in a set. */
const VALUE_BYTES = 72;

/**
 * Values that were seen within a time limit. A value is kept as 128 bits of its SHA-256: two different ones collide less often
 * than memory fails.
 */
export class SeenValues {
  readonly #seen = new Set<string>();
  readonly #log = new Segments();

  constructor(
    readonly keepMs: number,
    /** Of the names of its checkpoint parts. */
    readonly prefix: string,
  ) {}

  get memoryBytes(): number {
    return VALUE_BYTES * this.#seen.size + this.#log.bytes;
  }

  get size(): number {
    return this.#seen.size;
  }

  has(hashed: string): boolean {
    return this.#seen.has(hashed);
  }

  add(hashes: readonly string[], round: number, timeMs: number): void {
    if (hashes.length === 0) return;
    for (const each of hashes) this.#seen.add(each);
    this.#log.append(Buffer.from(hashes.join(""), "latin1"), hashes.length, round, timeMs);
  }

  expire(timeMs: number): void {
    for (const { bytes } of this.#log.trim(Number.POSITIVE_INFINITY, timeMs - this.keepMs))
      for (const each of hashesIn(bytes)) this.#seen.delete(each);
  }

  get position() {
    return this.#log.position;
  }

  checkpoint(): Iterable<CheckpointPart> {
    return this.#log.checkpoint(this.prefix);
  }

  load(position: Segments["position"], parts: OwnParts): void {
    this.#log.load(
      position,
      partsBelow(parts, this.prefix).map(([, bytes]) => bytes),
    );
    for (const { bytes } of this.#log.all) for (const each of hashesIn(bytes)) this.#seen.add(each);
  }
}

export function hashOf(text: string): string {
  return hash("sha256", text, "buffer").toString("latin1", 0, HASH_BYTES);
}

function* hashesIn(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length; at += HASH_BYTES) yield bytes.toString("latin1", at, at + HASH_BYTES);
}
