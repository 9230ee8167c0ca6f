import { compareKeys } from "./keys.js";
import { OrderedKeys } from "./ordered-keys.js";

const SLASH = 47;
/** The kind of keys that have none. */
const OTHER = -1;

/**
 * A map that can also be read in the order of its keys. Keys of one kind, `c/…` or `w/…`, have an order of their own: who looks for the armed
 * timers among a million contexts need not bring the contexts into order.
 */
export class SortedMap<V> {
  readonly #values = new Map<string, V>();
  readonly #kinds = new Map<number, OrderedKeys>();

  get size(): number {
    return this.#values.size;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    const { size } = this.#values;
    this.#values.set(key, value);
    if (this.#values.size !== size) this.#keysLike(key).add(key);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keysLike(key).deleted();
  }

  /** All keys, in no order. */
  keys(): string[] {
    return [...this.#values.keys()];
  }

  /** All entries behind `after` whose keys start so, as they are now, in the order of the keys' UTF-8 bytes. */
  from(prefix: string, after = ""): [key: string, value: V][] {
    const kind = kindOf(prefix);
    const keys =
      kind === OTHER ? this.#ofAll(prefix, after) : (this.#kinds.get(kind)?.from(prefix, after) ?? []);
    return keys.map((key) => [key, this.#values.get(key) as V]);
  }

  /** Keys without a kind come before or behind all keys of one. */
  #ofAll(prefix: string, after: string): string[] {
    const blocks: [first: string, keys: readonly string[]][] = [];
    for (const [kind, keys] of this.#kinds) {
      const found = keys.from(prefix, after);
      if (kind === OTHER) for (const key of found) blocks.push([key, [key]]);
      else if (found[0] !== undefined) blocks.push([found[0], found]);
    }
    return blocks.sort(([a], [b]) => compareKeys(a, b)).flatMap(([, keys]) => keys);
  }

  #keysLike(key: string): OrderedKeys {
    const kind = kindOf(key);
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const made = new OrderedKeys((each) => this.#values.has(each));
    this.#kinds.set(kind, made);
    return made;
  }
}

function kindOf(key: string): number {
  return key.charCodeAt(1) === SLASH ? key.charCodeAt(0) : OTHER;
}
