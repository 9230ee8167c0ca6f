import type { HeadwaterError } from "../errors.js";
import type { Address } from "./address.js";
import { Context } from "./context.js";
import * as rules from "./rules.js";
import type { Method, Shape } from "./shape.js";

/** How V8 says that an object cannot get or lose a field. */
const ADDED = /^Cannot (?:add|define) property (.+), object is not extensible$/;
const DELETED = /^Cannot delete property '(.+)' of #<(?!Object>).+>$/;

/**
 * A context has the fields that it was made with, and JavaScript's own words for that do not lead to the reason. If what
 * a method threw says that, about the context itself, this says it in the words of the model.
 */
export function explained(thrown: unknown, address: Address, method: Method): unknown {
  try {
    return thrown instanceof TypeError ? (brokenRule(thrown.message, address, method) ?? thrown) : thrown;
  } catch {
    return thrown; // it may be anything, also something that cannot be looked at
  }
}

function brokenRule(message: string, address: Address, method: Method): HeadwaterError | null {
  const { shape } = address;
  const [, added] = ADDED.exec(message) ?? [];
  if (added !== undefined && !hasField(shape, added) && mentions(shape, "\\bthis", added))
    return rules.fieldAdded(address, method, added);
  const [, deleted] = DELETED.exec(message) ?? [];
  if (deleted !== undefined && hasField(shape, deleted) && mentions(shape, "\\bdelete\\s+this", deleted))
    return rules.fieldDeleted(address, method, deleted);
  return null;
}

function hasField({ fields, slots }: Shape, name: string): boolean {
  return fields.includes(name) || slots.some(({ field }) => field === name);
}

/** The message does not say which object it is about, but the text of the class says whether it may be the context. */
function mentions({ cls }: Shape, before: string, name: string): boolean {
  const ownField = new RegExp(`${before}\\s*\\.\\s*${name.replace(/\W/g, "\\$&")}(?!\\w)`);
  for (let at: unknown = cls; typeof at === "function" && at !== Context; at = Object.getPrototypeOf(at))
    if (ownField.test(Function.prototype.toString.call(at))) return true;
  return false;
}
