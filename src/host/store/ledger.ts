import type { Moment, Ticket } from "../../core/event.js";
import { type HeadwaterError, isRemembered } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import type { Shape } from "../../model/shape.js";
import { decode, encode } from "../../state/codec.js";
import { isUnmade, type State } from "../../state/fields.js";
import {
  Cache,
  checkShapes,
  type Keeper,
  loadSeated,
  type Slot,
  segment,
  stateWrites,
  weakly,
} from "../context/index.js";
import {
  type GatheredAnswers,
  gather,
  RelayedAnswers,
  type StoredAnswer,
  StoredAnswers,
} from "../deduplication/index.js";
import { keysOfTimers, type NodeEvent, type StateChange, type Told } from "../event/index.js";
import type { History } from "./history.js";
import type { Careful } from "./lives.js";
import { olderTimerWrites } from "./older-timers.js";
import type { OtherLogs } from "./other-logs.js";
import { PARKED_BYTES_MAX, Parked, parkedWrite } from "./parked.js";
import {
  CLIENTS,
  clientKey,
  effectWrite,
  keyOf,
  keysOfCalls,
  keysOfEvents,
  keysOfMessages,
  MESSAGES,
  messageKey,
  type StoredCall,
  type StoredEvent,
  type StoredMessage,
  ticketedTimerKey,
  ticketWrite,
} from "./stored-event.js";

type Done = (error: HeadwaterError | null) => void;

type StoredPosition = readonly [ticket: number, ms: number, steadyMs?: number];

const HISTORY = "h";
const POSITIONS = "n/";
/** Tickets are set aside in the journal this many at a time, so that those of events that leave no trace count, too. */
const TICKETS_AHEAD = 2 ** 20;
const BESIDES_AT_ONCE = 1000;

/**
 * What a program keeps in its journal. One event's traces are one group of writes: the states it changed, the events it
 * started, its messages and timers, its answer, and that it is not to be run again itself.
 *
 *     c/NODE/ADDRESS, d/…         the state of a context (`stored-keys.ts`)
 *     l/NODE/ADDRESS…             the paths of contexts below whose names are too long for a key
 *     e/NODE/start|message/…      an event that was started or sent and has not committed
 *     w/NODE/DUE/TICKET/POSITION  an armed timer: when it is due, which event set it, and where in it
 *     e/NODE/timer/…              the same gone off, when its event must keep its ticket
 *     o/NODE/TICKET/INDEX         an outside call that has no result, or the event that brings it
 *     m/NODE/TICKET/INDEX/CLIENT  a message to a client that the client has not confirmed
 *     p/NODE/TICKET               an event that is parked (`parked.ts`)
 *     q/…, f/…                    messages to and from other logs (`other-logs.ts`)
 *     k/CLIENT                    a client for which messages are kept
 *     r/…, g                      answers to requests that carry an id (`stored-answers.ts`, `relayed-answers.ts`)
 *     l                           how often a process began with the same unfinished business (`lives.ts`)
 *     h                           the name of the journal
 *     s/CLASS                     the fields of a context class
 *     v/…, y/…, z/…               the past (`history.ts`)
 *     i/NODE                      a logical node of the program (`node-set.ts`)
 *     n/NODE                      up to where tickets may have been given out, and the times of the last commit
 */
export class Ledger implements Keeper {
  /** Hears that the journal takes no more, also when nothing is being written. */
  onFailure: (error: HeadwaterError) => void = () => {};
  #checking: Promise<HeadwaterError | null> | null = null;
  /** Up to where tickets may be given out without another word to the journal. */
  readonly #reserved = new Map<string, number>();
  /** Events of timers that the journal has with their tickets, by their keys. */
  readonly #ticketedTimers = new Set<string>();
  /** Of the events in the journal, the moment of the latest. */
  #latest: Moment = { ms: 0, steadyMs: Number.NEGATIVE_INFINITY };
  /** What else is to be written, with one of the next groups: mostly that something is not needed any more. */
  #besides: Write[] = [];

  readonly cache: Cache;
  readonly parked: Parked;
  /** Set while what was found in the journal is run with care. */
  careful: Careful | null = null;
  /** Null if all logical nodes are in this log. */
  elsewhere: OtherLogs | null = null;
  /** What is kept of the past; null if nothing is. */
  past: History | null = null;
  readonly answers: StoredAnswers;
  readonly relayed: RelayedAnswers;
  readonly hold: Keeper["hold"] = weakly;

