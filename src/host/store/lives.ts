import { decode, encode } from "../../state/codec.js";
import type { NodeEvent } from "../event/index.js";
import { HostRecord } from "../event/index.js";
import { goingOn, type Ports } from "../ports/index.js";
import type { Ledger } from "./ledger.js";
import { keyOf, keysOfCalls, keysOfEvents, type StoredEvent } from "./stored-event.js";

/** The processes in a row that have begun with the same unfinished business, and the event that the last one ran alone. */
interface Note {
  readonly starts: number;
  readonly key: string | null;
  readonly tries: number;
}

const KEY = "l";
/** After so many, events are run alone. */
const STARTS_MAX = 3;
/** A process that ends so often while it runs nothing but one event was ended by that. */
const ATTEMPTS_MAX = 3;

/**
 * The lives of a program's process. Nothing tells a new process why the last one has ended, so it is told by the journal: if
 * three processes in a row have ended before they were through with what they had found there, the fourth is careful. It runs
 * those events alone, one after the other, before it takes requests, and notes in the journal which one it begins. An event
 * at which three processes have ended is parked.
 */
export class Lives {
  readonly #ledger: Ledger;
  #note: Note;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    const bytes = ledger.journal.get(KEY);
    this.#note = bytes === undefined ? { starts: 0, key: null, tries: 0 } : (decode(bytes) as Note);
  }

  /** A process begins. Resolves, when the journal knows, with what makes it careful, if it must be. */
  async begin(nodes: readonly string[], world: Ports): Promise<Careful | null> {
    const now = goingOn(world, this.#ledger.lastMoment()).now();
    const pending = new Set(nodes.flatMap((node) => [...keysOfPending(this.#ledger, node, now)]));
    if (pending.size === 0) {
      this.survived();
      return null;
    }
    await this.#write({ ...this.#note, starts: this.#note.starts + 1 });
    return this.#note.starts > STARTS_MAX ? new Careful(this, pending) : null;
  }

  /** The event with this key is run alone. Resolves, when the journal knows, with how often that was done before. */
  async tries(key: string): Promise<number> {
    const before = this.#note.key === key ? this.#note.tries : 0;
    await this.#write({ ...this.#note, key, tries: before + 1 });
    return before;
  }

  /** The process has lived long enough, or ends in good order. */
  survived(): void {
    if (this.#note.starts === 0) return;
    this.#note = { starts: 0, key: null, tries: 0 };
    this.#ledger.journal.append([{ key: KEY, value: null }], () => {});
  }

  #write(note: Note): Promise<void> {
    this.#note = note;
    return new Promise((resolve, reject) => {
      this.#ledger.journal.append([{ key: KEY, value: encode(note) }], (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  }
}

/** What a process would run as soon as it begins. */
function* keysOfPending(ledger: Ledger, node: string, now: number): Iterable<string> {
  const { journal } = ledger;
  // A timer that has gone off and kept its ticket has a second key: `keyOf` gives the key that it has in any case.
  for (const [key, bytes] of journal.range(keysOfEvents(node)))
    yield keyOf(node, stored(bytes).origin) ?? key;
  for (const [key, bytes] of journal.range(keysOfCalls(node))) if (!("outside" in stored(bytes))) yield key;
  for (const [key, { origin }] of ledger.timers(node)) {
    if (origin.kind !== "timer" || origin.due > now) return; // they are in the order of going off
    yield key;
  }
}

function stored(bytes: Uint8Array): StoredEvent {
  return decode(bytes) as StoredEvent;
}

/** Runs the events that a process has found in its journal alone, one after the other. */
export class Careful {
  #current: NodeEvent | null = null;
  #mayRun = false;
  #held: (() => void)[] = [];
  #done: () => void = () => {};
  #fail: (error: unknown) => void = () => {};
  /** Resolves when they have all been settled; rejects if the journal cannot take note of them. */
  readonly done = new Promise<void>((resolve, reject) => {
    this.#done = resolve;
    this.#fail = reject;
  });

  constructor(
    readonly lives: Lives,
    /** The keys of events that are still to be run. */
    readonly pending: Set<string>,
  ) {}

  /** Must the event wait? Then `again` is called when it may run. */
  holds(event: NodeEvent, again: () => void): boolean {
    const key = keyOf(event.payload.slot.node, event.payload.origin);
    if (this.pending.size === 0 || key === null) return false;
    if (this.#current === null) {
      this.#current = event;
      this.lives.tries(key).then((before) => {
        this.#mayRun = true;
        if (before >= ATTEMPTS_MAX) event.payload.record = blamed(before);
        this.#admitHeld();
      }, this.#fail);
    }
    const isEarlier =
      event.payload.slot.node === this.#current.payload.slot.node && event.ticket < this.#current.ticket;
    if (isEarlier || (event === this.#current && this.#mayRun)) return false; // it may be waited for
    this.#held.push(again);
    return true;
  }

  /** The event is over, and the journal knows. */
  settled(event: NodeEvent): void {
    if (this.pending.size === 0) return;
    this.pending.delete(keyOf(event.payload.slot.node, event.payload.origin) ?? "");
    if (this.pending.size === 0) this.#done();
    else if (event !== this.#current) return;
    this.#current = null;
    this.#mayRun = false;
    this.#admitHeld();
  }

  /** Enough of it: the process lives, and what still runs is slow. */
  end(): void {
    this.pending.clear();
    this.#done();
    this.#admitHeld();
  }

  #admitHeld(): void {
    for (const again of this.#held.splice(0)) again();
  }
}

function blamed(processes: number): HostRecord {
  const record = new HostRecord();
  record.hostsLost = processes;
  record.lostAlone = processes;
  record.why = "its process ended";
  return record;
}
