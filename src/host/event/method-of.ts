import { HeadwaterError } from "../../errors.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";
import { builtins } from "./builtins.js";

/** The method of a context that has this name: one of its class, or one that every context has. */
export function methodOf(slot: Slot, name: string): Method {
  const method = slot.shape.methods.get(name) ?? builtins.get(name);
  if (method !== undefined) return method;
  throw unfit(
    `an event ${slot}.${name}(…) that is still to run, but ${slot.shape.name} has no method "${name}" any more. ` +
      "Put the method back until those events have run",
  );
}

/** What a journal holds does not fit the classes of the program. */
export function unfit(what: string): HeadwaterError {
  return new HeadwaterError("HW-3023", `the journal holds ${what}.`);
}