  constructor(
    readonly journal: Journal,
    readonly contextsInMemory: number,
    parkedBytesMax: number = PARKED_BYTES_MAX,
  ) {
    this.parked = new Parked(journal, parkedBytesMax);
    this.cache = new Cache(contextsInMemory);
    this.answers = new StoredAnswers(journal);
    this.relayed = new RelayedAnswers(
      journal,
      () => this.answers.prefixes(),
      (key) => this.forgetKey(key),
    );
  }

  load(slot: Slot): State | null {
    return loadSeated(this.journal, slot);
  }

  /** Refuses classes that the states in the journal do not fit (HW-3021), and takes note of the others. */
  checkShapes(shapes: Iterable<Shape>): void {
    const writes = checkShapes(this.journal, shapes);
    if (writes.length > 0) this.journal.append(writes, () => {}); // if it fails, so does every later commit
  }

  /** Brings what earlier versions have written of a logical node into the form of today. */
  bringUpToDate(root: Slot): void {
    const writes = olderTimerWrites(this.journal, root);
    if (writes.length > 0) this.journal.append(writes, () => {});
  }

  /** Writes what these events leave behind, and `more`; `open` are events that keep their tickets from now on. */
  append(
    node: string,
    events: readonly NodeEvent[],
    open: readonly NodeEvent[],
    more: readonly Write[],
    done: Done,
  ): void {
    const writes: Write[] = [...more];
    const changes = new Map<Slot, StateChange>();
    const relayed = new Map<string, GatheredAnswers>();
    let last = 0;
    for (const event of events) {
      last = Math.max(last, event.ticket);
      this.#look(event);
      const { length } = writes;
      this.#tracesOf(event, writes, changes, relayed);
      // With a history, each event writes its own states: those in between are versions, too.
      if (this.past === null) continue;
      this.#changed(changes, writes);
      this.past.note(event, writes, length);
    }
    for (const [gateway, answers] of relayed) writes.push(this.relayed.write(gateway, answers));
    this.#changed(changes, writes);
    for (const event of open) {
      this.#look(event);
      const write = ticketWrite(event);
      if (event.payload.origin.kind === "timer") this.#ticketedTimers.add(write.key);
      writes.push(write);
    }
    if (last > this.#reservedFor(node) || writes.length > 0) writes.push(this.#position(node, last));
    if (writes.length > 0) {
      const count = Math.max(BESIDES_AT_ONCE, 2 * writes.length); // they must not come faster than they go
      for (const write of this.#besides.splice(0, count)) writes.push(write);
    }
    this.journal.append(writes, done);
    this.past?.appended();
    for (const { payload } of events) payload.execution?.leave();
  }

  /** Writes what became of contexts. */
  #changed(changes: Map<Slot, StateChange>, writes: Write[]): void {
    for (const [slot, { before, after }] of changes) {
      const { stored } = slot;
      stateWrites(slot, stored.isThere ? before : null, after, writes);
      stored.isThere = !isUnmade(after);
    }
    changes.clear();
  }

  #look({ moment }: NodeEvent): void {
    if (moment.steadyMs > this.#latest.steadyMs) this.#latest = moment;
  }

  /**
   * A process begins with what the journal has reserved: events that kept their tickets over a crash have old ones, and a reservation
   * that follows from those would let tickets be given out again.
   */
  #reservedFor(node: string): number {
    return this.#reserved.get(node) ?? this.lastTicket(node);
  }

