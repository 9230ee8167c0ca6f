import type { Share } from "../model/share.js";
import type { Calls } from "./call.js";
import { type Called, ExpectedReply } from "./expected-reply.js";

type Task = () => void;

/** Requests of one caller that are begun in one turn of the event loop. Their answers leave before the next ones begin. */
const REQUESTS_PER_TURN = 128;
/** Connections of one caller that look in one turn of the event loop whether there is room for their next request. */
const LOOKS_PER_TURN = 16;
/** Callers without a socket of which something is known. */
const OTHERS_MAX = 1024;

/**
 * What one caller asks of the event loop, over all its connections: how many requests it may begin now, which of its connections wait
 * for their turn or for room, and how large its replies will be.
 */
export class CallerLoad {
  readonly #calls: Calls;
  readonly #firstBytesMax: number;
  readonly #replies = new Map<string, ExpectedReply>();
  readonly #awaitingTurn = new Set<Task>();
  readonly #awaitingRoom = new Set<Task>();
  #begun = 0;
  #isScheduled = false;
  #isListening = false;
  /** So many connections are still to look for room. */
  #looks = 0;
  /** How many connections the caller has. */
  connections = 0;

  constructor(calls: Calls, firstBytesMax: number) {
    this.#calls = calls;
    this.#firstBytesMax = firstBytesMax;
  }

  /** How large the next reply of a function to this caller will be; undefined if there is no such function. */
  expected(name: string): Called | undefined {
    const known = this.#replies.get(name);
    const all = known === undefined ? this.#calls.find(name) : undefined;
    if (all === undefined) return known;
    const reply = new ExpectedReply(all, this.#firstBytesMax);
    this.#replies.set(name, reply);
    return reply;
  }

  /** May the caller begin one more request in this turn of the event loop? If so, it has. */
  begins(): boolean {
    if (this.#begun >= REQUESTS_PER_TURN) return false;
    this.#begun += 1;
    return true;
  }

  /** Calls back in a later turn of the event loop, connections in turn. */
  awaitTurn(task: Task): void {
    this.#awaitingTurn.add(task);
    this.#schedule();
  }

  /** Calls back when something of the caller's share has been given back. */
  awaitRoom(share: Share, task: Task): void {
    this.#awaitingRoom.add(task);
    if (this.#isListening) return;
    this.#isListening = true;
    share.wait(this.#look);
  }

  /** Connections that wait for room look again, a few at a time. */
  readonly #look = (): void => {
    this.#isListening = false;
    this.#looks = this.#awaitingRoom.size;
    this.#schedule();
  };

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isScheduled = false;
    this.#begun = 0;
    this.#call(this.#awaitingTurn, this.#awaitingTurn.size, () => this.#begun < REQUESTS_PER_TURN);
    const looks = Math.min(this.#looks, LOOKS_PER_TURN);
    this.#looks -= looks;
    this.#call(this.#awaitingRoom, looks, () => true);
    if (this.#awaitingTurn.size > 0 || this.#looks > 0) this.#schedule();
  };

  /** Calls so many of them, the first ones first; one that waits again is behind the others. */
  #call(tasks: Set<Task>, count: number, goesOn: () => boolean): void {
    let left = count;
    for (const task of tasks) {
      if (left === 0 || !goesOn()) return;
      left -= 1;
      tasks.delete(task);
      task();
    }
  }

  /** A connection waits for nothing any more. */
  forget(...tasks: readonly Task[]): void {
    for (const task of tasks) {
      this.#awaitingTurn.delete(task);
      this.#awaitingRoom.delete(task);
    }
  }
}

/** The loads of all callers. Something is known of callers with a connection, and of the last ones without. */
export class CallerLoads {
  readonly #connected = new Map<string, CallerLoad>();
  /** The caller that was seen least lately first. */
  readonly #others = new Map<string, CallerLoad>();
  readonly #calls: Calls;
  readonly #firstBytesMax: number;

  /** A caller's first reply of a function is expected to have at most so many bytes. */
  constructor(calls: Calls, firstBytesMax: number) {
    this.#calls = calls;
    this.#firstBytesMax = firstBytesMax;
  }

  of(caller: string): CallerLoad {
    const connected = this.#connected.get(caller);
    if (connected !== undefined) return connected;
    const load = this.#others.get(caller) ?? new CallerLoad(this.#calls, this.#firstBytesMax);
    this.#keep(caller, load);
    return load;
  }

  /** A connection of this caller has opened; `leave` says when it has closed. */
  join(caller: string): CallerLoad {
    const load = this.of(caller);
    load.connections += 1;
    this.#others.delete(caller);
    this.#connected.set(caller, load);
    return load;
  }

  leave(caller: string): void {
    const load = this.#connected.get(caller);
    if (load === undefined) return;
    load.connections -= 1;
    if (load.connections > 0) return;
    this.#connected.delete(caller);
    this.#keep(caller, load);
  }

  /** Forgets the caller that was seen least lately if there are many. */
  #keep(caller: string, load: CallerLoad): void {
    this.#others.delete(caller);
    this.#others.set(caller, load);
    const [first] = this.#others.keys();
    if (this.#others.size > OTHERS_MAX && first !== undefined) this.#others.delete(first);
  }
}
