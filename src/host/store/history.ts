import { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { digitsOf, TableAt, versionKey, versionWrite } from "../../journal/versions.js";
import { pathOf, type Step } from "../../model/path.js";
import { decode, encode } from "../../state/codec.js";
import { segment } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";

/** How far back the past can be read: so many tickets, or so many milliseconds. */
export type HistoryRange = { readonly tickets: number } | { readonly ms: number };

/** An event of the past that changed something: what was asked of which context, and which keys it wrote. */
export interface PastEvent {
  readonly ticket: number;
  readonly ms: number;
  readonly path: readonly Step[];
  readonly method: string;
  /** Encoded; null if they cannot be. */
  readonly args: Uint8Array | null;
  readonly caller: string | null;
  readonly keys: readonly string[];
}

/** From the first ticket whose state can be read to the last event that has committed. */
export interface HistorySpan {
  readonly from: number;
  readonly to: number;
}

/** What is known of the history of a node while the program runs. */
interface Kept {
  from: number;
  to: number;
  /** Events since it was last looked at whether some are too old. */
  untrimmed: number;
  /** No event up to this ticket is in the journal any more. */
  trimmed: number;
}

const EVENTS = "y/";
const FLOORS = "z/";
/** After so many events of a node it is looked at whether some of its past is too old: at so many tickets, at most. */
const TRIM_EVERY = 64;
const TRIM_MAX = 512;
/** Of what is removed when a program goes on without its history, in one group. */
const REMOVED_AT_ONCE = 10_000;

/**
 * What a journal keeps of the past, besides the old versions of values (`src/journal/versions.ts`):
 *
 *     y/NODE/TICKET    an event that changed something: when, what was asked, and which keys it wrote
 *     z/NODE           the last ticket of which later versions may be missing: the state as of it, and of all later ones, can be read
 *
 * All of it is written in the group of the event itself. So after a crash the past fits the present, and it costs no sync.
 */
export class History {
  readonly #journal: Journal;
  readonly #range: HistoryRange;
  readonly #spans = new Map<string, Kept>();
  /** What the group that is being made writes. */
  readonly #written = new Map<string, Uint8Array | null>();
  /** The lowest ticket of the events in that group, which the journal does not have yet. */
  #firstWritten = Number.POSITIVE_INFINITY;

  constructor(journal: Journal, range: HistoryRange) {
    this.#journal = journal;
    this.#range = range;
  }

  /** A logical node goes on; tickets up to `last` may have been given out. */
  begin(node: string, last: number): void {
    const known = spanIn(this.#journal, node);
    const span = known ?? { from: last, to: last };
    this.#spans.set(node, { ...span, untrimmed: 0, trimmed: span.from });
    if (known === null) this.#journal.append([floorWrite(node, last)], () => {});
  }

  span(node: string): HistorySpan | null {
    return this.#spans.get(node) ?? null;
  }

  /** The journal as of a ticket. */
  at(node: string, ticket: number): TableAt {
    const span = this.#spans.get(node);
    if (span === undefined || !Number.isSafeInteger(ticket) || ticket < span.from || ticket > span.to)
      throw outOfRange(node, ticket, span ?? null);
    return new TableAt(this.#journal, ticket);
  }

  /** The keys of states that an event wrote; null if it is not in the history. */
  keysOf(node: string, ticket: number): readonly string[] | null {
    const key = eventKey(node, ticket);
    const bytes = this.#journal.get(key);
    return bytes === undefined ? null : pastEventOf(key, bytes).keys;
  }

  /** Adds to a group what it takes to read the past later. The writes of the event begin at `first`. */
  note(event: NodeEvent, writes: Write[], first: number): void {
    const own = writes.slice(first).filter(isOfState);
    if (own.length === 0) return;
    const { slot, method, args, caller } = event.payload;
    const keys = new Set<string>();
    for (const { key, value } of own) {
      if (!keys.has(key)) {
        keys.add(key);
        const before = this.#written.has(key) ? this.#written.get(key) : this.#journal.get(key);
        writes.push(versionWrite(key, event.ticket, before ?? null));
      }
      this.#written.set(key, value);
    }
    const described = [
      event.moment.ms,
      pathOf(slot),
      method.name,
      encodedOf(args),
      caller ?? null,
      [...keys],
    ];
    writes.push({ key: eventKey(slot.node, event.ticket), value: encode(described) });
    const span = this.#spans.get(slot.node);
    if (span === undefined) return;
    this.#firstWritten = Math.min(this.#firstWritten, event.ticket);
    span.to = Math.max(span.to, event.ticket);
    span.trimmed = Math.min(span.trimmed, event.ticket - 1); // it may come after events that are forgotten already
    span.untrimmed += 1;
    if (span.untrimmed < TRIM_EVERY) return;
    this.#trim(slot.node, span, event.moment.ms, writes);
    span.untrimmed = 0;
  }

  /** The group is appended. */
  appended(): void {
    this.#written.clear();
    this.#firstWritten = Number.POSITIVE_INFINITY;
  }

  /**
   * Forgets events that are too old. It looks at more tickets than events are noted meanwhile, so that what is kept stays within the range,
   * and looks each up by its key: bringing the keys of a journal into order takes time for all of them.
   */
  #trim(node: string, span: Kept, nowMs: number, writes: Write[]): void {
    const { from, trimmed } = span;
    const last = Math.min(span.to, this.#firstWritten - 1);
    let found = 0;
    for (let ticket = trimmed + 1; ticket <= last && ticket <= trimmed + TRIM_MAX; ticket++) {
      if (this.#isRecent(ticket, span.to)) break;
      const key = eventKey(node, ticket);
      const bytes = this.#journal.get(key);
      if (bytes !== undefined) {
        found += 1;
        const event = pastEventOf(key, bytes);
        if (!this.#isOld(event, span.to, nowMs)) break;
        writes.push({ key, value: null });
        for (const each of event.keys) writes.push({ key: versionKey(each, ticket), value: null });
        span.from = Math.max(span.from, ticket);
      }
      span.trimmed = ticket;
    }
    if (found === 0 && span.trimmed === trimmed + TRIM_MAX)
      span.trimmed = this.#beforeNext(node, span.trimmed, last);
    if (span.from > from) writes.push(floorWrite(node, span.from));
  }

  /** Behind which ticket the next event is: a restart leaves out many. */
  #beforeNext(node: string, trimmed: number, last: number): number {
    for (const [key] of this.#journal.range(eventsOf(node), eventKey(node, trimmed)))
      return Math.min(ticketOf(key) - 1, last);
    return last;
  }

  /** Is it clear from the ticket that the event is to be kept? */
  #isRecent(ticket: number, last: number): boolean {
    return "tickets" in this.#range && ticket > last - this.#range.tickets;
  }

  #isOld({ ticket, ms }: Pick<PastEvent, "ticket" | "ms">, last: number, nowMs: number): boolean {
    return "tickets" in this.#range ? ticket <= last - this.#range.tickets : ms < nowMs - this.#range.ms;
  }
}

/** Which of the past can be read in a journal; null if it has no history of the node. */
export function spanIn(journal: Pick<Journal, "get" | "range">, node: string): HistorySpan | null {
  const bytes = journal.get(floorKey(node));
  if (bytes === undefined) return null;
  const from = decode(bytes) as number;
  let to = from;
  for (const [key] of journal.range(eventsOf(node))) to = Math.max(to, ticketOf(key));
  return { from, to };
}

function ticketOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("/") + 1));
}

