import { type HeadwaterError, invariant } from "../../errors.js";
import type { FrameBuffer, FrameKind } from "../log/frame.js";
import type { Log } from "../log/log.js";
import type { Following, LogMessage, LogPort, PublishOutcome } from "./log-port.js";
import { contentsOf, type Progress, progressWith, readMessage, sealed } from "./messages.js";

export interface StreamLogParts {
  readonly port: LogPort;
  readonly epoch: number;
  /** The position of this epoch's own record. */
  readonly begin: number;
  /** A later epoch has begun: this one can write nothing more. */
  readonly fenced: (epoch: number) => HeadwaterError;
  readonly damaged: (what: string) => HeadwaterError;
  readonly closed: () => HeadwaterError;
}

type Done = (error: HeadwaterError | null) => void;

interface Outgoing {
  readonly kind: FrameKind;
  readonly content: Buffer;
  readonly number: number;
  /** Of the last message of a frame. */
  readonly done: Done | null;
  /** Where it was published for last; 0 if it was not. */
  position: number;
  hasLanded: boolean;
}

/** Messages on their way at a time. */
const IN_FLIGHT_MAX = 8;
/** A server that lags may show an earlier end; if it is the same for so long, acknowledged messages are gone. */
const STALE_LOOKS_MAX = 40;
const [RETRY_MS_MIN, RETRY_MS_MAX] = [5, 500];

/**
 * The writer of one epoch. A message is safe when it and all before it in the epoch were acknowledged, each at its own position. If one
 * is refused or no answer comes, the writer reads the log from the last safe message to its end: messages of its own that are there are
 * safe, and the others are published again behind the end. Copies that land later are void, since their numbers were
 * used (`messages.ts`). Only a later epoch is a failure.
 */
export class StreamLog implements Log {
  readonly framesMax = IN_FLIGHT_MAX;
  readonly hasBarrier = true;
  readonly isFull = false;
  readonly #parts: StreamLogParts;
  /** Not safe yet, in order. */
  readonly #outgoing: Outgoing[] = [];
  /** How many of them were published for their present positions. */
  #published = 0;
  /** Up to here the log was read or written by this epoch; the next message goes behind what is published. */
  #end: number;
  #last: number;
  #progress: Progress;
  #numbers = 0;
  #bytes = 0;
  #isLooking = false;
  #staleLooks = 0;
  #retryMs = RETRY_MS_MIN;
  #reading: Following | null = null;
  #failure: HeadwaterError | null = null;

  constructor(parts: StreamLogParts) {
    this.#parts = parts;
    this.#last = parts.begin;
    this.#end = parts.begin;
    this.#progress = { epoch: parts.epoch, number: 0 };
  }

  get last(): number {
    return this.#last;
  }

  /** Of what is safe. */
  get bytes(): number {
    return this.#bytes;
  }

  check(): HeadwaterError | null {
    return this.#failure;
  }

  append(frame: FrameBuffer, done: Done): void {
    const failure = this.#failure;
    if (failure !== null) return queueMicrotask(() => done(failure));
    const contents = contentsOf(frame);
    for (const [i, { kind, content }] of contents.entries()) {
      this.#numbers += 1;
      const isLast = i === contents.length - 1;
      this.#outgoing.push({
        kind,
        content,
        number: this.#numbers,
        done: isLast ? done : null,
        position: 0,
        hasLanded: false,
      });
    }
    this.#publish();
  }

  /** Only a verified snapshot lets a log be cut, not the table of one process. */
  cut(): void {}

  async close(): Promise<void> {
    this.fail(this.#parts.closed());
  }

  /** Writes nothing more. What was not acknowledged may be in the log or not. */
  fail(failure: HeadwaterError): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.#reading?.stop();
    for (const { done } of this.#outgoing.splice(0)) done?.(failure);
  }

  #publish(): void {
    const { port, epoch } = this.#parts;
    while (!this.#isLooking && this.#failure === null && this.#published < IN_FLIGHT_MAX) {
      const next = this.#outgoing[this.#published];
      if (next === undefined) return;
      this.#published += 1;
      const position = this.#end + this.#published;
      next.position = position;
      const bytes = sealed(next.kind, next.content, { epoch, number: next.number }, position);
      port.publish(position, bytes, (outcome) => this.#settled(next, position, outcome));
    }
  }

  #settled(message: Outgoing, position: number, outcome: PublishOutcome): void {
    // What came of a copy for an earlier position is found out by reading the log.
    if (this.#failure !== null || message.position !== position || message.hasLanded || this.#isLooking)
      return;
    if (outcome !== "landed") return this.#look();
    message.hasLanded = true;
    for (let first = this.#outgoing[0]; first?.hasLanded; first = this.#outgoing[0])
      this.#safe(first.position);
    this.#publish();
  }

  /** The first message that was not safe is, at this position. */
  #safe(position: number): void {
    const first = this.#outgoing.shift();
    invariant(first !== undefined && first.number === this.#progress.number + 1, "a log is written in order");
    this.#progress = { epoch: this.#progress.epoch, number: first.number };
    this.#published -= 1;
    this.#bytes += first.content.length;
    this.#last = position;
    this.#end = position;
    this.#retryMs = RETRY_MS_MIN;
    first.done?.(null);
  }

  /** Reads the end of the log, as often as it takes. */
  #look(): void {
    this.#isLooking = true;
    this.#parts.port.last().then(
      (end) => {
        if (this.#failure === null) this.#seen(end);
      },
      () => this.#later(() => this.#look()),
    );
  }

  #seen(end: LogMessage): void {
    if (end.position < this.#last) {
      this.#staleLooks += 1;
      if (this.#staleLooks < STALE_LOOKS_MAX) return this.#later(() => this.#look());
      const what = `it ends at ${end.position}, and ${this.#last} messages were acknowledged`;
      return this.fail(this.#parts.damaged(what));
    }
    this.#staleLooks = 0;
    if (end.position === this.#last) return this.#later(() => this.#goOn(end.position));
    this.#reading = this.#parts.port.follow(this.#last, {
      message: (message) => {
        if (this.#failure !== null || this.#reading === null) return;
        this.#read(message);
        if (message.position < end.position || this.#failure !== null) return;
        this.#reading.stop();
        this.#reading = null;
        this.#goOn(end.position);
      },
      // Others have a snapshot of what this process has written and not heard of: whether it is the head still, the log cannot say.
      cut: () => this.fail(this.#parts.fenced(this.#parts.epoch)),
    });
  }

  #read(message: LogMessage): void {
    const { epoch, fenced, damaged } = this.#parts;
    const read = readMessage(message);
    if (read === null) return this.fail(damaged(`message ${message.position} cannot be read`));
    const next = progressWith(this.#progress, read);
    if (next === null) return; // void
    if (next.epoch !== epoch) return this.fail(fenced(next.epoch));
    this.#safe(message.position);
  }

  /** Publishes what is left behind this position. */
  #goOn(end: number): void {
    this.#isLooking = false;
    this.#published = 0;
    this.#end = end;
    for (const each of this.#outgoing) {
      each.position = 0;
      each.hasLanded = false;
    }
    this.#publish();
  }

  #later(goOn: () => void): void {
    this.#parts.port.later(this.#retryMs, () => {
      if (this.#failure === null) goOn();
    });
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
  }
}
