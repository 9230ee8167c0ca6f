import { CoreContext } from "../../core/core-context.js";
import { Address } from "../../model/address.js";
import type { Context, ContextClass } from "../../model/context.js";
import type { Key } from "../../model/key.js";
import { type ChildSlot, type Shape, shapeOf } from "../../model/shape.js";
import { initialState, isUnmade, refill, type State } from "../../state/fields.js";
import { noticeLateWrites } from "../../state/late-writes.js";
import type { EventRequest } from "../event/index.js";
import { type Keeper, type Unmade, weakly } from "./cache.js";
import { Residence } from "./residence.js";
import { StoredContext } from "./stored-state.js";

/** A context on this host: its place in the order of events, and its state. */
export class Slot extends Address {
  readonly shape: Shape;
  readonly coreContext: CoreContext<EventRequest>;
  #state: State | null = null;
  #residence: Residence | null = null;
  #stored: StoredContext | null = null;
  /** An instance that no event is using. */
  #parked: Context<Key> | null = null;
  /** An instance that no event will use again, and the state in which it was left. */
  #left: { readonly instance: Context<Key>; readonly state: State } | null = null;
  /** Attempts of events that have entered it here and that the journal does not have. */
  users = 0;
  #load: (() => State | null) | null = null;
  /** Without a journal: does it exist here, or, in the head, on a host? */
  #isMade = false;
  /** Itself, if it exists, and the contexts right below it that have something that exists: they are not dropped. */
  #pins = 0;
  /** The generation of the cache in which it was used last. */
  #usedIn = 0;

  constructor(
    node: string,
    override readonly parent: Slot | null,
    slot: ChildSlot | null,
    key: Key | undefined,
    cls: ContextClass,
    /** Where the states of contexts are kept, if anywhere but here. */
    readonly keeper: Keeper | null = null,
    /** Without a keeper: what drops contexts that do not exist. */
    readonly unmade: Unmade | null = null,
  ) {
    super(node, parent, slot, key);
    this.shape = shapeOf(cls, key);
    this.coreContext = new CoreContext(parent === null ? null : parent.coreContext, this);
  }

  protected override make(slot: ChildSlot, key: Key | undefined): this {
    return new Slot(this.node, this, slot, key, slot.cls, this.keeper, this.unmade) as this;
  }

  protected override hold(
    child: this,
    among: Map<string | number, unknown>,
    name: string | number,
  ): this | WeakRef<this> {
    if (this.keeper !== null) return this.keeper.hold(child, among, name);
    this.unmade?.add(child);
    return child;
  }

  /** What exists is held for good. */
  private holdAgain(child: Slot): void {
    this.rehold(child as this, (held) => held);
  }

  /** What does not exist is held as long as an event or a caller does. */
  private holdWeakly(child: Slot): void {
    this.rehold(child as this, weakly);
  }

  /** For a context that comes from elsewhere: how to get its state when it is first used. */
  comesWith(load: () => State | null): void {
    this.makes(true); // as far as is known
    this.#state = null;
    this.#parked = null;
    this.#left = null;
    this.#load = load;
    if (this.keeper !== null) this.usedIn(this.keeper.cache);
  }

  /** The state as later events find it: what finished events left, and what running ones have given up. */
  get state(): State {
    if (this.#state === null) {
      const state = this.#load?.() ?? this.keeper?.load(this) ?? initialState(this);
      if (this.#load !== null) this.makes(!isUnmade(state)); // which may evict contexts
      this.#load = null;
      this.#state = state;
    }
    if (this.keeper !== null) this.usedIn(this.keeper.cache);
    return this.#state;
  }

  /** Have events changed it since it was made or deleted? Without a journal only; with one, the journal knows. */
  get isMade(): boolean {
    return this.#isMade;
  }

  /** What the head of its logical node knows of it while it is on hosts. It is used by the head only. */
  get residence(): Residence {
    this.#residence ??= new Residence();
    return this.#residence;
  }

  /** Keeps it in memory for a while. */
  usedIn(cache: Keeper["cache"]): void {
    if (this.#usedIn === cache.generation) return;
    this.#usedIn = cache.generation;
    cache.add(this);
  }

  /** Drops the state, which is in the journal. Not while an event is here that is not. */
  evict(): boolean {
    if (this.users > 0) return false;
    this.#state = null;
    this.#parked = null;
    this.#left = null;
    this.#load = null;
    this.#usedIn = 0;
    this.makes(false);
    return true;
  }

  /** Where and how a journal has this context. */
  get stored(): StoredContext {
    this.#stored ??= new StoredContext(this);
    return this.#stored;
  }

  /** Has any event entered this context or looked at it? */
  get exists(): boolean {
    return this.#state !== null || this.#load !== null;
  }

  /** Makes a state the present one. `instance`, if given, is free. */
  put(state: State, instance: Context<Key> | null): void {
    if (this.#state === state) {
      this.#parked ??= instance;
      return;
    }
    this.#parked = instance;
    this.makes(!isUnmade(state));
    this.#state = state;
  }

  /** It exists from now on, or does not any more. The head says so of contexts on hosts. */
  makes(isMade: boolean): void {
    if (this.#isMade === isMade || this.keeper !== null) return;
    this.#isMade = isMade;
    if (this.#residence !== null) this.#residence.isDeleted = !isMade;
    if (this.unmade !== null) this.#pin(!isMade, isMade);
  }

  #pin(wasMade: boolean, isMade: boolean): void {
    this.#pins += isMade ? 1 : -1;
    if (this.#pins !== (isMade ? 1 : 0)) return; // nothing has changed for the one above
    if (isMade) this.parent?.holdAgain(this);
    else this.unmade?.add(this);
    if (this.parent !== null) this.parent.#pin(wasMade, isMade);
  }

  /** Neither it nor anything below it exists: all that is lost with it is its name. Not while an event is here. */
  evictUnmade(): boolean {
    if (this.#pins > 0) return true; // it comes back when it is deleted
    if (this.#residence !== null && !this.#residence.leavesHost()) return false;
    if (!this.evict()) return false;
    this.parent?.holdWeakly(this);
    return true;
  }

  /**
   * An instance that holds the present state and that others have used before, for one event alone. Only what runs to
   * its end at once may use it: code that they left behind could get in between.
   */
  takeParked(): Context<Key> | null {
    const parked = this.#parked;
    if (parked === null) return null;
    this.#parked = null;
    return refill(parked, this, this.state) ? parked : null;
  }

  /** An event has left an instance in which it had waited for something. Some of them are looked at again later. */
  left(instance: Context<Key>, state: State): void {
    if (this.#left !== null) noticeLateWrites(this.#left.instance, this, this.#left.state);
    this.#left = this.shape.isToBeLookedAt() ? { instance, state } : null;
  }
}

/** A context that cannot be made, because its field initialisers throw, has no state. */
export function stateOrNull(slot: Slot): State | null {
  try {
    return slot.state;
  } catch {
    return null;
  }
}
