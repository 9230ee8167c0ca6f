import type { HeadwaterError } from "../errors.js";
import type { Journal, KeptEngines, Write } from "./journal.js";
import { checkKey } from "./keys.js";
import { FrameBuffer } from "./log/frame.js";
import type { Log } from "./log/log.js";
import { closed, full } from "./problems.js";

/** The table behind a journal, as the writer of the log sees it. */
export interface AppliedTable {
  get(key: string): Uint8Array | undefined;
  range(prefix: string, after?: string): Iterable<[key: string, value: Uint8Array]>;
  set(key: string, value: Uint8Array | null): void;
  /** About how much memory it takes. */
  readonly bytesInMemory: number;
  close(): Promise<void>;
}

/** Brings the table's file up to date in the background. */
export interface Background {
  /** Whether what was written until now should go to the file; asked before each frame. */
  isDue(): boolean;
  /** Everything that was appended until now is a layer of its own. */
  freeze(): void;
  /** The log has all of that layer: this is its last frame. */
  frozenUpTo(sequence: number): void;
  /** A frame is safe. */
  written(bytes: number): void;
  close(): Promise<void>;
}

export interface LoggedJournalParts {
  readonly address: string;
  readonly log: Log;
  readonly table: AppliedTable;
  readonly background: Background;
  /** What else is called in this turn of the event loop should be in the same frame. */
  readonly soon: (callback: () => void) => void;
  readonly release: () => Promise<void>;
  readonly engines?: KeptEngines | undefined;
}

type Done = (error: HeadwaterError | null) => void;

interface Group {
  readonly writes: readonly Write[];
  readonly done: Done;
}

/** Of the writes in one frame. What comes beyond it waits as the values that it is, not as copies. */
const FRAME_BYTES_MAX = 4 * 2 ** 20;
/** The table's memory; beyond it, nothing new is let in until the file has some of it. */
const MEMORY_BYTES_MAX = 512 * 2 ** 20;

/**
 * A journal: groups are gathered while as many frames are on their way as the log takes, and become the next frame, so a sync is
 * shared by all who wait for one. They are applied to the table at once.
 */
export class LoggedJournal implements Journal {
  readonly #parts: LoggedJournalParts;
  #gathering = new FrameBuffer();
  readonly #spares: FrameBuffer[] = [];
  /** Those whose writes are gathered. */
  #waiting: Done[] = [];
  /** Groups that have to wait for a later frame. */
  readonly #later: Group[] = [];
  /** How many of the later ones belong to a frozen layer, whose last frame must not hold others; null if there is none. */
  #layerLeft: number | null = null;
  /** Frames that are on their way to the log. */
  #inFlight = 0;
  #isScheduled = false;
  #failure: HeadwaterError | null = null;
  #closing: Promise<void> | null = null;
  #onRest: (() => void) | null = null;

  constructor(parts: LoggedJournalParts) {
    this.#parts = parts;
  }

  get engines(): KeptEngines | undefined {
    return this.#parts.engines;
  }

