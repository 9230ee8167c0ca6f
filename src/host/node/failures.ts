import type { FailedEvent, Feed } from "../../observe/index.js";
import { type EventRequest, isAnswer } from "../event/index.js";

const WINDOW_MS = 60_000;
const KINDS_MAX = 100;
const MESSAGE_LENGTH_MAX = 100;

interface Kind {
  readonly until: number;
  unreported: number;
}

/** Reports failures of the application: each one, or for requests the first of a kind in a minute. */
export class Failures {
  readonly #now: () => number;
  readonly #feed: Feed;
  readonly #kinds = new Map<string, Kind>();

  constructor(now: () => number, feed: Feed) {
    this.#now = now;
    this.#feed = feed;
  }

  /** An event has failed. */
  ofEvent({ slot, method, origin }: EventRequest, error: unknown): void {
    const failed = { context: String(slot), method: method.name, startedBy: origin.kind, error };
    if (origin.kind !== "request") this.#tell({ ...failed, unreported: 0 });
    else this.#ofRequest(`${slot.shape.name}.${method.name}`, failed);
  }

  /** A function of the API has failed before it made its request, or after that was answered. */
  ofApi(name: string, error: unknown): void {
    this.#ofRequest(`api.${name}`, { context: "api", method: name, startedBy: "request", error });
  }

  #ofRequest(where: string, failed: Omit<FailedEvent, "unreported">): void {
    if (isAnswer(failed.error)) return;
    const now = this.#now();
    const name = `${where} ${shortTextOf(failed.error)}`;
    const known = this.#kinds.get(name);
    if (known !== undefined && known.until > now) known.unreported += 1;
    else if (known !== undefined || this.#hasRoom(now)) {
      this.#kinds.set(name, { until: now + WINDOW_MS, unreported: 0 });
      this.#tell({ ...failed, unreported: known?.unreported ?? 0 });
    }
  }

  #hasRoom(now: number): boolean {
    if (this.#kinds.size < KINDS_MAX) return true;
    for (const [name, { until }] of this.#kinds) if (until <= now) this.#kinds.delete(name);
    return this.#kinds.size < KINDS_MAX;
  }

  #tell(failed: FailedEvent): void {
    this.#feed.note({ kind: "failure", ...failed });
  }
}

function shortTextOf(error: unknown): string {
  try {
    const { name, message } = error as Error;
    return `${name}: ${message}`.slice(0, MESSAGE_LENGTH_MAX);
  } catch {
    return typeof error;
  }
}
