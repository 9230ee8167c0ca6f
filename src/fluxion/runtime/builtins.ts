/**
 * What the language brings along, as it was before the program ran. Workers have it as it was: if the program or a package has changed
 * something of it (`String.prototype.red`, `Math.random`), a stage would not find that there.
 */

const CHECKED_EVERY_MS = 100;

type Fields = ReadonlyMap<PropertyKey, unknown>;

/** The name of each object, and what it had. */
interface Known {
  readonly name: string;
  readonly object: object;
  readonly fields: Fields;
}

export class Builtins {
  readonly #known: readonly Known[];
  #change: string | null = null;
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor() {
    this.#known = namedObjects().map(([name, object]) => ({ name, object, fields: fieldsOf(object) }));
  }

  /** What has been changed, if anything; looked for again after a while. */
  change(nowMs: number): string | null {
    if (this.#change !== null || nowMs - this.#checkedMs < CHECKED_EVERY_MS) return this.#change;
    this.#checkedMs = nowMs;
    for (const known of this.#known) this.#change ??= changeOf(known);
    return this.#change;
  }
}

/** Functions and objects of the language, and what their instances have from above. */
function namedObjects(): [string, object][] {
  const found: [string, object][] = [];
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = heldBy(Object.getOwnPropertyDescriptor(globalThis, name));
    if (!/^[A-Z]/.test(name) || !isObject(value)) continue; // others are Node's, or the program's
    found.push([name, value]);
    const prototype = heldBy(Object.getOwnPropertyDescriptor(value, "prototype"));
    if (isObject(prototype)) found.push([`${name}.prototype`, prototype]);
  }
  return found;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function fieldsOf(object: object): Fields {
  return new Map(
    Reflect.ownKeys(object).map((key) => [key, heldBy(Object.getOwnPropertyDescriptor(object, key))]),
  );
}

/** A getter is what it is, and is not called. */
function heldBy(field: PropertyDescriptor | undefined): unknown {
  return field?.get ?? field?.set ?? field?.value;
}

/** Node's own code may set these while it runs. */
const OF_NODE = new Set<PropertyKey>(["stackTraceLimit", "prepareStackTrace"]);

function changeOf({ name, object, fields }: Known): string | null {
  const keys = Reflect.ownKeys(object);
  const key =
    keys.find(
      (each) => !OF_NODE.has(each) && (!fields.has(each) || !isSame(object, each, fields.get(each))),
    ) ?? [...fields.keys()].find((each) => !OF_NODE.has(each) && !Object.hasOwn(object, each));
  // What a match leaves behind in RegExp is behind getters, which stay the same.
  return key === undefined ? null : `${name}.${String(key)}`;
}

function isSame(object: object, key: PropertyKey, before: unknown): boolean {
  return Object.is(heldBy(Object.getOwnPropertyDescriptor(object, key)), before);
}
