import { BEAT_MS, type Beat } from "../journal/stream/beats.js";
import type { Feed } from "../observe/index.js";

const MEASURED_MS = 1000;

/** Tells observers of this process who joins and leaves its cluster, and how busy each member is, as they say it in their beats. */
export class MemberFeed {
  readonly #feed: Feed;
  readonly #living: () => readonly Beat[];
  readonly #known = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #measuredAtMs = Number.NEGATIVE_INFINITY;

  constructor(feed: Feed, living: () => readonly Beat[]) {
    this.#feed = feed;
    this.#living = living;
    this.#timer = setInterval(() => this.#look(), BEAT_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (!this.#feed.wants("member")) return this.#known.clear();
    const living = this.#living();
    const isDue = performance.now() - this.#measuredAtMs >= MEASURED_MS;
    if (isDue) this.#measuredAtMs = performance.now();
    for (const { member, state, load = null } of living) {
      const isNew = !this.#known.has(member);
      this.#known.add(member);
      if (isNew) this.#feed.note({ kind: "member", what: "joined", member, state, load });
      else if (isDue) this.#feed.note({ kind: "member", what: "measured", member, state, load });
    }
    const members = new Set(living.map(({ member }) => member));
    for (const member of this.#known) {
      if (members.has(member)) continue;
      this.#known.delete(member);
      this.#feed.note({ kind: "member", what: "left", member, state: "leaving", load: null });
    }
  }
}
