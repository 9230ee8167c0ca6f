import type { Member } from "./member.js";
import type { MemberWorld } from "./world.js";

const LOOK_MS = 1000;
/** An imbalance that lasts for so many looks is no passing one. */
const LOOKS = 3;

/**
 * Spreads the heads of several logs over the processes: one that is the head of at least two logs more than a standby of one of them hands
 * that over. Each step makes the two more equal, so steps come to an end, whichever processes step at the same time.
 */
export class HeadSpread {
  readonly #members: readonly Member[];
  #looks = 0;
  #isMoving = false;
  readonly #stop: () => void;

  /** The members of one process, one for each log. */
  constructor(world: Pick<MemberWorld, "every">, members: readonly Member[]) {
    this.#members = members;
    this.#stop = world.every(LOOK_MS, () => this.#look());
  }

  stop(): void {
    this.#stop();
  }

  #look(): void {
    const step = this.#isMoving ? null : this.#step();
    this.#looks = step === null ? 0 : this.#looks + 1;
    if (step === null || this.#looks < LOOKS) return;
    this.#looks = 0;
    this.#isMoving = true;
    const moved = () => {
      this.#isMoving = false;
    };
    step.member.handOver(step.to).then(moved, moved); // the standby may have gone meanwhile
  }

  /** The log to hand over, and the standby that is the head of the fewest. */
  #step(): { readonly member: Member; readonly to: string } | null {
    const heads = this.#members.filter(({ isHead }) => isHead);
    let best: { readonly member: Member; readonly to: string; readonly count: number } | null = null;
    for (const member of heads) {
      for (const { member: to, state } of member.presence.members.living()) {
        if (state !== "standby") continue;
        const count = this.#members.filter(({ headMember }) => headMember === to).length;
        if (count < (best?.count ?? heads.length - 1)) best = { member, to, count };
      }
    }
    return best;
  }
}
