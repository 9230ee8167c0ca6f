import type { Batch, Schema } from "../columns/index.js";
import { writerOf } from "../outputs/index.js";
import type { OutputDefinition } from "./definition.js";
import { type Batched, type OutputTarget, TryLater, Undeliverable } from "./target.js";

/** How far an output has come. It is kept, and changed in one event each time. */
export interface DeliveryState {
  /** The number of the next row to deliver. */
  readonly position: number;
  /** The end of the batch that is being delivered, where its receiver knows batches by their first number. */
  readonly until: number | null;
  /** What the target has said of the last batch, for when it is opened again. */
  readonly mark: string | null;
  /** Rows that were no longer retained when their turn came. */
  readonly skipped: number;
}

/** Rows of a log from a number on, and the numbers of the first row that it retains and of the next to come. */
export interface LogPage {
  readonly schema: Schema;
  readonly segments: readonly { readonly first: number; readonly batch: Batch }[];
  readonly first: number;
  readonly next: number;
}

/** What a delivery pulls from, and where it leaves its state. */
export interface DeliveryPort {
  state(): Promise<DeliveryState>;
  read(from: number): Promise<LogPage>;
  /** Resolves when the log has grown since the call, or the signal is aborted. */
  growth(signal: AbortSignal): { readonly promise: Promise<void>; stop(): void };
  advance(state: DeliveryState): Promise<void>;
  /** Keeps a batch as a dead letter and goes on behind it, in one event. Rejects if no more dead letters fit. */
  bury(batch: Batched, error: string, state: DeliveryState): Promise<void>;
  open(): Promise<OutputTarget>;
  warn(message: string): void;
}

const BACKOFF_MS_MAX = 60_000;
const BATCH_CHARACTERS = 256 * 1024;

/** Delivers the rows of one stream to one target, one batch after the other, until it is stopped. */
export class OutputDelivery {
  readonly #stop = new AbortController();
  #target: OutputTarget | null = null;
  #state: DeliveryState = { position: 1, until: null, mark: null, skipped: 0 };
  #running: Promise<void> = Promise.resolve();
  /** Failures in a row, and what the last one was. */
  attempts = 0;
  /** Of those, the answers that the target cannot take the batch now. A target that is away says nothing about it. */
  #answers = 0;
  lastError: { readonly message: string; readonly atMs: number } | null = null;
  delivered = 0;

  constructor(
    readonly definition: OutputDefinition,
    readonly port: DeliveryPort,
  ) {}

  get state(): DeliveryState {
    return this.#state;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#closed();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let following: Batched | null = null;
    let isKnown = false;
    while (!signal.aborted) {
      const growth = this.port.growth(signal);
      try {
        if (!isKnown) this.#state = await this.port.state();
        isKnown = true;
        const batch: Batched | null = following ?? (await this.#next(this.#state));
        following = null;
        if (batch === null) await growth.promise;
        else following = await this.#deliver(batch);
      } catch (error) {
        following = null;
        isKnown = false; // what was kept decides
        await this.#failed(error);
      } finally {
        growth.stop();
      }
    }
  }

  /** The next batch. It ends where it ended when it was first sent, or where the rows or the room for them do. */
  async #next({ position, until, skipped }: DeliveryState, isAhead = false): Promise<Batched | null> {
    const { schema, segments, first } = await this.port.read(position);
    if (first > position) {
      if (isAhead) return null;
      const lost = first - position;
      this.port.warn(
        `${lost} rows of "${this.definition.stream}" from number ${position} on are not retained any more: the output "${this.definition.name}" was too far behind, and goes on at ${first}.`,
      );
      const state = { ...this.#state, position: first, until: null, skipped: skipped + lost };
      await this.port.advance(state);
      this.#state = state;
      return await this.#next(state);
    }
    const { format } = await this.#opened();
    const lines: string[] = [];
    let size = 0;
    for (const { first: at, batch } of segments)
      for (const [i, line] of linesOf(format, schema, batch, at).entries()) {
        const number = at + i;
        if (number < position) continue;
        const isFull =
          lines.length >= this.definition.batchRows ||
          (lines.length > 0 && size + line.length > BATCH_CHARACTERS);
        if (until === null ? isFull : number >= until) return this.#batch(position, lines, schema);
        lines.push(line);
        size += line.length + 1;
      }
    if (until !== null && position + lines.length < until)
      return this.#batch(position, lines, schema, await this.#rest(position + lines.length, until));
    return lines.length === 0 ? null : this.#batch(position, lines, schema);
  }

  /** A page can end before a batch does that was announced over two of them. */
  async #rest(from: number, until: number): Promise<readonly string[]> {
    const lines: string[] = [];
    while (from + lines.length < until) {
      const { schema, segments } = await this.port.read(from + lines.length);
      const { format } = await this.#opened();
      const before = lines.length;
      for (const { first, batch } of segments)
        for (const [i, line] of linesOf(format, schema, batch, first).entries())
          if (first + i === from + lines.length && first + i < until) lines.push(line);
      if (lines.length === before)
        throw new Error(`rows up to number ${until} were announced, and are not there`);
    }
    return lines;
  }

