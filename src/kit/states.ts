import type { ContextClass } from "../model/context.js";
import { storedNameOf } from "../model/shape.js";
import type { FinalContext } from "../sim/world/index.js";
import type { States } from "./options.js";

/** What contexts hold, for an invariant to look at. */
export function statesOf(contexts: readonly FinalContext[]): States {
  const byAddress = new Map(contexts.map(({ slot, fields }) => [String(slot), fields]));
  return {
    byAddress,
    all: (cls) => {
      // By name: each simulated host has classes of its own.
      const name = storedNameOf(cls as unknown as ContextClass);
      return contexts
        .filter(({ slot }) => slot.shape.name === name)
        .map(({ slot, fields }) => ({ ...fields, key: slot.key, address: String(slot) })) as never;
    },
  };
}
