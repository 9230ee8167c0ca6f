import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";
import timersPromises from "node:timers/promises";

/** Where simulated code is: in a method of an event, in an outside function, or in an act of a caller. */
export interface CodePlace {
  readonly kind: "event" | "outside" | "act";
  readonly run: SimulatedRun;
  /** For an outside function: its name, and the key of the call. */
  readonly call?: { readonly name: string; readonly key: string };
}

/** What stands in for the machine while a simulated program runs. */
export interface SimulatedRun {
  now(): number;
  random(): number;
  after(ms: number, task: () => void): () => void;
  fetch(place: CodePlace, request: Request): Promise<Response>;
  /** Code of the program wants to reach the network in a way that is not simulated. */
  connects(place: CodePlace): Error;
}

const places = new AsyncLocalStorage<CodePlace>();

/** Runs code at a place: what it asks of the machine is answered by its run. */
export function at<T>(place: CodePlace, task: () => T): T {
  return places.run(place, task);
}

/** Runs code that is no part of any simulation. */
export function elsewhere<T>(task: () => T): T {
  return places.exit(task);
}

class VirtualTimeout {
  constructor(readonly callOff: () => void) {}
  ref = () => this;
  unref = () => this;
  hasRef = () => true;
}

const real = {
  fetch: globalThis.fetch,
  Date: globalThis.Date,
  random: Math.random,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  sleep: timersPromises.setTimeout,
  connect: Socket.prototype.connect,
};

let users = 0;

/** While simulations run, code of simulated programs sees their time, luck and network; all other code sees the real ones. */
export async function withSimulatedGlobals<T>(task: () => Promise<T>): Promise<T> {
  if (users++ === 0) install();
  try {
    return await task();
  } finally {
    if (--users === 0) restore();
  }
}

function install(): void {
  globalThis.fetch = (input, init) => {
    const place = places.getStore();
    return place === undefined ? real.fetch(input, init) : place.run.fetch(place, new Request(input, init));
  };
  globalThis.Date = new Proxy(real.Date, {
    construct(target, args, newTarget) {
      const place = args.length === 0 ? places.getStore() : undefined;
      return Reflect.construct(target, place === undefined ? args : [place.run.now()], newTarget);
    },
    get: (target, name, receiver) => (name === "now" ? virtualNow : Reflect.get(target, name, receiver)),
  });
  Math.random = () => places.getStore()?.run.random() ?? real.random();
  globalThis.setTimeout = Object.assign((task: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const place = places.getStore();
    if (place === undefined) return real.setTimeout(task, ms, ...args);
    return new VirtualTimeout(place.run.after(Math.max(1, ms), () => at(place, () => task(...args))));
  }, real.setTimeout) as typeof setTimeout;
  globalThis.setInterval = ((task: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const place = places.getStore();
    if (place === undefined) return real.setInterval(task, ms, ...args);
    let callOff = () => {};
    const again = () => {
      callOff = place.run.after(Math.max(1, ms), () => {
        again();
        at(place, () => task(...args));
      });
    };
    again();
    return new VirtualTimeout(() => callOff());
  }) as typeof setInterval;
  globalThis.clearTimeout = (timeout) => clear(timeout, real.clearTimeout);
  globalThis.clearInterval = (timeout) => clear(timeout, real.clearInterval);
  timersPromises.setTimeout = (<T>(ms = 0, value?: T, options?: object) => {
    const place = places.getStore();
    if (place === undefined) return real.sleep(ms, value, options);
    return new Promise<T | undefined>((resolve) => place.run.after(Math.max(1, ms), () => resolve(value)));
  }) as typeof timersPromises.setTimeout;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
    const place = places.getStore();
    if (place !== undefined) throw place.run.connects(place);
    return Reflect.apply(real.connect, this, args);
  } as typeof real.connect;
  syncBuiltinESMExports();
}

function virtualNow(): number {
  return places.getStore()?.run.now() ?? real.Date.now();
}

function clear(timeout: unknown, otherwise: (timeout: never) => void): void {
  if (timeout instanceof VirtualTimeout) timeout.callOff();
  else otherwise(timeout as never);
}

function restore(): void {
  const { fetch, Date: date, random, sleep, connect, ...timers } = real;
  Object.assign(globalThis, timers, { fetch, Date: date });
  Math.random = random;
  timersPromises.setTimeout = sleep;
  Socket.prototype.connect = connect;
  syncBuiltinESMExports();
}
