import type { CoreEvent, Ticket } from "../core/event.js";
import { HeadwaterError } from "../errors.js";
import type { Journal, Write } from "../journal/journal.js";
import type { TimerId } from "../model/event.js";
import { pathOf, type Step } from "../model/path.js";
import type { Method, Shape } from "../model/shape.js";
import { decode, encode } from "../state/codec.js";
import type { State } from "../state/fields.js";
import type { Effect } from "./effects.js";
import type { EventRequest, Origin } from "./request.js";
import type { Slot } from "./slot.js";
import { NAME_BYTES_MAX, shortened } from "./stored-keys.js";
import { checkShapes } from "./stored-shapes.js";
import { encodeState, loadState, stateWrites } from "./stored-state.js";

/** What an event does, without the context's state: enough to run it again. */
export interface StoredEvent {
  readonly node: string;
  readonly path: readonly Step[];
  readonly method: string;
  readonly args: unknown[];
  readonly origin: Origin;
  /** When a timer goes off. */
  readonly due: number;
  /** Its ticket, if an event with a later one has committed before it; else 0. */
  readonly ticket: number;
  /** What it had seen of contexts above by then. */
  readonly seen: readonly (readonly [path: readonly Step[], state: Uint8Array])[];
}

export type StoredAnswer = { readonly ok: boolean; readonly value: unknown };

/**
 * What a program keeps in its journal, as keys and values. One event's traces are written in one group: the states it
 * changed, the events it started, its messages and timers, its answer, and that it is not to be run again itself.
 *
 *     c/NODE/ADDRESS, d/…     the state of a context (`stored-keys.ts`)
 *     e/NODE/…                an event that was started or sent and has not committed
 *     t/NODE/TIMER            an armed timer
 *     a/REQUEST               the answer to a request that carries an id
 *     n/NODE                  the last ticket and the time
 *     s/CLASS                 the fields of a context class
 */
export class Ledger {
  constructor(readonly journal: Journal) {}

  load(slot: Slot): State | null {
    return loadState(this.journal, slot);
  }

  /** Refuses classes that the states in the journal do not fit (HW-3021), and takes note of the others. */
  checkShapes(shapes: Iterable<Shape>): void {
    const writes = checkShapes(this.journal, shapes);
    // If this fails, so does every later commit, and those are waited for.
    if (writes.length > 0) this.journal.append(writes, () => {});
  }

  /** Writes what these events leave behind; `open` are events that must keep their tickets from now on. */
  append(
    events: readonly CoreEvent<EventRequest>[],
    open: readonly CoreEvent<EventRequest>[],
    done: (error: HeadwaterError | null) => void,
  ): void {
    const writes: Write[] = [];
    let last = 0;
    let time = 0;
    for (const event of events) {
      last = Math.max(last, event.ticket);
      time = Math.max(time, event.time);
      this.#writesOf(event, writes);
    }
    for (const event of open) writes.push(...storedWithTicket(event));
    const [first] = events;
    if (first !== undefined) {
      const key = `n/${first.payload.slot.node}`;
      const [before] = this.position(first.payload.slot.node);
      writes.push({ key, value: encode([Math.max(last, before), time]) });
    }
    this.journal.append(writes, done);
  }

