import { HeadwaterError, invariant } from "../errors.js";
import {
  collectionMaker,
  type Tracked,
  type TrackedKey,
  type TrackedList,
  type TrackedMap,
  type TrackedSet,
} from "./collections.js";
import { noteTracked } from "./context.js";

/**
 * Declares fields of a context for large state: an event pays for what it touches in them, not for all they hold. Not
 * methods of `Context`, because `set` and `list` are names that applications want for their own methods.
 */
export const tracked = {
  map<K extends TrackedKey, V>(entries: Iterable<readonly [K, V]> = []): TrackedMap<K, V> {
    return declared("map", maker().map(entries)) as unknown as TrackedMap<K, V>;
  },
  set<T extends TrackedKey>(items: Iterable<T> = []): TrackedSet<T> {
    return declared("set", maker().set(items)) as unknown as TrackedSet<T>;
  },
  list<T>(items: Iterable<T> = []): TrackedList<T> {
    return declared("list", maker().list(items)) as unknown as TrackedList<T>;
  },
} as const;

function maker() {
  const own = collectionMaker();
  invariant(own !== null, "the runtime has said how tracked collections are made");
  return own;
}

function declared(kind: keyof typeof tracked, collection: Tracked): Tracked {
  if (noteTracked(collection)) return collection;
  throw new HeadwaterError(
    "HW-1102",
    `\`tracked.${kind}()\` was called while no context is made. A tracked collection is declared as a field of a ` +
      `context class, \`entries = tracked.${kind}()\`, and stays there: change what it holds, or use a plain Map, Set or ` +
      "array here.",
  );
}
