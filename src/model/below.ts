import { HeadwaterError } from "../errors.js";
import type { Address } from "./address.js";
import { type Key, keyFrom, showKey } from "./key.js";
import * as rules from "./rules.js";
import type { ChildSlot } from "./shape.js";

/** Some of the children that a context has, as `this.event.list` gives them. */
export interface Page<K> {
  readonly keys: readonly K[];
  /** The last of these keys, if there are more children: pass it on as `after`. */
  readonly next: K | undefined;
}

export interface PageOptions<K> {
  /** Begins behind this key. */
  readonly after?: K | undefined;
  /** How many keys, at most. Default 100, at most 1,000. */
  readonly limit?: number;
}

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;

/** Passed to a field of children instead of a key, this asks which field of which context it is. */
export const WHICH: unique symbol = Symbol("which");

export interface Which {
  readonly address: Address;
  readonly slot: ChildSlot;
}

/** What is to be listed, as plain data: which field, behind which text, how many keys. */
export type Listed = readonly [field: string, behind: string, limit: number];

/** Refuses anything but a field of children of this very context, and pages that make no sense. */
export function listed(here: Address, children: unknown, { after, limit }: PageOptions<Key>): Listed {
  const which = typeof children === "function" ? (children as (which: symbol) => Which)(WHICH) : null;
  if (which?.address !== here) throw rules.badList(here, rules.noList.own);
  const { field } = which.slot;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1 && limit <= LIMIT_MAX))
    throw rules.badList(here, rules.noList.limit(limit, LIMIT_MAX));
  const behind =
    after === undefined ? "" : textOf(keyFrom(typeof after === "object" ? after : [after], field));
  return [field, behind, limit ?? LIMIT_DEFAULT];
}

/** Children are listed in the order of these texts' UTF-8 bytes, which is the order in which a journal has them. */
export function textOf(key: Key): string {
  return `${showKey(key)})`;
}

/** Refuses to delete anything but a context below. */
export function checkDeleted(here: Address, target: Address, isReadonly: boolean): void {
  if (!target.isBelow(here)) throw rules.badDelete(target, rules.noDelete.below(here));
  if (target.shape.anonymous) throw rules.badDelete(target, rules.noDelete.anonymous);
  if (isReadonly) throw rules.badDelete(target, rules.noDelete.readonly);
}

/** Refuses to delete contexts that the event has given up, at least in part. */
export function checkHeld(target: Address, givenUp: readonly Address[]): void {
  const [first] = givenUp.map(String).sort();
  if (first !== undefined) throw rules.badDelete(target, rules.noDelete.givenUp(first));
}

/** Refuses to delete more contexts than one event may. */
export function checkCount(target: Address, count: number, max: number): void {
  if (count <= max) return;
  throw new HeadwaterError(
    "HW-1032",
    `${target} cannot be deleted by one event: that would be ${count} contexts or more, and ${max} is the most. Delete ` +
      "those below it first, a page at a time (`this.event.list`), in events of their own, or raise `limits.deletes`.",
  );
}

/** Contexts in the order in which they are deleted. */
export function inOrder<A extends Address>(addresses: Iterable<A>): A[] {
  return [...addresses]
    .map((address) => [String(address), address] as const)
    .sort(byText)
    .map(([, each]) => each);
}

function byText([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