  append(writes: readonly Write[], done: Done): void {
    const refusal = this.#closing === null ? this.#failure : closed(this.#parts.address);
    if (refusal !== null) {
      queueMicrotask(() => done(refusal));
      return;
    }
    const { table } = this.#parts;
    if (this.#later.length > 0 || this.#layerLeft !== null || this.#gathering.length >= FRAME_BYTES_MAX) {
      for (const { key } of writes) checkKey(key);
      this.#later.push({ writes, done });
    } else {
      this.#gathering.addAll(writes);
      this.#waiting.push(done);
    }
    for (const { key, value } of writes) table.set(key, value);
    if (this.#inFlight < this.#parts.log.framesMax) this.#schedule();
  }

  refusal(): HeadwaterError | null {
    const { log, table, address } = this.#parts;
    if (!log.isFull && table.bytesInMemory < MEMORY_BYTES_MAX) return null;
    return full(address);
  }

  get(key: string): Uint8Array | undefined {
    this.#checkOpen();
    return this.#parts.table.get(key);
  }

  *range(prefix: string, after = ""): Iterable<[key: string, value: Uint8Array]> {
    this.#checkOpen();
    yield* this.#parts.table.range(prefix, after);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Lets the background work when no group waits for a frame. */
  tidyUp(): void {
    const { log, background } = this.#parts;
    if (this.#inFlight > 0 || this.#hasWork() || this.#layerLeft !== null || this.#failure !== null) return;
    background.freeze();
    background.frozenUpTo(log.last);
  }

  /** Another opening has the log now, and no frame has shown it yet. */
  fail(failure: HeadwaterError): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    const waiting = [...this.#waiting.splice(0), ...this.#later.splice(0).map(({ done }) => done)];
    if (this.#inFlight === 0) this.#onRest?.();
    for (const done of waiting) done(failure);
  }

  async #close(): Promise<void> {
    const { log, table, background, release, address } = this.#parts;
    if (this.#hasWork() || this.#inFlight > 0) {
      const rest = new Promise<void>((resolve) => {
        this.#onRest = resolve;
        this.#goOn();
      });
      // What waits for room cannot be waited for.
      if (log.isFull) this.fail(full(address));
      await rest;
    }
    try {
      await background.close();
      await log.close(this.#failure === null);
    } finally {
      await table.close();
      await release();
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#parts.soon(() => {
      this.#isScheduled = false;
      this.#goOn();
    });
  }

  #hasWork(): boolean {
    return this.#failure === null && (this.#waiting.length > 0 || this.#later.length > 0);
  }

  #goOn(): void {
    while (this.#hasWork() && this.#inFlight < this.#parts.log.framesMax) this.#write();
    if (this.#inFlight === 0 && !this.#hasWork()) this.#onRest?.();
  }

  /** One frame with what was gathered. */
  #write(): void {
    const { log, background } = this.#parts;
    this.#fill();
    if (this.#layerLeft === null && background.isDue()) {
      background.freeze();
      this.#layerLeft = this.#later.length;
    }
    const isLayerComplete = this.#layerLeft === 0;
    if (isLayerComplete) this.#layerLeft = null;
    const frame = this.#gathering;
    const settled = this.#waiting;
    this.#gathering = this.#spares.pop() ?? new FrameBuffer();
    this.#waiting = [];
    this.#inFlight += 1;
    const { length } = frame;
    const done = (error: HeadwaterError | null) => {
      frame.clear();
      this.#spares.push(frame);
      this.#inFlight -= 1;
      if (error !== null) return this.#failed(error, settled);
      background.written(length);
      if (isLayerComplete) background.frozenUpTo(log.last);
      // First, so that the disk is busy while waiting callers go on.
      this.#fill();
      this.#goOn();
      for (const each of settled) each(null);
    };
    if (frame.writes > 0 || log.hasBarrier) log.append(frame, done);
    else done(log.check());
  }

  #failed(error: HeadwaterError, settled: readonly Done[]): void {
    const failure = this.#failure ?? error;
    for (const done of settled) done(failure);
    this.fail(failure);
    if (this.#inFlight === 0) this.#onRest?.();
  }

  /** What had to wait, as far as it fits into the next frame. */
  #fill(): void {
    const later = this.#later;
    let taken = 0;
    for (; taken < later.length && this.#gathering.length < FRAME_BYTES_MAX; taken++) {
      if (this.#layerLeft === 0) break;
      const { writes, done } = later[taken] as Group;
      this.#gathering.addAll(writes);
      this.#waiting.push(done);
      if (this.#layerLeft !== null) this.#layerLeft -= 1;
    }
    later.splice(0, taken);
  }

  #checkOpen(): void {
    if (this.#closing !== null) throw closed(this.#parts.address);
  }
}
