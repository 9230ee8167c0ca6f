import type { HeadwaterError } from "../errors.js";
import { cannotTravel, errorOfForm, fromForm, Packer, pack, toForm } from "../protocol/index.js";

/** What is known of a watched result. */
export type WatchState<T> =
  /** No value has come yet. */
  | {
      readonly status: "loading";
      readonly value: undefined;
      readonly error: undefined;
      readonly isLive: boolean;
    }
  /** `isLive`: is the server reached? If not, the value may have changed since. */
  | { readonly status: "ready"; readonly value: T; readonly error: undefined; readonly isLive: boolean }
  /** The function failed. `value` is the last one, if there was one. */
  | {
      readonly status: "failed";
      readonly value: T | undefined;
      readonly error: Error;
      readonly isLive: boolean;
    };

/** The result of a read-only function of the API, kept up to date. Iterated, it gives the newest value whenever that has changed. */
export interface Watch<T> extends AsyncIterable<T> {
  readonly state: WatchState<T>;
  /** Hears when `state` changes. Returns how to stop. */
  onChange(listener: (state: WatchState<T>) => void): () => void;
  stop(): void;
  [Symbol.dispose](): void;
}

/** A function of an API with arguments: what could be watched. */
export interface Watchable<T> {
  readonly call: unknown;
  /** Equal arguments have equal keys. */
  readonly key: string;
  /** What is known, if it is watched at present. */
  readonly state: WatchState<T>;
  open(): Watch<T>;
}

const LOADING = { status: "loading", value: undefined, error: undefined, isLive: false } as const;

/** One watched result, however many watch it. */
class Shared {
  state: WatchState<unknown> = LOADING;
  /** What the client has of the value. */
  tag = "";
  readonly listeners = new Set<(state: WatchState<unknown>) => void>();
  users = 0;

  constructor(
    readonly id: number,
    readonly key: string,
    readonly name: string,
    /** Packed. */
    readonly args: Uint8Array,
  ) {}

  become(state: WatchState<unknown>): void {
    this.state = state;
    for (const listener of [...this.listeners]) listener(state);
  }

  live(isLive: boolean): void {
    if (this.state.isLive !== isLive) this.become({ ...this.state, isLive });
  }

  frame(): Uint8Array {
    return pack([0, "watch", this.id, this.name, this.args, this.tag]);
  }
}

/** The results that a client watches. They outlive connections: after a reconnection, the server sends what has changed. */
export class Watches {
  readonly #send: (frame: Uint8Array) => void;
  readonly #byKey = new Map<string, Shared>();
  readonly #byId = new Map<number, Shared>();
  #last = 0;
  #end: HeadwaterError | null = null;

  /** `send` sends a frame if there is a connection. */
  constructor(send: (frame: Uint8Array) => void) {
    this.#send = send;
  }

  /** What may be watched. Nothing is asked of the server before it is opened. */
  of(name: string, args: readonly unknown[]): Omit<Watchable<unknown>, "call"> {
    const [key, packed] = this.#pack(name, args);
    const find = () => this.#byKey.get(key);
    return {
      key,
      get state() {
        return find()?.state ?? LOADING;
      },
      open: () => {
        const shared = find() ?? this.#add(name, key, packed);
        shared.users += 1;
        return new Handle(shared, () => this.#leave(shared));
      },
    };
  }

  #pack(name: string, args: readonly unknown[]): [key: string, packed: Uint8Array] {
    if (toForm(name, true) !== name)
      throw cannotTravel("the name of an API function has half of a surrogate pair");
    const packer = new Packer();
    packer.value(args.map((arg) => toForm(arg, true)));
    const packed = packer.take();
    return [`${name} ${Array.from(packed, (byte) => String.fromCharCode(byte)).join("")}`, packed];
  }

  #add(name: string, key: string, packed: Uint8Array): Shared {
    const shared = new Shared(++this.#last, key, name, packed);
    if (this.#end !== null) {
      shared.become({ status: "failed", value: undefined, error: this.#end, isLive: false });
      return shared;
    }
    this.#byKey.set(key, shared);
    this.#byId.set(shared.id, shared);
    this.#send(shared.frame());
    return shared;
  }

  /** A component of a page that is made anew leaves and comes back at once, so the watch ends a little later. */
  #leave(shared: Shared): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    setTimeout(() => {
      if (shared.users > 0 || this.#byId.get(shared.id) !== shared) return;
      this.#byKey.delete(shared.key);
      this.#byId.delete(shared.id);
      this.#send(pack([0, "unwatch", shared.id]));
    }, 0);
  }

  /** There is a connection: the server is told what is watched. */
  opened(): void {
    for (const shared of this.#byId.values()) this.#send(shared.frame());
  }

  /** The connection is lost: values may change without the client's hearing of it. */
  lost(): void {
    for (const shared of this.#byId.values()) shared.live(false);
  }

  closed(error: HeadwaterError): void {
    this.#end = error;
    const all = [...this.#byId.values()];
    this.#byKey.clear();
    this.#byId.clear();
    for (const shared of all)
      shared.become({ status: "failed", value: shared.state.value, error, isLive: false });
  }

  /** `next` reads what is left of the message. */
  take(next: () => unknown, left: number): void {
    const id = Number(next());
    const tag = String(next());
    const shared = this.#byId.get(id);
    if (left <= 2) return shared?.live(true);
    const ok = next() === true;
    const form = next();
    if (shared === undefined) return;
    this.#send(pack([0, "got", id]));
    shared.tag = tag;
    shared.become(
      ok
        ? { status: "ready", value: fromForm(form), error: undefined, isLive: true }
        : { status: "failed", value: shared.state.value, error: errorOfForm(form), isLive: true },
    );
  }
}

/** One who watches. */
class Handle implements Watch<unknown> {
  readonly #shared: Shared;
  readonly #leave: () => void;
  readonly #stops = new Set<() => void>();
  #isOver = false;

  constructor(shared: Shared, leave: () => void) {
    this.#shared = shared;
    this.#leave = leave;
  }

  get state(): WatchState<unknown> {
    return this.#shared.state;
  }

  onChange(listener: (state: WatchState<unknown>) => void): () => void {
    const own = (state: WatchState<unknown>) => listener(state);
    const stop = () => {
      this.#shared.listeners.delete(own);
      this.#stops.delete(stop);
    };
    if (this.#isOver) return stop;
    this.#shared.listeners.add(own);
    this.#stops.add(stop);
    return stop;
  }

  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const stop of [...this.#stops]) stop();
    this.#leave();
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  /** The newest value whenever there is a new one; those in between are left out. Fails as the function does. */
  async *[Symbol.asyncIterator](): AsyncIterator<unknown> {
    let [wake, given]: [() => void, unknown] = [() => {}, LOADING];
    const listening = this.onChange(() => wake());
    const stopped = () => wake();
    this.#stops.add(stopped);
    try {
      while (!this.#isOver) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const { status, value, error } = this.#shared.state;
        if (status === "failed") throw error;
        if (status === "loading" || value === given) await woken;
        else {
          given = value;
          yield value;
        }
      }
    } finally {
      listening();
      this.#stops.delete(stopped);
      this.stop();
    }
  }
}
