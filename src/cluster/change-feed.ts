import type { EventChange } from "../host/cluster-side.js";
import type { HeadMessage } from "./relayed.js";

/** A gateway that hears of changes, as the head sees it. */
export interface Watcher {
  send(message: HeadMessage): void;
  /** It does not answer: its connection is closed. */
  cut(): void;
  /** The last change that it has dealt with. */
  seen: number;
}

interface Announcement {
  readonly upTo: number;
  readonly dueMs: number;
  readonly isStrict: boolean;
  readonly done: () => void;
}

/**
 * How long a gateway may rely on what it has heard, counted from when it sent a question that the head has answered. The head waits longer: so
 * a gateway that the head has given up does not rely on it any more.
 */
export const LEASE_MS = 1000;
const GIVEN_UP_MS = 1.5 * LEASE_MS;

/** Tells gateways which events were carried out by the head of one epoch. Nothing is observed while no gateway asks for it. */
export class ChangeFeed {
  readonly #observe: (changed: (change: EventChange | null) => void) => () => void;
  readonly #watchers = new Set<Watcher>();
  #stopObserving: (() => void) | null = null;
  /** What was not told yet; null: anything may have changed. */
  #gathered: Map<string, EventChange> | null = new Map();
  #isDue = false;
  #last = 0;
  #announcements: Announcement[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** When a gateway left, or the epoch began: one that is not connected may rely on what it heard before. */
  #leftMs = performance.now();

  /** `observe` calls back with each event that may have changed something, null if it has missed some. */
  constructor(observe: (changed: (change: EventChange | null) => void) => () => void) {
    this.#observe = observe;
  }

  join(watcher: Watcher): void {
    watcher.seen = this.#last;
    this.#watchers.add(watcher);
    this.#stopObserving ??= this.#observe((change) => this.#gather(change));
  }

  leave(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher)) return;
    this.#leftMs = performance.now();
    if (this.#watchers.size === 0) this.#end();
    this.#look();
  }

  seen(watcher: Watcher, change: number): void {
    watcher.seen = Math.max(watcher.seen, change);
    this.#look();
  }

  /** Calls back when all gateways have dealt with these changes, or cannot rely on what they know any more. */
  announce(changes: readonly EventChange[], isStrict: boolean, done: () => void): void {
    for (const change of changes) this.#gather(change);
    this.#tell();
    const dueMs = performance.now() + GIVEN_UP_MS;
    this.#announcements.push({ upTo: this.#last, dueMs, isStrict, done });
    this.#look();
  }

  close(): void {
    this.#watchers.clear();
    this.#announcements = [];
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#end();
  }

  #end(): void {
    this.#stopObserving?.();
    this.#stopObserving = null;
  }

  #gather(change: EventChange | null): void {
    if (change === null) this.#gathered = null;
    else this.#gathered?.set(change.join(" "), change);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#tell());
  }

  #tell(): void {
    this.#isDue = false;
    const gathered = this.#gathered;
    if (gathered?.size === 0) return;
    this.#gathered = new Map();
    this.#last += 1;
    const changes = gathered === null ? null : [...gathered.values()];
    for (const watcher of this.#watchers) watcher.send({ kind: "changed", change: this.#last, changes });
  }

  #look(): void {
    const nowMs = performance.now();
    this.#announcements = this.#announcements.filter(({ upTo, dueMs, isStrict, done }) => {
      const late = [...this.#watchers].filter(({ seen }) => seen < upTo);
      const isOver = nowMs >= dueMs;
      if (late.length > 0 && !isOver) return true;
      if (isStrict && nowMs < this.#leftMs + GIVEN_UP_MS) return true;
      for (const watcher of late) watcher.cut();
      done();
      return false;
    });
    if (this.#timer !== null || this.#announcements.length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#look();
    }, LEASE_MS / 20).unref();
  }
}
