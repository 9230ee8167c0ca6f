import { HeadwaterError } from "../../errors.js";
import type { Write } from "../../journal/journal.js";
import { type Path, pathOf } from "../../model/path.js";
import { isUnmade, type State } from "../../state/fields.js";
import { decodeState, encodeState, type Slot, stateWrites } from "../context/index.js";
import type { Above, EnteredContext, Execution, Frame, StateChange } from "../event/index.js";
import { at, type CallerOnWire, type CallRequest, packedValue, unpackedValue } from "../wire/index.js";

/** What a call that goes to another host takes along of contexts on this one. */
export function takenAlong(frame: Frame): Pick<CallRequest, "within" | "callers" | "seen"> {
  const { slot, execution } = frame;
  const callers: CallerOnWire[] = [];
  const calling: Slot[] = [];
  let made = frame;
  for (; made.outer !== null; made = made.outer) {
    const caller = made.outer.slot;
    if (made.answer === null || caller.shape.anonymous) continue;
    calling.push(caller);
    const { callerHeld, callerState } = made.answer;
    if (callerState !== null) callers.push([pathOf(caller), callerHeld, stateOnWire(caller, callerState)]);
  }
  const seen: (readonly [Path, Uint8Array])[] = [];
  for (let entry = execution.firstEntered; entry !== null; entry = entry.next) {
    if (entry.slot.shape.slots.length === 0 || calling.includes(entry.slot)) continue;
    if (slot.isBelow(entry.slot) || entry.slot.isBelow(slot)) addState(entry, seen);
  }
  return { within: made.guest?.call ?? 0, callers, seen };
}

function stateOnWire(slot: Slot, state: NonNullable<Above["state"]>): CallerOnWire[2] {
  if (state instanceof HeadwaterError) return [state.code, packedValue(state.message)];
  return encodeState(slot, state);
}

/** What came along, for methods that look at it. */
export function callersFromWire(
  callers: CallRequest["callers"],
  node: string,
  roots: ReadonlyMap<string, Slot>,
): (slot: Slot) => Above | undefined {
  const bySlot = new Map(callers.map((caller) => [at(node, caller[0], roots), caller]));
  return (slot) => {
    const caller = bySlot.get(slot);
    if (caller === undefined) return undefined;
    const [, isHeld, state] = caller;
    if (state instanceof Uint8Array) return { isHeld, state: decodeState(slot, state) };
    return { isHeld, state: HeadwaterError.restored(state[0], unpackedValue(state[1]) as string) };
  };
}

/** What the journal is to have of the contexts that the event has changed here. `kept` are states that it has or will have. */
export function writesOf(execution: Execution, kept: WeakSet<State>): readonly Write[] {
  const writes: Write[] = [];
  const changes = new Map<Slot, StateChange>();
  execution.collectChanges(changes);
  for (const [slot, { before, after }] of changes) {
    stateWrites(slot, kept.has(before) ? before : null, after, writes);
    if (!isUnmade(after)) kept.add(after); // the journal has nothing of a context that was deleted
  }
  return writes;
}

/** The states of the contexts that the event has entered here, as far as there are contexts below that could look at them. */
export function statesOf(execution: Execution): readonly (readonly [Path, Uint8Array])[] {
  const states: (readonly [Path, Uint8Array])[] = [];
  for (let entry = execution.firstEntered; entry !== null; entry = entry.next) addState(entry, states);
  return states;
}

function addState(entry: EnteredContext, states: (readonly [Path, Uint8Array])[]): void {
  if (entry.slot.shape.slots.length === 0) return;
  try {
    states.push([pathOf(entry.slot), encodeState(entry.slot, entry.current())]);
  } catch {
    // What is in it at the moment cannot be stored; the event fails for that when its method ends.
  }
}

/** The state of a context for methods below that read it; a context that cannot be made has none. */
export function stateToSee(slot: Slot): Uint8Array | null {
  try {
    return encodeState(slot, slot.state);
  } catch {
    return null;
  }
}
