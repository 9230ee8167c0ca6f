import type { Schema } from "../columns/index.js";
import type { ChosenCoordination, GraphEngine, PartitionHold } from "../graph/index.js";

/** A stream, table, query or view as its tenant sees it. */
export interface Described {
  readonly name: string;
  readonly kind: "stream" | "table" | "query" | "view";
  readonly columns: Schema;
  /** The numbers of the first row that is retained, and of the next row to come. */
  readonly first: number;
  readonly next: number;
  readonly watermark: number | null;
  readonly memoryBytes: number;
  readonly sql: string | null;
  readonly inputs: readonly string[];
  /** The columns by which a table or a view is read; `null` if all of them. */
  readonly key: readonly number[] | null;
  readonly isAppendOnly: boolean;
  /** The column whose values the watermark follows. */
  readonly timeColumn: number | null;
  readonly coordination: ChosenCoordination | null;
  readonly partitions: number;
  /** For a stream whose partitions are sealed: by which columns and producers, and what is held for open ones. */
  readonly seals: PartitionHold["described"] | null;
  /** For a query that is given whole partitions: the columns of its input that name them. */
  readonly sealedOn: readonly string[] | null;
  /** Where it reads several streams: the columns of each that name the same partition. */
  readonly sealedTogether: Readonly<Record<string, readonly string[]>> | null;
  /** Rows are known by an id, and come once. */
  readonly hasEventIds: boolean;
  /** The queries that read it. */
  readonly readers: readonly string[];
  readonly late: number;
  readonly errors: number;
  readonly producers: readonly { readonly name: string; readonly sequence: number | null }[];
}

export function describe({ nodes }: GraphEngine): readonly Described[] {
  const readersOf = (name: string) => nodes.readersOf(name).map(({ definition }) => definition.name);
  const sources = nodes.sources.map(({ definition, channel, producers, hold, memoryBytes }): Described => {
    const { name, kind, columns, time, origin, eventId } = definition;
    const { key } = origin ?? definition;
    return {
      ...{ name, kind, columns, key: kind === "table" ? key : null, memoryBytes },
      ...{ first: channel.log.first, next: channel.log.next, watermark: channel.watermark },
      ...{ sql: null, inputs: [], isAppendOnly: kind === "stream", readers: readersOf(name) },
      ...{ timeColumn: time?.column ?? null, coordination: null, partitions: 1 },
      ...{ late: 0, errors: 0, seals: hold?.described ?? null, sealedOn: null, sealedTogether: null },
      hasEventIds: eventId !== null,
      producers: producers.described.map(({ name: producer, sequence }) => ({ name: producer, sequence })),
    };
  });
  const queries = nodes.queries.map((node): Described => {
    const { name, kind, sql, inputs, key, coordination, partitions } = node.definition;
    const { out, late, errors, isAppendOnly, memoryBytes, spec } = node;
    return {
      ...{ name, kind, sql, inputs, key, isAppendOnly, memoryBytes, columns: out.schema },
      ...{ timeColumn: spec.timeColumn, coordination, partitions },
      ...{ first: out.log.first, next: out.log.next, watermark: out.watermark, readers: readersOf(name) },
      ...{ late: late.log.next - 1, errors: errors.log.next - 1, producers: [], seals: null },
      sealedOn: node.definition.sealedOn ?? null,
      sealedTogether: node.definition.sealedTogether ?? null,
      hasEventIds: false,
    };
  });
  return [...sources, ...queries];
}
