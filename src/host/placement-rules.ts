import { type Colocate, Placement } from "../elastic/placement.js";
import { HeadwaterError } from "../errors.js";
import { Context, type ContextClass } from "../model/context.js";
import { isKindOf } from "../model/shape.js";

/** Which contexts are on which hosts. What no rule speaks of is placed by hashing, together with its parent. */
export interface PlacementRules {
  /** Contexts of these classes are placed by themselves, not with their parents. */
  readonly separate?: readonly ContextClass[];
  /** Contexts for which it returns the same name are on one host. */
  readonly colocate?: Colocate;
  /** Addresses, `*` for any key, and the hosts (from 0) where these contexts are: `{ "Game.buildings(*)": 0 }`. */
  readonly pin?: Readonly<Record<string, number>>;
}

/** The places on so many hosts, according to rules. */
export function placementFor(
  hosts: number,
  { separate = [], colocate, pin = {} }: PlacementRules = {},
): Placement {
  const placement = new Placement(Array.from({ length: hosts }, (_, host) => host));
  for (const cls of separate) placement.separate(contextClass(cls));
  if (colocate !== undefined) placement.colocate(colocate);
  for (const [pattern, host] of Object.entries(pin)) {
    if (!placement.isOpen(host)) {
      throw new HeadwaterError(
        "HW-6011",
        `\`placement.pin\` names host ${host} for ${pattern}. There are ${hosts} hosts, the first is host 0.`,
      );
    }
    placement.pin(pattern, host);
  }
  return placement;
}

/** The class, if it is one of contexts. */
export function contextClass(cls: unknown): ContextClass {
  if (typeof cls === "function" && isKindOf(cls as ContextClass, Context)) return cls as ContextClass;
  throw new HeadwaterError(
    "HW-6013",
    `${String(cls)} is no class of contexts, so none can be placed by themselves.`,
  );
}
