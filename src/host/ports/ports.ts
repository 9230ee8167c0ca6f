import { randomUUID } from "node:crypto";
import type { OutsideCall } from "../../model/outside.js";

/** What a logical node needs from the world. The simulator has its own, in which time and luck are decided by a seed. */
export interface Ports {
  /**
   * Milliseconds by a clock that only goes forward and that cannot be set. Whatever is measured from one moment to
   * another is measured by this one; it says nothing of the time of day.
   */
  now(): number;
  /** Milliseconds since 1970, by the machine's clock: it jumps when it is set, forward or back. */
  timeOfDay(): number;
  /** Calls back soon, from an empty stack. */
  soon(task: () => void): void;
  /** Calls back when all code that promises have set going has come to rest. */
  atRest(task: () => void): void;
  /** Calls back when `now()` has come to that time, never before; returns how to call it off. */
  at(time: number, task: () => void): () => void;
  /** Runs a part of an event that may go ahead, some time. Without it, it runs at once. */
  run?(task: () => void): void;
  /** May a call below that waits for nothing run before its caller goes on? Without it, it may. */
  runsNow?(): boolean;
  /** Calls an outside function of that name. Without it, the function is called as it is. */
  callOutside?(name: string, input: unknown, call: OutsideCall, work: () => unknown): unknown;
  /** Makes the records of events safe that no journal has, then calls back. */
  append(done: () => void): void;
  /** A name that nothing else has, anywhere. */
  unique(): string;
  /** Hears that an invariant of the runtime is broken, outside anybody's call. */
  broken(error: unknown): void;
  /** Carries a message to another logical node: some time, perhaps twice, perhaps after later ones. */
  transmit(from: string, to: string, arrive: () => void): void;
}

/** Node's own `setTimeout` takes no longer delays. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** Begins at the time of day at which the process began, so that its readings look like times. */
const BEGAN_MS = performance.timeOrigin;

function now(): number {
  return BEGAN_MS + performance.now();
}

/** `setTimeout` counts whole milliseconds, from a reading that may be an old one: it can be early by one or two. */
function at(time: number, task: () => void): () => void {
  let timeout: NodeJS.Timeout;
  const wait = () => {
    const ms = Math.ceil(time - now());
    timeout = setTimeout(look, Math.max(0, Math.min(ms, TIMEOUT_MS_MAX)));
  };
  const look = () => (now() < time ? wait() : task());
  wait();
  return () => clearTimeout(timeout);
}

/** How long Headwater may keep the event loop before timers, input and signals get their turn. */
const TURN_MS_MAX = 5;
const LOOK_AT_CLOCK_EVERY = 64;

/** What is chained to it runs as a microtask, at less cost than with `queueMicrotask`. */
const NOW = Promise.resolve();

let turnBegan = 0;
let isTurnMarked = false;
let tasksInTurn = 0;

/** Has this turn of the event loop lasted so long that others must get theirs? */
function isTurnOld(): boolean {
  if (!isTurnMarked) {
    isTurnMarked = true;
    tasksInTurn = 0;
    turnBegan = performance.now();
    setImmediate(() => {
      isTurnMarked = false;
    });
  }
  tasksInTurn += 1;
  return tasksInTurn % LOOK_AT_CLOCK_EVERY === 0 && performance.now() - turnBegan > TURN_MS_MAX;
}

/** A microtask, as long as this turn of the event loop is young: then the loop goes round once in between. */
function soon(task: () => void): void {
  if (isTurnOld()) setImmediate(task);
  else void NOW.then(task);
}

let lastTask: (() => void) | null = null;
let leaveLastTask = () => {};

/** What a microtask leaves for the next tick is done when there are no more microtasks. */
function atRest(task: () => void): void {
  if (isTurnOld()) {
    setImmediate(task);
    return;
  }
  if (task !== lastTask) {
    lastTask = task; // mostly the same one, again and again
    leaveLastTask = () => process.nextTick(task);
  }
  void NOW.then(leaveLastTask);
}

/** One host, in memory: nothing is kept beyond the process. */
export const memoryPorts: Ports = {
  unique: randomUUID,
  now,
  timeOfDay: Date.now,
  soon,
  atRest,
  at,
  append: (done) => done(),
  // Going on could do harm: let it reach the process as the uncaught exception it is.
  broken: (error) =>
    queueMicrotask(() => {
      throw error;
    }),
  transmit: (_from, _to, arrive) => soon(arrive),
};