  #batch(first: number, lines: readonly string[], schema: Schema, more: readonly string[] = []): Batched {
    const all = [...lines, ...more];
    return { stream: this.definition.stream, first, next: first + all.length, lines: all, schema };
  }

  /** Sends a batch until it is delivered or given up, and returns the one behind it if its end was announced along the way. */
  async #deliver(batch: Batched): Promise<Batched | null> {
    const target = await this.#opened();
    if (target.isKeyed && this.#state.until !== batch.next)
      await this.#advance({ ...this.#state, until: batch.next });
    let mark: string | null;
    try {
      mark = await target.send(batch, this.#signalOfAttempt());
    } catch (error) {
      if (error instanceof TryLater) this.#answers++;
      const isOver =
        error instanceof Undeliverable ||
        (error instanceof TryLater && this.#answers >= this.definition.attempts);
      if (!isOver) throw error;
      const after = { ...this.#state, position: batch.next, until: null };
      await this.port.bury(batch, error.message, after);
      this.#state = after;
      this.attempts = 0;
      this.#answers = 0;
      this.lastError = { message: error.message, atMs: Date.now() };
      return null;
    }
    this.attempts = 0;
    this.#answers = 0;
    this.delivered += batch.lines.length;
    const after: DeliveryState = { ...this.#state, position: batch.next, until: null, mark };
    const following = target.isKeyed ? await this.#next(after, true).catch(() => null) : null;
    await this.#advance({ ...after, until: following?.next ?? null });
    return following;
  }

  async #advance(state: DeliveryState): Promise<void> {
    await this.port.advance(state);
    this.#state = state;
  }

  #signalOfAttempt(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, AbortSignal.timeout(this.definition.timeoutMs)]);
  }

  async #opened(): Promise<OutputTarget> {
    if (this.#target !== null) return this.#target;
    const target = await this.port.open();
    await target.open?.(this.#state.mark);
    this.#target = target;
    return target;
  }

  async #closed(): Promise<void> {
    const target = this.#target;
    this.#target = null;
    await target?.close().catch(() => {});
  }

  /** Waits twice as long after each failure, by chance less, so that outputs do not come back all at once. */
  async #failed(error: unknown): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.attempts++;
    const message = error instanceof Error ? error.message : String(error);
    this.lastError = { message, atMs: Date.now() };
    if (!(error instanceof TryLater)) await this.#closed();
    const longest = Math.min(
      BACKOFF_MS_MAX,
      this.definition.backoffMs * 2 ** Math.min(this.attempts - 1, 20),
    );
    const asked = error instanceof TryLater ? error.afterMs : null;
    const waitMs = asked ?? longest * (0.5 + Math.random() / 2);
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#stop.signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      this.#stop.signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** Each row with its number, and with its weight, which is negative for a row that is taken back. */
function linesOf(format: OutputTarget["format"], schema: Schema, batch: Batch, first: number): string[] {
  const rows = writerOf(format === "csv" ? "csv" : "json", schema).lines(batch);
  if (format === "csv") return rows.slice(1).map((row, i) => `${first + i},${batch.weight(i)},${row}`);
  return rows.map((row, i) => `{"number":${first + i},"weight":${batch.weight(i)},"row":${row}}`);
}
