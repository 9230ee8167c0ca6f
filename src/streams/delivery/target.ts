import type { Schema } from "../columns/index.js";

/** Rows that are delivered together. */
export interface Batched {
  readonly stream: string;
  /** The number of its first row, and the number behind its last. */
  readonly first: number;
  readonly next: number;
  /** One line per row, in the format of the target, without line ends. */
  readonly lines: readonly string[];
  readonly schema: Schema;
}

/** Where rows go. A target sends one batch at a time, in the order of the numbers. */
export interface OutputTarget {
  readonly format: "ndjson" | "csv";
  /**
   * Does the target's receiver tell batches apart by their first number? Then a batch keeps its end, once it was sent for the first
   * time, also over a restart.
   */
  readonly isKeyed: boolean;
  /** Before the first batch, with the mark that the last delivered batch has left. */
  open?(mark: string | null): Promise<void>;
  /**
   * Resolves when the batch is delivered, with a mark to be kept with the position. Rejects with `Undeliverable` if trying again is of
   * no use, with `TryLater` if the target has said when to, and with anything else if it failed.
   */
  send(batch: Batched, signal: AbortSignal): Promise<string | null>;
  close(): Promise<void>;
}

/** The target has refused a batch, and will refuse it again. */
export class Undeliverable extends Error {}

/** The target has answered that it cannot take the batch now. */
export class TryLater extends Error {
  constructor(
    message: string,
    /** When it wants to be asked again; `null` if it does not say. */
    readonly afterMs: number | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The key of a batch, the same for each attempt at it. */
export function keyOf({ stream, first }: Pick<Batched, "stream" | "first">): string {
  return `${stream}:${first}`;
}
