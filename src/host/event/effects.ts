import type { TimerId } from "../../model/event.js";
import type { Outside } from "../../model/outside.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";

/** What an event asks for, to leave when it commits. */
export type Effect =
  | { readonly kind: "start"; readonly slot: Slot; readonly method: Method; readonly args: unknown[] }
  | {
      readonly kind: "send";
      readonly slot: Slot;
      readonly method: Method;
      readonly args: unknown[];
      /** The address of the context that sends it. */
      readonly sender: string;
    }
  | { readonly kind: "tell"; readonly client: string; readonly message: unknown }
  | {
      readonly kind: "timer";
      readonly id: TimerId;
      /** The context that has set it, and can cancel it: that of its event, or one below. */
      readonly owner: Slot;
      /** By the clock that only goes forward. */
      readonly due: number;
      readonly slot: Slot;
      readonly method: Method;
      readonly args: unknown[];
    }
  /** `due` is when it would have gone off; null if it was not armed any more. */
  | { readonly kind: "cancel"; readonly id: TimerId; readonly due: number | null }
  | {
      readonly kind: "outside";
      readonly outside: Outside<never, unknown>;
      readonly input: unknown;
      readonly slot: Slot;
      readonly method: Method | null;
      /** What the method gets besides the result. */
      readonly args: unknown[];
    };

interface Placed {
  readonly at: number;
  readonly item: Effect | Effects;
}

/** Effects in the order of the program text: those of a call stand where the call stands. */
export class Effects {
  #items: Placed[] | null = null;
  #isInOrder = true;

  /** Of two at the same place, the first one stands first. */
  push(item: Effect | Effects, at: number): void {
    this.#items ??= [];
    if (at < (this.#items.at(-1)?.at ?? at)) this.#isInOrder = false;
    this.#items.push({ at, item });
  }

  /** A call that failed asked for nothing. */
  clear(): void {
    this.#items = null;
  }

  /** Without recursion: calls may be nested deeper than the stack. */
  flatten(): Effect[] {
    const flat: Effect[] = [];
    const open = [this.#inOrder().values()];
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const { value, done } = at.next();
      if (done) open.pop();
      else if (value.item instanceof Effects) open.push(value.item.#inOrder().values());
      else flat.push(value.item);
    }
    return flat;
  }

  /** Calls may ask for something in another order than that in which they were made. */
  #inOrder(): readonly Placed[] {
    if (!this.#isInOrder) this.#items?.sort((a, b) => a.at - b.at);
    this.#isInOrder = true;
    return this.#items ?? [];
  }
}