  #writesOf(event: CoreEvent<EventRequest>, writes: Write[]): void {
    const { slot, origin, execution, request } = event.payload;
    const own = ownKey(slot.node, origin);
    if (own !== null) writes.push({ key: own, value: null });
    if (execution === null) return;
    if (request !== undefined) {
      writes.push({
        key: answerKey(request),
        value: encode(storedAnswer(execution.ok, execution.value, event.time)),
      });
    }
    if (!execution.ok) return;
    for (const [changed, before, after] of execution.changes()) {
      stateWrites(changed, changed.stored.isThere ? before : null, after, writes);
      changed.stored.isThere = true;
    }
    for (const [index, effect] of execution.effects.entries()) {
      const write = effectWrite(slot.node, event.ticket, event.time, index, effect);
      if (write !== null) writes.push(write);
    }
  }

  /** The last ticket and time of a logical node. */
  position(node: string): readonly [ticket: number, time: number] {
    const bytes = this.journal.get(`n/${node}`);
    return bytes === undefined ? [0, 0] : (decode(bytes) as [number, number]);
  }

  /** Events that were started or sent and did not get to commit, in the order of their asking. */
  *pending(node: string): Iterable<StoredEvent> {
    for (const [, bytes] of this.journal.range(`e/${node}/`)) yield decode(bytes) as StoredEvent;
  }

  *timers(node: string): Iterable<StoredEvent> {
    for (const [, bytes] of this.journal.range(`t/${node}/`)) yield decode(bytes) as StoredEvent;
  }

  answerTo(request: string): StoredAnswer | null {
    const bytes = this.journal.get(answerKey(request));
    if (bytes === undefined) return null;
    const [ok, value, code] = decode(bytes) as [boolean, unknown, string | null];
    if (code === null) return { ok, value };
    return { ok, value: HeadwaterError.restored(code, String(value)) };
  }
}

function storedAnswer(ok: boolean, value: unknown, time: number): unknown {
  if (value instanceof HeadwaterError) return [ok, value.message, value.code, time];
  return [ok, value, null, time];
}

function answerKey(request: string): string {
  return `a/${shortened(request, NAME_BYTES_MAX)}`;
}

/** So that the order of keys is the order of numbers. */
function digits(count: number): string {
  return String(count).padStart(16, "0");
}

/** Where the journal keeps an event that nobody outside asked for, until it commits. */
function ownKey(node: string, origin: Origin): string | null {
  if (origin.kind === "request") return null;
  if (origin.kind === "timer") return timerKey(node, origin.id);
  const from = origin.kind === "start" ? node : origin.from;
  return `e/${node}/${origin.kind}/${from}/${digits(origin.parent)}/${digits(origin.index)}`;
}

function timerKey(node: string, id: TimerId): string {
  return `t/${node}/${shortened(id, NAME_BYTES_MAX)}`;
}

function effectWrite(
  node: string,
  ticket: Ticket,
  time: number,
  index: number,
  effect: Effect,
): Write | null {
  switch (effect.kind) {
    case "start":
      return stored(effect.slot, effect.method, effect.args, { kind: "start", parent: ticket, index }, time);
    case "send":
      return stored(
        effect.slot,
        effect.method,
        effect.args,
        { kind: "message", from: node, parent: ticket, index },
        time,
      );
    case "timer":
      return stored(effect.slot, effect.method, effect.args, { kind: "timer", id: effect.id }, effect.due);
    case "cancel":
      return { key: timerKey(node, effect.id), value: null };
    case "tell":
      return null;
  }
}

function stored(slot: Slot, method: Method, args: unknown[], origin: Origin, due: number): Write {
  const event: StoredEvent = {
    node: slot.node,
    path: pathOf(slot),
    method: method.name,
    args,
    origin,
    due,
    ticket: 0,
    seen: [],
  };
  return { key: ownKey(slot.node, origin) as string, value: encode(event) };
}

/** The same for an event that has its ticket: it must keep it, because one with a later ticket commits now. */
function storedWithTicket({ ticket, time, payload }: CoreEvent<EventRequest>): Write[] {
  const { slot, method, args, origin, seen } = payload;
  const key = ownKey(slot.node, origin);
  if (key === null) return [];
  const states = [...(seen ?? [])].flatMap(([above, state]) => {
    return state === null ? [] : [[pathOf(above), encodeState(above, state)] as const];
  });
  const event: StoredEvent = {
    node: slot.node,
    path: pathOf(slot),
    method: method.name,
    args,
    origin,
    due: time,
    ticket,
    seen: states,
  };
  return [{ key, value: encode(event) }];
}
