import type { GraphEngine, PartitionEngine } from "#src/streams/graph/index.js";

/** State that is killed now and then, and goes on from its last checkpoint and the records since. */
export class Owned<E extends GraphEngine | PartitionEngine> {
  engine: E;
  readonly #parts = new Map<string, Uint8Array>();
  #records: Uint8Array[] = [];

  constructor(readonly make: () => E) {
    this.engine = make();
  }

  apply(record: Uint8Array): ReturnType<E["apply"]> {
    this.#records.push(Uint8Array.from(record));
    return this.engine.apply(record) as ReturnType<E["apply"]>;
  }

  checkpoint(): void {
    for (const [name, bytes] of this.engine.checkpoint())
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
