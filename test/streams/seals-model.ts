import { column, type Schema } from "#src/streams/columns/index.js";
import type { StreamDefinition } from "#src/streams/graph/index.js";

export const SCHEMA: Schema = [column("k", "text"), column("v", "int", false)];
export const KEY: Schema = SCHEMA.slice(0, 1);
export const STREAM: StreamDefinition & { readonly seals: NonNullable<StreamDefinition["seals"]> } = {
  ...{ kind: "stream", name: "s", columns: SCHEMA, key: [], time: null, eventId: null },
  retention: { bytes: 1e9, ms: null },
  seals: { columns: [0], producers: ["a", "b"], keepMs: 1e12, holdBytes: 1e9 },
};

export type ModelRow = readonly [key: string | null, v: number];

interface Open {
  readonly waitingFor: Set<string>;
  readonly sealedBy: Set<string>;
  readonly rows: ModelRow[];
}

/** Which partitions are complete, by the book, and what `GROUP BY k, v HAVING count(*) < 2` answers for them. */
export class HoldModel {
  readonly open = new Map<string | null, Open>();
  readonly #sealed = new Set<string | null>();
  readonly #answers: string[] = [];
  released = 0;

  constructor(public producers: readonly string[]) {}

  push(producer: string, rows: readonly ModelRow[], seals: readonly (string | null)[]): boolean {
    const keys = rows.map(([key]) => key);
    if (!this.producers.includes(producer)) return false;
    if (keys.some((key) => this.#sealed.has(key))) return false;
    if (keys.some((key) => this.open.get(key)?.waitingFor.has(producer) === false)) return false;
    for (const key of seals) {
      const partition = this.open.get(key);
      if (partition === undefined) continue;
      if (!partition.waitingFor.has(producer) && !partition.sealedBy.has(producer)) return false;
    }
    for (const row of rows) this.#begun(row[0]).rows.push(row);
    for (const key of seals) {
      if (this.#sealed.has(key)) continue;
      const partition = this.#begun(key);
      partition.waitingFor.delete(producer);
      partition.sealedBy.add(producer);
    }
    this.#release();
    return true;
  }

  declare(producers: readonly string[]): void {
    for (const { waitingFor } of this.open.values())
      for (const name of waitingFor) if (!producers.includes(name)) waitingFor.delete(name);
    this.producers = producers;
    this.#release();
  }

  answers(): string[] {
    return this.#answers.toSorted();
  }

  #begun(key: string | null): Open {
    const partition = this.open.get(key) ?? {
      ...{ waitingFor: new Set(this.producers), sealedBy: new Set<string>(), rows: [] },
    };
    this.open.set(key, partition);
    return partition;
  }

  #release(): void {
    for (const [key, { waitingFor, rows }] of this.open) {
      if (waitingFor.size > 0) continue;
      this.open.delete(key);
      this.#sealed.add(key);
      this.released++;
      const counts = new Map<string, number>();
      for (const row of rows) counts.set(JSON.stringify(row), (counts.get(JSON.stringify(row)) ?? 0) + 1);
      for (const [row, count] of counts) if (count < 2) this.#answers.push(row);
    }
  }
}
