import { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { digitsOf, TableAt, versionWrite } from "../../journal/versions.js";
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
  /** The oldest event; null if it is not known. */
  oldest: Pick<PastEvent, "ticket" | "ms"> | null;
}

const EVENTS = "y/";
const FLOORS = "z/";
/** After so many events of a node it is looked at whether some of its past is too old, and at most so many are forgotten then. */
const TRIM_EVERY = 64;
const TRIM_MAX = 256;
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
  readonly #trimEvery: number;
  readonly #spans = new Map<string, Kept>();
  /** What the group that is being made writes. */
  readonly #written = new Map<string, Uint8Array | null>();

  constructor(journal: Journal, range: HistoryRange) {
    this.#journal = journal;
    this.#range = range;
    // Finding the oldest events costs more than keeping an eighth more of them for a while.
    this.#trimEvery = Math.max(TRIM_EVERY, "tickets" in range ? range.tickets / 8 : 0);
  }

  /** A logical node goes on; tickets up to `last` may have been given out. */
  begin(node: string, last: number): void {
    const known = spanIn(this.#journal, node);
    this.#spans.set(node, { ...(known ?? { from: last, to: last }), untrimmed: 0, oldest: null });
    if (known === null) this.#journal.append([floorWrite(node, last)], () => {});
    const kept = this.#spans.get(node);
    for (const { ticket, ms } of pastEvents(this.#journal, node)) {
      if (kept !== undefined) kept.oldest = { ticket, ms };
      break;
    }
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
    span.to = Math.max(span.to, event.ticket);
    span.untrimmed += 1;
    span.oldest ??= { ticket: event.ticket, ms: event.moment.ms };
    if (span.untrimmed < this.#trimEvery || !this.#isOld(span.oldest, span.to, event.moment.ms)) return;
    this.#trim(slot.node, span, event.moment.ms, writes);
    span.untrimmed = 0;
  }

  /** The group is appended. */
  appended(): void {
    this.#written.clear();
  }

  /** Forgets events that are too old: more than are noted meanwhile, so that what is kept stays within the range. */
  #trim(node: string, span: Kept, nowMs: number, writes: Write[]): void {
    let count = 0;
    const { from } = span;
    span.oldest = null;
    for (const event of pastEvents(this.#journal, node)) {
      if (count++ === Math.max(TRIM_MAX, 2 * span.untrimmed) || !this.#isOld(event, span.to, nowMs)) {
        span.oldest = { ticket: event.ticket, ms: event.ms };
        break;
      }
      writes.push({ key: eventKey(node, event.ticket), value: null });
      for (const key of event.keys)
        writes.push({ key: versionWrite(key, event.ticket, null).key, value: null });
      span.from = Math.max(span.from, event.ticket);
    }
    if (span.from > from) writes.push(floorWrite(node, span.from));
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

/** The events of the past that changed something, in the order of their tickets. */
export function* pastEvents(journal: Pick<Journal, "range">, node: string): Iterable<PastEvent> {
  for (const [key, bytes] of journal.range(eventsOf(node))) yield pastEventOf(key, bytes);
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
