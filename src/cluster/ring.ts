import { createHash } from "node:crypto";
import type { Beat } from "../journal/stream/beats.js";

/** How many points of the ring each member has: the more, the more equal are their parts. */
const POINTS = 64;
/** A member that is silent for so long is gone for good; what it had is placed elsewhere. Until then it may come back, and goes on. */
export const PATIENCE_MS = 5000;

/**
 * Consistent hashing (Stormy, section 3.3): members and places are points of a circle, and a place belongs to the members that come behind it.
 * When a member comes or goes, only what it gets or had changes its owner.
 */
export class Ring {
  readonly #points: readonly (readonly [at: number, member: string])[];

  constructor(members: Iterable<string>) {
    this.#points = [...members]
      .flatMap((member) =>
        Array.from({ length: POINTS }, (_, i) => [pointOf(`${member} ${i}`), member] as const),
      )
      .sort(([a], [b]) => a - b);
  }

  /** The members that a place belongs to, so many or all. */
  owners(place: string, count: number): readonly string[] {
    const at = pointOf(place);
    const found = new Set<string>();
    const begin = this.#points.findIndex(([point]) => point >= at);
    for (let i = 0; i < this.#points.length && found.size < count; i++) {
      const [, member = ""] = this.#points[(Math.max(0, begin) + i) % this.#points.length] ?? [];
      found.add(member);
    }
    return [...found];
  }
}

function pointOf(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6);
}

/** Who is on the ring: the standbys. The head runs everything anyway. */
export class RingMembers {
  readonly #now: () => number;
  readonly #heard = new Map<string, number>();
  #ring: Ring | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  heard({ member, state }: Beat): void {
    if (state === "standby") {
      if (!this.#heard.has(member)) this.#ring = null;
      this.#heard.set(member, this.#now());
    } else if (this.#heard.delete(member)) this.#ring = null;
  }

  get ring(): Ring {
    const now = this.#now();
    for (const [member, at] of this.#heard) {
      if (now - at <= PATIENCE_MS) continue;
      this.#heard.delete(member);
      this.#ring = null;
    }
    this.#ring ??= new Ring(this.#heard.keys());
    return this.#ring;
  }
}