/** Arguments that are not plain data of the program's own cannot be kept. */
function encodedOf(args: readonly unknown[]): Uint8Array | null {
  try {
    return encode(args);
  } catch {
    return null;
  }
}

export function pastEventOf(key: string, bytes: Uint8Array): PastEvent {
  const [ms, path, method, args, caller, keys] = decode(bytes) as [
    ...[number, readonly Step[], string, Uint8Array | null, string | null, readonly string[]],
  ];
  return { ticket: ticketOf(key), ms, path, method, args, caller, keys };
}

/** A program that goes on without a history leaves none behind: versions would be missing in it. */
export async function endHistory(journal: Journal): Promise<void> {
  if (isEmpty(journal.range(FLOORS))) return;
  await removed(journal, FLOORS); // first, so that what is left after a crash is not taken for a history
  for (const prefix of ["v/", EVENTS]) await removed(journal, prefix);
}

async function removed(journal: Journal, prefix: string): Promise<void> {
  for (;;) {
    const writes: Write[] = [];
    for (const [key] of journal.range(prefix)) {
      writes.push({ key, value: null });
      if (writes.length === REMOVED_AT_ONCE) break;
    }
    if (writes.length === 0) return;
    await new Promise<void>((resolve, reject) =>
      journal.append(writes, (error) => (error === null ? resolve() : reject(error))),
    );
  }
}

/** Is it a write of the state of a context? */
function isOfState({ key }: Write): boolean {
  return key.startsWith("c/") || key.startsWith("d/") || key.startsWith("l/");
}

function isEmpty(entries: Iterable<unknown>): boolean {
  for (const _ of entries) return false;
  return true;
}

function eventsOf(node: string): string {
  return `${EVENTS}${segment(node)}/`;
}

export function eventKey(node: string, ticket: number): string {
  return eventsOf(node) + digitsOf(ticket);
}

function floorKey(node: string): string {
  return FLOORS + segment(node);
}

function floorWrite(node: string, ticket: number): Write {
  return { key: floorKey(node), value: encode(ticket) };
}

export function outOfRange(node: string, ticket: number, span: HistorySpan | null): HeadwaterError {
  const there =
    span === null
      ? "The journal keeps no history of it: run the program with `history`"
      : `The journal keeps its history from ticket ${span.from} to ${span.to}`;
  return new HeadwaterError(
    "HW-3029",
    `the logical node ${node} cannot be read as of ticket ${ticket}. ${there}.`,
  );
}
