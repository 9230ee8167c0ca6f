import type { TimerId } from "../model/event.js";
import type { Armed } from "../state/fields.js";

/** An event that looks for more timers than this among those of before makes an index of them. */
const LOOKUPS_WITHOUT_INDEX = 16;

/**
 * The timers that a context has armed, while a method arms some and cancels others: what each of them costs does not
 * depend on how many there are. Only the list that becomes part of the state is copied, once for each method.
 */
export class ArmedTimers {
  readonly #before: Armed;
  readonly #added = new Set<TimerId>();
  readonly #removed = new Set<TimerId>();
  #index: ReadonlySet<TimerId> | null = null;
  #lookups = 0;
  /** Where the last one was that was looked for without an index. */
  #foundAt = -1;
  #isChanged = false;
  #list: Armed | null = null;

  constructor(before: Armed) {
    this.#before = before;
  }

  add(timer: TimerId): void {
    this.#added.add(timer);
    this.#changes();
  }

  /** Says whether it was armed. */
  remove(timer: TimerId): boolean {
    if (!this.#added.delete(timer)) {
      if (this.#removed.has(timer) || !this.#wasArmed(timer)) return false;
      this.#removed.add(timer);
    }
    this.#changes();
    return true;
  }

  #wasArmed(timer: TimerId): boolean {
    this.#lookups += 1;
    if (this.#lookups <= LOOKUPS_WITHOUT_INDEX) {
      this.#foundAt = this.#before.indexOf(timer);
      return this.#foundAt >= 0;
    }
    this.#index ??= new Set(this.#before);
    return this.#index.has(timer);
  }

  #changes(): void {
    this.#isChanged = true;
    this.#list = null;
  }

  /** All that are armed, in the order in which they were; null if the method has changed nothing. */
  get changed(): Armed | null {
    if (this.#isChanged) this.#list ??= this.#copied();
    return this.#list;
  }

  #copied(): Armed {
    const left = this.#left();
    return this.#added.size === 0 && left !== this.#before ? left : left.concat([...this.#added]);
  }

  #left(): Armed {
    const [before, removed] = [this.#before, this.#removed];
    if (removed.size === 0) return before;
    if (removed.size > 1) return before.filter((timer) => !removed.has(timer));
    const [only] = removed;
    const at = before[this.#foundAt] === only ? this.#foundAt : before.indexOf(only as TimerId);
    return before.toSpliced(at, 1);
  }
}
