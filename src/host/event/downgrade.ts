import * as rules from "../../model/rules.js";
import { callerAt } from "./callers.js";
import type { EnteredContext } from "./entered-context.js";
import type { Frame } from "./frame.js";

/**
 * Gives a context up early. The event keeps the present state as its view, and its instance to read from; the core lets later
 * events in. Contexts are given up from the top.
 */
export function downgrade(frame: Frame, entry: EnteredContext): void {
  const { slot, execution } = frame;
  if (entry.released || slot.shape.anonymous) return;
  if (execution.request.method.readonly) throw rules.readonlyDowngrade(slot);
  for (let above = slot.parent; above !== null; above = above.parent)
    if (callerAt(frame, above)?.isHeld ?? execution.holds(above)) throw rules.downgradeBelowHeld(slot, above);
  entry.keepRunning(entry.current());
  entry.release();
  execution.node.release(execution.event, slot, entry.state !== entry.before);
}
