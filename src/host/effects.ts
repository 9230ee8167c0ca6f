import type { TimerId } from "../model/event.js";
import type { Outside } from "../model/outside.js";
import type { Method } from "../model/shape.js";
import type { Slot } from "./slot.js";

/** What an event asks for, to leave when it commits. */
export type Effect =
  | { readonly kind: "start"; readonly slot: Slot; readonly method: Method; readonly args: unknown[] }
  | { readonly kind: "send"; readonly slot: Slot; readonly method: Method; readonly args: unknown[] }
  | { readonly kind: "tell"; readonly client: string; readonly message: unknown }
  | {
      readonly kind: "timer";
      readonly id: TimerId;
      readonly due: number;
      readonly slot: Slot;
      readonly method: Method;
      readonly args: unknown[];
    }
  | { readonly kind: "cancel"; readonly id: TimerId }
  | {
      readonly kind: "outside";
      readonly outside: Outside<never, unknown>;
      readonly input: unknown;
      readonly slot: Slot;
      readonly method: Method | null;
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

  flatten(into: Effect[] = []): Effect[] {
    for (const item of this.#items ?? []) {
      if (item instanceof Effects) item.flatten(into);
      else into.push(item);
    }
    return into;
  }
}
