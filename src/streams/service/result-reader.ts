import { HeadwaterError } from "../../errors.js";
import type { Ref } from "../../model/refs.js";
import { type Batch, decodeBatch } from "../columns/index.js";
import { writerOf } from "../outputs/index.js";
import type { NumberedRow, ResultRow } from "../typed/index.js";
import type { Graph } from "./contexts.js";
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

/** Reads the logs of one graph, and waits for them to grow. A page is read when the one before it was taken. */
export class ResultReader {
  readonly #graph: Ref<Graph>;
  readonly #readers = new WaitingReaders();
  #isClosed = false;

  constructor(graph: Ref<Graph>) {
    this.#graph = graph;
  }

  /** Wakes readers that wait for these streams. */
  grown(names: Iterable<string>): void {
    this.#readers.grown(names);
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
    const rows: NumberedLine[] = [];
    for (const { first, batch } of await this.#batches(name, from)) {
      const lines =
        decimals === "number"
          ? writerOf("json", batch.schema).lines(batch)
          : Array.from({ length: batch.rows }, (_, i) => JSON.stringify(rowAt(batch, i)));
      for (const [i, json] of lines.entries())
        if (first + i >= from) rows.push({ number: first + i, weight: batch.weight(i), json });
    }
    return { rows, next: (rows.at(-1)?.number ?? from - 1) + 1 };
  }

  async *follow(
    name: string,
    { from, signal, decimals = "number" }: FollowOptions & { readonly decimals?: Decimals } = {},
  ): AsyncGenerator<readonly NumberedLine[]> {
    yield* this.#following(name, from, signal, (at) => this.page(name, at, { decimals }));
  }

  async *subscribe<S extends string>(
    stream: S,
    { from, signal }: FollowOptions = {},
  ): AsyncGenerator<NumberedRow<ResultRow<S>>> {
    const look = async (at: number) => {
      const rows: NumberedRow<ResultRow<S>>[] = [];
      for (const { first, batch } of await this.#batches(stream, at))
        for (let i = Math.max(0, at - first); i < batch.rows; i++)
          rows.push({ number: first + i, weight: batch.weight(i), row: rowAt(batch, i) as ResultRow<S> });
      return { rows, next: (rows.at(-1)?.number ?? at - 1) + 1 };
    };
    for await (const rows of this.#following(stream, from, signal, look)) yield* rows;
  }

  async #batches(name: string, from: number): Promise<{ readonly first: number; readonly batch: Batch }[]> {
    const page = await this.#graph.rows(name, from, PAGE_BYTES);
    if (from < page.first)
      throw new HeadwaterError(
        "HW-5405",
        `rows of "${name}" before number ${page.first} are not retained any more, and number ${from} was asked for.`,
      );
    return page.segments.map(({ first, bytes }) => ({
      first,
      batch: decodeBatch(Buffer.from(bytes), page.columns, Number.POSITIVE_INFINITY),
    }));
  }

  async *#following<T>(
    name: string,
    from: number | undefined,
    signal: AbortSignal | undefined,
    look: (at: number) => Promise<{ readonly rows: readonly T[]; readonly next: number }>,
  ): AsyncGenerator<readonly T[]> {
    let at = from ?? (await this.#graph.rows(name, Number.MAX_SAFE_INTEGER, 1)).next;
    let growth = this.#readers.growth(name, signal);
    try {
      while (signal?.aborted !== true && !this.#isClosed) {
        const { rows, next } = await look(at);
        at = next;
        if (rows.length > 0) yield rows;
        else {
          await growth.promise;
          growth = this.#readers.growth(name, signal); // before the next look: what comes between the two is heard of
        }
      }
    } finally {
      growth.stop();
    }
  }
}
