import { HeadwaterError } from "../errors.js";
import type { ContextClass } from "./context.js";
import { privateFieldsOf } from "./private-names.js";
import { nameOf } from "./shape.js";

/**
 * Which fields of an instance are state, by name, with their first values: its plain ones, and fields that are declared
 * with `accessor`. Whatever else it holds could be neither copied nor undone nor stored, so it is refused (HW-1030).
 */
export function stateFieldsOf(cls: ContextClass, base: object, instance: object): [string, unknown][] {
  for (const name of Reflect.ownKeys(instance)) {
    const { enumerable, value } = Object.getOwnPropertyDescriptor(instance, name) ?? {};
    if (typeof name === "symbol") throw notState(cls, String(name), "its name is a symbol");
    if (value === undefined && !isData(instance, name)) throw notState(cls, name, "it is computed");
    if (!enumerable) throw notState(cls, name, "it is not enumerable");
  }
  const accessors: [string, unknown][] = [];
  for (let at = cls.prototype as object; at !== base; at = Object.getPrototypeOf(at) as object) {
    const behind = accessorsOf(at);
    for (const field of privateFieldsOf(at.constructor as ContextClass)) {
      const name = behind.get(field);
      if (name === undefined)
        throw notState(cls, field, "it is private, which hides it from the runtime, too");
      accessors.push([name, (instance as Record<string, unknown>)[name]]);
    }
  }
  return [...Object.entries(instance), ...accessors];
}

function isData(instance: object, name: string): boolean {
  return "value" in (Object.getOwnPropertyDescriptor(instance, name) ?? {});
}

/** A getter or a setter, its parameter and its only statement. */
const ACCESSOR = /^[gs]et\s+[^(]+\(([^)]*)\)\s*\{\s*([^;{}]*?);?\s*\}$/;
/** Private fields as they are, and as esbuild, TypeScript and Babel write them for older engines. */
const READS = [
  /^return this\.(#[\p{ID_Continue}$]+)$/u,
  /^return __privateGet\(this, ?([\w$]+)\)$/,
  /^return __classPrivateFieldGet\(this, ([\w$]+), "f"\)$/,
  /^return _classPrivateFieldGet2?\((?:this, )?([\w$]+)(?:, this)?\)$/,
];
const WRITES = [
  /^this\.(#[\p{ID_Continue}$]+) ?= ?([\p{ID_Continue}$]+)$/u,
  /^__privateSet\(this, ?([\w$]+), ?([\w$]+)\)$/,
  /^__classPrivateFieldSet\(this, ([\w$]+), ([\w$]+), "f"\)$/,
  /^_classPrivateFieldSet2?\((?:this, )?([\w$]+),(?: this,)? ([\w$]+)\)$/,
];

/** The private field that a getter or a setter does nothing but return or assign, if so. */
function onlyFieldOf(accessor: object, statements: readonly RegExp[]): string | undefined {
  const [, parameter = "", statement = ""] = ACCESSOR.exec(Function.prototype.toString.call(accessor)) ?? [];
  for (const pattern of statements) {
    const [, field, value = ""] = pattern.exec(statement) ?? [];
    if (field !== undefined && value === parameter) return field;
  }
  return undefined;
}

/**
 * The names of fields that are declared with `accessor`, by the private fields that compilers make of them. A getter and a
 * setter that do nothing but return and assign one private field are the same thing.
 */
function accessorsOf(prototype: object): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, { get, set }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (get === undefined || set === undefined) continue;
    const read = onlyFieldOf(get, READS);
    if (read !== undefined && read === onlyFieldOf(set, WRITES)) found.set(read, name);
  }
  return found;
}

function notState(cls: ContextClass, field: string, why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-1030",
    `${nameOf(cls)} has a field ${field} that cannot be state: ${why}. Declare it as an ordinary field, \`name = value\`, ` +
      "or with `accessor`; what belongs to no event goes into a variable beside the class.",
  );
}

/** What JavaScript asks any object for, and what every context has. A reference under such a name would be something else. */
const TAKEN: ReadonlySet<string> = new Set([
  "then",
  "toJSON",
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/** Refuses names of methods and children that would break references to the context (HW-1017). */
export function checkNames(
  cls: ContextClass,
  base: object,
  names: Readonly<Record<"methods" | "slots" | "fields", readonly string[]>>,
): void {
  for (const name of names.methods) {
    if (TAKEN.has(name)) throw isTaken(cls, `a method named "${name}"`, ASKED_FOR);
    if (name.startsWith("("))
      throw isTaken(cls, `a method named "${name}"`, "names in parentheses are the runtime's");
  }
  for (const name of names.slots)
    if (TAKEN.has(name)) throw isTaken(cls, `children named "${name}"`, ASKED_FOR);
  const own = new Set(Object.getOwnPropertyNames(base));
  for (const name of [...names.slots, ...names.fields, ...names.methods]) {
    if (own.has(name)) throw isTaken(cls, `something named "${name}"`, "every context has that already");
  }
}

const ASKED_FOR = "JavaScript itself asks any object for that: when it is awaited, shown or compared";

function isTaken(cls: ContextClass, what: string, why: string): HeadwaterError {
  return new HeadwaterError("HW-1017", `${nameOf(cls)} has ${what}, but ${why}. Rename it.`);
}