  #position(node: string, last: number): Write {
    let reserved = this.#reservedFor(node);
    if (last > reserved) reserved = last + TICKETS_AHEAD;
    this.#reserved.set(node, reserved);
    return { key: positionKey(node), value: encode([reserved, this.#latest.ms, this.#latest.steadyMs]) };
  }

  /** Up to where tickets may have been given out. */
  lastTicket(node: string): number {
    const bytes = this.journal.get(positionKey(node));
    return bytes === undefined ? 0 : (decode(bytes) as StoredPosition)[0];
  }

  /**
   * The latest moment of which the journal knows, by both clocks; null if there is none. Logical nodes that are gone count,
   * too: the clock that only goes forward is the journal's.
   */
  lastMoment(): Moment | null {
    let last: Moment | null = null;
    for (const [, bytes] of this.journal.range(POSITIONS)) {
      const [, ms, steadyMs = ms] = decode(bytes) as StoredPosition; // journals of before have one clock for both
      if (last === null || steadyMs > last.steadyMs) last = { ms, steadyMs };
    }
    return last;
  }

  /** Events that were asked for and did not get to commit: per parent, in the order of their asking. */
  *pending(node: string): Iterable<StoredEvent> {
    for (const [key, bytes] of this.journal.range(keysOfEvents(node))) {
      const event = decode(bytes) as StoredEvent;
      if (event.origin.kind === "timer") this.#ticketedTimers.add(key);
      yield event;
    }
  }

  /** Armed timers in the order in which they go off, those behind the key `after`. */
  *timers(node: string, after = ""): Iterable<[key: string, timer: StoredEvent]> {
    for (const [key, bytes] of this.journal.range(keysOfTimers(node), after)) {
      yield [key, decode(bytes) as StoredEvent];
    }
  }

  hasTimer(key: string): boolean {
    return this.journal.get(key) !== undefined;
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

  /** The logical nodes with messages to clients that were not confirmed; some of them may be gone from the program. */
  *nodesWithMessages(): Iterable<string> {
    for (let after = ""; ; ) {
      const [first] = this.journal.range(MESSAGES, after);
      if (first === undefined) return;
      const [, node = ""] = first[0].split("/", 2);
      yield decodeURIComponent(node);
      after = `${MESSAGES}${node}0`; // the sign behind "/"
    }
  }

  /** Messages to clients that were not confirmed, in the order of the logical node. */
  *messages(node: string): Iterable<StoredMessage> {
    for (const [key, bytes] of this.journal.range(keysOfMessages(node))) {
      const [ticket, index] = key.split("/").slice(2).map(Number) as [Ticket, number];
      const [client, message] = decode(bytes) as [string, unknown];
      yield { ticket, index, client, message, bytes: bytes.byteLength };
    }
  }

  /** Are messages kept for this client? */
  hasClient(client: string): boolean {
    return this.journal.get(clientKey(client)) !== undefined;
  }

  /** A message that was not confirmed; null if it is not there any more. */
  message(client: string, from: Told): StoredMessage | null {
    const bytes = this.journal.get(messageKey(client, from));
    if (bytes === undefined) return null;
    const [, message] = decode(bytes) as [string, unknown];
    return { ticket: from.ticket, index: from.index, client, message, bytes: bytes.byteLength };
  }

  /** The clients for which messages are kept, from behind that key on, each with its key. */
  *clients(after = ""): Iterable<[key: string, client: string]> {
    for (const [key, bytes] of this.journal.range(CLIENTS, after)) yield [key, decode(bytes) as string];
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

  /** No request will ask for this any more. */
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

  /** The call was made, and its result is not wanted. At once, because until then a crash repeats it. */
  forgetCall(node: string, parent: Ticket, index: number): void {
    const key = keyOf(node, { kind: "outside", parent, index }) as string;
    this.journal.append([{ key, value: null }], () => {});
  }

  /** Why the journal takes no more; null if it does. Callers that ask at the same time share the answer. */
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

  #tracesOf(
    event: NodeEvent,
    writes: Write[],
    changes: Map<Slot, StateChange>,
    relayed: Map<string, GatheredAnswers>,
  ): void {
    const { slot, origin, execution, request } = event.payload;
    const own = keyOf(slot.node, origin);
    if (own !== null) writes.push({ key: own, value: null });
    if (origin.kind === "timer" && this.#ticketedTimers.size > 0) {
      const key = ticketedTimerKey(slot.node, origin);
      if (this.#ticketedTimers.delete(key)) writes.push({ key, value: null });
    }
    if (event.payload.record?.isParked) writes.push(parkedWrite(event));
    if (execution === null) return;
    const { ok, value } = execution;
    if (request !== undefined && (ok || isRemembered(value))) {
      if (typeof request === "string") writes.push(this.answers.write(request, ok, value, event.steadyMs));
      else if (!event.payload.method.readonly || execution.effects.length > 0) {
        // What only reads is asked again instead.
        const answers: GatheredAnswers = relayed.get(request.gateway) ?? [];
        gather(answers, request.number, ok, value);
        relayed.set(request.gateway, answers);
      }
    }
    if (!ok) return;
    execution.collectChanges(changes, writes);
    for (const [index, effect] of execution.effects.entries()) {
      const write = effectWrite(event, index, effect, this.elsewhere);
      if (write !== null) writes.push(write);
    }
  }
}

function positionKey(node: string): string {
  return `${POSITIONS}${segment(node)}`;
}
