import type { CoreEvent, Ticket } from "../core/event.js";
import type { HeadwaterError } from "../errors.js";
import type { Journal, Write } from "../journal/journal.js";
import type { Shape } from "../model/shape.js";
import { decode, encode } from "../state/codec.js";
import type { State } from "../state/fields.js";
import { isRefusal } from "./answer-refusals.js";
import { Cache, type Keeper, weakly } from "./cache.js";
import type { EventRequest } from "./request.js";
import type { Slot } from "./slot.js";
import { type StoredAnswer, StoredAnswers } from "./stored-answers.js";
import {
  effectWrite,
  keyOf,
  keysOfCalls,
  keysOfEvents,
  keysOfMessages,
  keysOfTimers,
  messageKey,
  type StoredCall,
  type StoredEvent,
  segment,
  ticketWrite,
} from "./stored-event.js";
import { NAME_BYTES_MAX, shortened } from "./stored-keys.js";
import { checkShapes } from "./stored-shapes.js";
import { loadState, stateWrites } from "./stored-state.js";
import type { Told } from "./surroundings.js";

/** A message to a client, and where it came from. */
export interface StoredMessage {
  readonly ticket: number;
  readonly index: number;
  readonly client: string;
  readonly message: unknown;
  readonly bytes: number;
}

/** What an event, or several in a row, made of a context. */
export interface Change {
  readonly before: State;
  after: State;
}

type Done = (error: HeadwaterError | null) => void;

const HISTORY = "h";
/** Tickets are set aside in the journal this many at a time, so that those of events that leave no trace count, too. */
const TICKETS_AHEAD = 2 ** 20;
const BESIDES_AT_ONCE = 1000;

/**
 * What a program keeps in its journal. One event's traces are one group of writes: the states it changed, the events it
 * started, its messages and timers, its answer, and that it is not to be run again itself.
 *
 *     c/NODE/ADDRESS, d/…         the state of a context (`stored-keys.ts`)
 *     e/NODE/start|message/…      an event that was started or sent and has not committed
 *     t/NODE/TIMER                an armed timer
 *     o/NODE/TICKET/INDEX         an outside call that has no result, or the event that brings it
 *     m/NODE/TICKET/INDEX/CLIENT  a message to a client that the client has not confirmed
 *     k/CLIENT                    a client for which messages are kept
 *     r/…, g                      answers to requests that carry an id (`stored-answers.ts`)
 *     h                           the name of the journal
 *     s/CLASS                     the fields of a context class
 *     n/NODE                      up to where tickets may have been given out, and the time
 */
export class Ledger implements Keeper {
  /** Hears that the journal takes no more, also when nothing is being written. */
  onFailure: (error: HeadwaterError) => void = () => {};
  #checking: Promise<HeadwaterError | null> | null = null;
  /** Up to where tickets may be given out without another word to the journal. */
  readonly #reserved = new Map<string, number>();
  /** What else is to be written, with one of the next groups: mostly that something is not needed any more. */
  #besides: Write[] = [];

  readonly cache: Cache;
  readonly answers: StoredAnswers;
  readonly hold: Keeper["hold"] = weakly;

  constructor(
    readonly journal: Journal,
    readonly contextsInMemory: number,
  ) {
    this.cache = new Cache(contextsInMemory);
    this.answers = new StoredAnswers(journal);
  }

  load(slot: Slot): State | null {
    return loadState(this.journal, slot);
  }

  /** Refuses classes that the states in the journal do not fit (HW-3021), and takes note of the others. */
  checkShapes(shapes: Iterable<Shape>): void {
    const writes = checkShapes(this.journal, shapes);
    // If this fails, so does every later commit, and those are waited for.
    if (writes.length > 0) this.journal.append(writes, () => {});
  }

