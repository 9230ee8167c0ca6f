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

/** Effects in the order of the program text: those of a call stand where the call stands. */
export class Effects {
  #items: (Effect | Effects)[] | null = null;

  push(item: Effect | Effects): void {
    this.#items ??= [];
    this.#items.push(item);
  }

  /** A call that failed asked for nothing. */
  clear(): void {
    this.#items = null;
  }

  /** Without recursion: calls may be nested deeper than the stack. */
  flatten(): Effect[] {
    const flat: Effect[] = [];
    const open = [(this.#items ?? []).values()];
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const { value, done } = at.next();
      if (done) open.pop();
      else if (value instanceof Effects) open.push((value.#items ?? []).values());
      else flat.push(value);
    }
    return flat;
  }
}
