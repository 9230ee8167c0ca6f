import { HeadwaterError } from "../../errors.js";
import { decodeBatch } from "../columns/index.js";
import { writerOf } from "../outputs/index.js";
import type { NumberedRow, ResultRow } from "../typed/index.js";
import type { RowsPage } from "./graph-reads.js";
import type { ReadGraph } from "./read-graph.js";
import { WaitingReaders } from "./readers.js";
import { rowAt } from "./row-values.js";

const PAGE_BYTES = 1024 * 1024;

/** Decimals in lines of JSON: numbers with all their digits, or texts for readers whose numbers are doubles. */
export type Decimals = "number" | "text";

/** Where to begin, by number, and when to end. */
export interface FollowOptions {
  readonly from?: number;
  readonly signal?: AbortSignal;
}

export interface NumberedLine {
  readonly number: number;
  readonly weight: number;
  readonly json: string;
}

/** Numbered rows, and the number that the next page begins with. */
export interface ResultPage {
  readonly rows: readonly NumberedLine[];
  readonly next: number;
}

/** What a look at a stream has found; the last rows that there were, if `isLast`. */
interface Look<T> {
  readonly rows: readonly T[];
  readonly next: number;
  readonly isLast: boolean;
}

/** Reads the logs of one graph, and waits for them to grow. A page is read when the one before it was taken. */
export class ResultReader {
  readonly #graph: ReadGraph;
  readonly #readers = new WaitingReaders();
  #isClosed = false;

  constructor(graph: ReadGraph) {
    this.#graph = graph;
  }

  /** Wakes readers that wait for these streams. */
  grown(names: Iterable<string>): void {
    this.#readers.grown(names);
  }

  /** Wakes all readers. */
  wake(): void {
    this.#readers.wakeAll();
  }

  /** Resolves when the stream has grown since the call, or with the signal. */
  growth(name: string, signal: AbortSignal): { readonly promise: Promise<void>; stop(): void } {
    return this.#readers.growth(name, signal);
  }

  get areWaiting(): boolean {
    return this.#readers.areWaiting;
  }

  close(): void {
    this.#isClosed = true;
    this.#readers.wakeAll();
  }

  async page(
    name: string,
    from: number,
    { decimals = "number" }: { readonly decimals?: Decimals } = {},
  ): Promise<ResultPage> {
    const { rows, next } = linesOf(await this.#graph.rowsNow(name, from, PAGE_BYTES), name, from, decimals);
    return { rows, next };
  }

  async *follow(
    name: string,
    { from, signal, decimals = "number" }: FollowOptions & { readonly decimals?: Decimals } = {},
  ): AsyncGenerator<readonly NumberedLine[]> {
    yield* this.#following(name, from, signal, async (at) =>
      linesOf(await this.#graph.rows(name, at, PAGE_BYTES), name, at, decimals),
    );
  }

  async *subscribe<S extends string>(
    stream: S,
    { from, signal }: FollowOptions = {},
  ): AsyncGenerator<NumberedRow<ResultRow<S>>> {
    const look = async (at: number) => {
      const rows: NumberedRow<ResultRow<S>>[] = [];
      const { batches, end } = batchesOf(await this.#graph.rows(stream, at, PAGE_BYTES), stream, at);
      for (const { first, batch } of batches)
        for (let i = Math.max(0, at - first); i < batch.rows; i++)
          rows.push({ number: first + i, weight: batch.weight(i), row: rowAt(batch, i) as ResultRow<S> });
      return looked(rows, at, end);
    };
    for await (const rows of this.#following(stream, from, signal, look)) yield* rows;
  }

  async *#following<T>(
    name: string,
    from: number | undefined,
    signal: AbortSignal | undefined,
    look: (at: number) => Promise<Look<T>>,
  ): AsyncGenerator<readonly T[]> {
    let at = from ?? (await this.#graph.rowsNow(name, Number.MAX_SAFE_INTEGER, 1)).next;
    let growth = this.#readers.growth(name, signal);
    try {
      while (signal?.aborted !== true && !this.#isClosed) {
        const { rows, next, isLast } = await look(at);
        at = next;
        if (rows.length > 0) yield rows;
        if (isLast) await growth.promise;
        else growth.stop();
        growth = this.#readers.growth(name, signal); // before the next look: what comes between the two is heard of
      }
    } finally {
      growth.stop();
    }
  }
}

function looked<T extends { readonly number: number }>(
  rows: readonly T[],
  from: number,
  end: number,
): Look<T> {
  const next = (rows.at(-1)?.number ?? from - 1) + 1;
  return { rows, next, isLast: next >= end };
}

function linesOf(page: RowsPage, name: string, from: number, decimals: Decimals): Look<NumberedLine> {
  const rows: NumberedLine[] = [];
  const { batches, end } = batchesOf(page, name, from);
  for (const { first, batch } of batches) {
    const lines =
      decimals === "number"
        ? writerOf("json", batch.schema).lines(batch)
        : Array.from({ length: batch.rows }, (_, i) => JSON.stringify(rowAt(batch, i)));
    for (const [i, json] of lines.entries())
      if (first + i >= from) rows.push({ number: first + i, weight: batch.weight(i), json });
  }
  return looked(rows, from, end);
}

/** The batches of a page of a log, and the number that the row behind the end of the log gets. */
function batchesOf(page: RowsPage, name: string, from: number) {
  if (from < page.first)
    throw new HeadwaterError(
      "HW-5405",
      `rows of "${name}" before number ${page.first} are not retained any more, and number ${from} was asked for.`,
    );
  const batches = page.segments.map(({ first, bytes }) => ({
    first,
    batch: decodeBatch(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      page.columns,
      Number.POSITIVE_INFINITY,
    ),
  }));
  return { batches, end: page.next };
}
