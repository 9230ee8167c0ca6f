import type { Beat } from "../journal/stream/beats.js";

/** A member that does not beat for so long is gone. */
const GONE_MS = 2000;

/** The members of a cluster, by what they say. */
export class Members {
  readonly #heard = new Map<string, { readonly beat: Beat; readonly at: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  heard(beat: Beat): void {
    this.#heard.set(beat.member, { beat, at: this.#now() });
  }

  left(member: string): void {
    this.#heard.delete(member);
  }

  /** Live members, in the order of their names. */
  living(): Beat[] {
    const now = this.#now();
    for (const [member, { at }] of this.#heard) if (now - at > GONE_MS) this.#heard.delete(member);
    return [...this.#heard.values()].map(({ beat }) => beat).sort((a, b) => (a.member < b.member ? -1 : 1));
  }

  /** How many living standbys come before this one. */
  rankOf(member: string): number {
    return this.living().filter((beat) => beat.state === "standby" && beat.member < member).length;
  }

  get hasStandby(): boolean {
    return this.living().some(({ state }) => state === "standby");
  }

  /** The next head after this one: the standby of that name, or the standby that has read most of the log. Null if there is none. */
  successor(head: string, wanted: string | null): string | null {
    const standbys = this.living().filter((beat) => beat.state === "standby" && beat.member !== head);
    const wantedOnes = standbys.filter(({ member }) => wanted === null || isNamed(member, wanted));
    return wantedOnes.sort((a, b) => b.position - a.position)[0]?.member ?? null;
  }
}

/** Is it the name of a member, with or without its ending that no other process has? */
export function isNamed(member: string, name: string): boolean {
  return member === name || member.replace(/-[0-9a-f]{8}$/, "") === name;
}
