import type { Slot } from "../context/index.js";
import type { Frame } from "./frame.js";

/**
 * Which calls of one method wait for which: each for those made before it in the same context, above or below it. Of
 * calls that wait for one another anyhow only the last is kept, so that many calls do not cost more than one at a time.
 */
export class CallTurns {
  /** The last call in a context. */
  readonly #last = new Map<Slot, Frame>();
  /** Those below a context that came after the last call in the context itself. */
  readonly #below = new Map<Slot, Set<Frame>>();
  readonly #waiting = new Map<Frame, number>();
  readonly #after = new Map<Frame, Frame[]>();

  /** Says whether it need not wait. */
  add(frame: Frame): boolean {
    const { slot } = frame;
    let count = this.#follow(this.#last.get(slot), frame);
    for (const earlier of this.#below.get(slot) ?? []) count += this.#follow(earlier, frame);
    this.#below.delete(slot);
    this.#last.set(slot, frame);
    for (const above of between(frame)) {
      count += this.#follow(this.#last.get(above), frame);
      const below = this.#below.get(above);
      if (below === undefined) this.#below.set(above, new Set([frame]));
      else below.add(frame);
    }
    if (count > 0) this.#waiting.set(frame, count);
    return count === 0;
  }

  #follow(earlier: Frame | undefined, frame: Frame): number {
    if (earlier === undefined) return 0;
    const after = this.#after.get(earlier);
    if (after === undefined) this.#after.set(earlier, [frame]);
    else after.push(frame);
    return 1;
  }

  /** It has ended: those whose turn it is now, in the order in which they were added. */
  remove(frame: Frame): Frame[] {
    const { slot } = frame;
    if (this.#last.get(slot) === frame) this.#last.delete(slot);
    for (const above of between(frame)) this.#below.get(above)?.delete(frame);
    const after = this.#after.get(frame) ?? [];
    this.#after.delete(frame);
    return after.filter((next) => this.#hasItsTurn(next));
  }

  #hasItsTurn(frame: Frame): boolean {
    const left = (this.#waiting.get(frame) ?? 0) - 1;
    if (left > 0) this.#waiting.set(frame, left);
    else this.#waiting.delete(frame);
    return left <= 0;
  }
}

/** The contexts above that of the call, up to the caller's own: a call may be about all that is below that. */
function* between({ slot, outer }: Frame): Iterable<Slot> {
  const top = outer?.slot.depth ?? 0;
  for (let at = slot.parent; at !== null && at.depth >= top; at = at.parent) yield at;
}