  /** Writes what these events of a logical node leave behind; `open` are events that keep their tickets from now on. */
  append(
    node: string,
    events: readonly CoreEvent<EventRequest>[],
    open: readonly CoreEvent<EventRequest>[],
    done: Done,
  ): void {
    const writes: Write[] = [];
    const changes = new Map<Slot, Change>();
    let last = 0;
    let time = 0;
    for (const event of events) {
      last = Math.max(last, event.ticket);
      time = Math.max(time, event.time);
      this.#tracesOf(event, writes, changes);
    }
    for (const [slot, { before, after }] of changes) {
      const { stored } = slot;
      stateWrites(slot, stored.isThere ? before : null, after, writes);
      stored.isThere = true;
    }
    for (const event of open) writes.push(ticketWrite(event));
    const reserved = this.#reserved.get(node) ?? 0;
    if (last > reserved || writes.length > 0) writes.push(this.#position(node, last, time));
    if (writes.length > 0) {
      const count = Math.max(BESIDES_AT_ONCE, 2 * writes.length); // they must not come faster than they go
      for (const write of this.#besides.splice(0, count)) writes.push(write);
    }
    this.journal.append(writes, done);
    for (const { payload } of events) payload.execution?.leave();
  }

  #position(node: string, last: number, time: number): Write {
    let reserved = this.#reserved.get(node) ?? 0;
    if (last > reserved) {
      reserved = last + TICKETS_AHEAD;
      this.#reserved.set(node, reserved);
    }
    return { key: positionKey(node), value: encode([reserved, time]) };
  }

  /** Up to where tickets may have been given out, and the time that events have seen. */
  position(node: string): readonly [ticket: number, time: number] {
    const bytes = this.journal.get(positionKey(node));
    return bytes === undefined ? [0, 0] : (decode(bytes) as [number, number]);
  }

  /** Events that were started or sent and did not get to commit: per parent, in the order of their asking. */
  *pending(node: string): Iterable<StoredEvent> {
    for (const [, bytes] of this.journal.range(keysOfEvents(node))) yield decode(bytes) as StoredEvent;
  }

  *timers(node: string): Iterable<StoredEvent> {
    for (const [, bytes] of this.journal.range(keysOfTimers(node))) yield decode(bytes) as StoredEvent;
  }

  /** Outside calls without a result, and events that are to bring one. */
  *calls(node: string): Iterable<StoredCall | StoredEvent> {
    for (const [, bytes] of this.journal.range(keysOfCalls(node))) {
      yield decode(bytes) as StoredCall | StoredEvent;
    }
  }

  answerTo(request: string): StoredAnswer | null {
    return this.answers.to(request);
  }

  /** Messages to clients that were not confirmed, in the order of the logical node. */
  *messages(node: string): Iterable<StoredMessage> {
    for (const [key, bytes] of this.journal.range(keysOfMessages(node))) {
      const [ticket, index] = key.split("/").slice(2).map(Number) as [number, number];
      const [client, message] = decode(bytes) as [string, unknown];
      yield { ticket, index, client, message, bytes: bytes.byteLength };
    }
  }

  /** A message that was not confirmed; null if it is not there any more. */
  message(client: string, from: Told): StoredMessage | null {
    const bytes = this.journal.get(messageKey(client, from));
    if (bytes === undefined) return null;
    const [, message] = decode(bytes) as [string, unknown];
    return { ticket: from.ticket, index: from.index, client, message, bytes: bytes.byteLength };
  }

  /** The clients for which messages are kept. */
  *clients(): Iterable<string> {
    for (const [, bytes] of this.journal.range("k/")) yield decode(bytes) as string;
  }

  /** At once, so that the journal knows the client before it has a message for it. */
  noteClient(client: string): void {
    this.journal.append([{ key: clientKey(client), value: encode(client) }], () => {});
  }

  forgetClient(client: string): void {
    this.journal.append([{ key: clientKey(client), value: null }], () => {});
  }

  /**
   * Names the journal: tickets of different journals have nothing to do with each other. A journal without a name gets
   * this one, ahead of everything that is appended later.
   */
  history(unique: () => string): string {
    const known = this.journal.get(HISTORY);
    if (known !== undefined) return decode(known) as string;
    const made = unique();
    this.journal.append([{ key: HISTORY, value: encode(made) }], () => {});
    return made;
  }

  /** Nobody will ask for this any more. */
  forgetKey(key: string): void {
    this.#besides.push({ key, value: null });
  }

  /** The same at once, for many. */
  forgetKeys(keys: readonly string[]): void {
    if (keys.length > 0)
      this.journal.append(
        keys.map((key) => ({ key, value: null })),
        () => {},
      );
  }

  forgetAnswer(request: string): void {
    this.forgetKey(this.answers.key(request));
  }

  /** The call was made, and nobody wants to know what came of it. At once, because until then a crash repeats it. */
  forgetCall(node: string, parent: Ticket, index: number): void {
    const key = keyOf(node, { kind: "outside", parent, index }) as string;
    this.journal.append([{ key, value: null }], () => {});
  }

  /** Why the journal takes no more; null if it does. Those who ask at the same time share the answer. */
  check(): Promise<HeadwaterError | null> {
    this.#checking ??= new Promise<HeadwaterError | null>((resolve) =>
      this.journal.append([], resolve),
    ).finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /** Writes what else there is to be written. */
  flush(): Promise<void> {
    if (this.#besides.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.journal.append(this.#besides.splice(0), () => resolve()));
  }

  forgetMessage(client: string, from: Told): void {
    this.forgetKey(messageKey(client, from));
  }

  #tracesOf(event: CoreEvent<EventRequest>, writes: Write[], changes: Map<Slot, Change>): void {
    const { slot, origin, execution, request } = event.payload;
    const own = keyOf(slot.node, origin);
    if (own !== null) writes.push({ key: own, value: null });
    if (execution === null) return;
    const { ok, value } = execution;
    if (request !== undefined && !isRefusal(value))
      writes.push(this.answers.write(request, ok, value, event.time));
    if (!ok) return;
    execution.collectChanges(changes, writes);
    for (const [index, effect] of execution.effects.entries()) {
      writes.push(effectWrite(event, index, effect));
    }
  }
}

function clientKey(client: string): string {
  return `k/${shortened(client, NAME_BYTES_MAX)}`;
}

function positionKey(node: string): string {
  return `n/${segment(node)}`;
}
