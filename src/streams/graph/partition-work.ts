import { invariant } from "../../errors.js";
import { encodePartitionCommand } from "./partition-engine.js";
import type { QueryNode } from "./query-node.js";

/** What partitions have to do: for each partition, its records in order. */
export type PartitionRecords = readonly (readonly Uint8Array[])[];

/** A record that some partitions were given. */
interface Told {
  readonly partitions: number;
  /** The query whose round it is; `null` if nothing comes back that matters. */
  readonly query: string | null;
}

/** What a command asks of partitions, and who is waiting for which reply. */
export class PartitionWork {
  #told: Told[] = [];
  #records: Uint8Array[][] = [];

  define({ definition, inputs }: QueryNode): void {
    const { name: query, partitions } = definition;
    const record = encodePartitionCommand({ kind: "define", query, definition, inputs });
    this.#tell({ partitions, query: null }, () => record);
  }

  remove({ definition: { name: query, partitions } }: QueryNode): void {
    const record = encodePartitionCommand({ kind: "remove", query });
    this.#tell({ partitions, query: null }, () => record);
  }

  /** Takes the rounds that a query has dispatched. */
  run(node: QueryNode): void {
    const { name: query, partitions } = node.definition;
    for (const round of node.takeDispatched())
      this.#tell({ partitions, query }, (i) =>
        encodePartitionCommand({ kind: "run", query, round: round[i] ?? new Uint8Array() }),
      );
  }

  #tell(told: Told, record: (partition: number) => Uint8Array): void {
    this.#told.push(told);
    for (let i = 0; i < told.partitions; i++) (this.#records[i] ??= []).push(record(i));
  }

  /** What there is to do, which is to be done before the next command; `null` if nothing. */
  take(): PartitionRecords | null {
    const records = this.#records;
    this.#records = [];
    return records.length === 0 ? null : records;
  }

  /** The replies to what was taken, by query, in the order in which the rounds were dispatched. */
  replied(replies: PartitionRecords): readonly { readonly query: string; readonly results: Uint8Array[] }[] {
    const told = this.#told;
    this.#told = [];
    const next = replies.map(() => 0);
    return told.flatMap(({ partitions, query }) => {
      const results = Array.from({ length: partitions }, (_, i) => {
        const at = next[i] ?? 0;
        next[i] = at + 1;
        const reply = replies[i]?.[at];
        invariant(reply !== undefined, "every record that a partition was given has a reply");
        return reply;
      });
      return query === null ? [] : [{ query, results }];
    });
  }
}
