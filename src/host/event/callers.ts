import { HeadwaterError } from "../../errors.js";
import { addressAbove, type Context, type ContextClass } from "../../model/context.js";
import { givenInside } from "../../model/inside.js";
import type { Key } from "../../model/key.js";
import type { View } from "../../model/refs.js";
import * as rules from "../../model/rules.js";
import type { Method } from "../../model/shape.js";
import { viewOf } from "../../state/fields.js";
import type { Slot } from "../context/index.js";
import type { Frame } from "./frame.js";
import type { Above } from "./guest.js";

/** What held of the context of a caller, near or far, when it made the call that has led to this method. */
export function callerAt(frame: Frame, slot: Slot): Above | undefined {
  if (frame.execution.node.plant === "callers-as-they-are") return undefined;
  let at = frame;
  for (; at.outer !== null; at = at.outer) {
    const { answer, outer } = at;
    if (outer.slot === slot && answer !== null)
      return { isHeld: answer.callerHeld, state: answer.callerState };
  }
  return at.guest?.above(slot);
}

/** The state of a context above, for a method to look at. */
export function readAbove<T extends Context<Key>>(frame: Frame, cls: ContextClass<T>): View<T> {
  const { execution } = frame;
  const slot = addressAbove(frame.slot, cls as unknown as ContextClass) as Slot;
  const above = callerAt(frame, slot);
  if (above?.state === null) {
    slot.shape.isReadBelow = true; // the next try will know the state as of the call
    execution.startAgain(); // first: the present state may be none that could be stored
  }
  const state = above?.state ?? execution.stateSeen(slot);
  if (state instanceof HeadwaterError) throw state;
  if (state === undefined || state === null)
    throw rules.undeclaredRead(frame.slot, execution.request.method, cls.name);
  return viewOf(slot, state) as View<T>;
}

/** Where something that a method asks for stands among all that the event asks for. */
export function positionsOf(frame: Frame, last: number): number[] {
  const positions = [last];
  let at = frame;
  for (; at.outer !== null; at = at.outer) positions.push(at.answer?.position ?? 0);
  positions.reverse();
  return at.guest === null ? positions : [...at.guest.positions, ...positions];
}

/** Refuses calls that do not go down, and calls of writers in an event that only reads. */
export function checkCall(caller: Frame, slot: Slot, method: Method): void {
  if (slot.parent !== caller.slot && !slot.isBelow(caller.slot)) {
    if (slot === caller.slot) throw rules.callSelf(slot, method);
    if (caller.slot.isBelow(slot)) throw rules.callUp(caller.slot, slot, method);
    throw rules.callSideways(caller.slot, slot, method);
  }
  if (caller.execution.request.method.readonly && !method.readonly)
    throw rules.readonlyCallsWriter(slot, method);
}

/** For code that goes on after its method has ended. */
export function usedTooLate({ slot, method }: Frame, what: string): HeadwaterError {
  const error = rules.usedAfterEnd(slot, method, what);
  givenInside(error, slot, method);
  return error;
}
