import assert from "node:assert/strict";
import type { GraphEngine, PartitionEngine } from "#src/streams/graph/index.js";

/** State that is killed now and then, and goes on from its last checkpoint and the records since. */
export class Owned<E extends GraphEngine | PartitionEngine> {
  engine: E;
  /** It is never killed, as a copy of the engine in another process is not. */
  readonly #copy: E;
  readonly #parts = new Map<string, Uint8Array>();
  #records: Uint8Array[] = [];

  constructor(readonly make: () => E) {
    this.engine = make();
    this.#copy = make();
  }

  get partCount(): number {
    return this.#parts.size;
  }

  apply(record: Uint8Array): ReturnType<E["apply"]> {
    this.#records.push(Uint8Array.from(record));
    this.#copy.apply(Uint8Array.from(record));
    const result = this.engine.apply(record) as ReturnType<E["apply"]>;
    assert.equal(this.#copy.digest, this.engine.digest, "a copy has the same digest");
    return result;
  }

  checkpoint(): void {
    const parts = [...this.engine.checkpoint()];
    assert.deepEqual(shown(this.#copy.checkpoint()), shown(parts), "a copy makes the same checkpoint");
    for (const [name, bytes] of parts)
      if (bytes === null) this.#parts.delete(name);
      else this.#parts.set(name, Uint8Array.from(bytes));
    this.#records = [];
  }

  kill(): void {
    this.engine = this.make();
    this.engine.load(this.#parts);
    for (const record of this.#records) this.engine.apply(record);
  }
}

function shown(parts: Iterable<readonly [name: string, bytes: Uint8Array | null]>) {
  return [...parts].map(([name, bytes]) => [
    name,
    bytes === null ? null : Buffer.from(bytes).toString("latin1"),
  ]);
}
