import { HeadwaterError } from "../errors.js";
import { WHICH } from "./below.js";
import { Tracked, type TrackedKind } from "./collections.js";
import { AnonymousContext, Context, type ContextClass, NeedsKey, probe } from "./context.js";
import { checkNames, stateFieldsOf } from "./fields-of-class.js";
import { isWellFormed, type Key, keyFrom } from "./key.js";
import { markOf } from "./marks.js";
import { Reference, type ReferenceClass, reference, refuseUnknown } from "./refs.js";

/** One field that holds children: `rooms = this.children(Room)` or `hallway = this.child(Hallway)`. */
export interface ChildSlot {
  readonly index: number;
  readonly field: string;
  readonly single: boolean;
  readonly cls: ContextClass;
}

/**
 * What a field is declared as, as far as its first value says what it will hold. Simple are texts, numbers, bigints and
 * booleans; what begins as null or as an object may become anything.
 */
export type FieldKind = TrackedKind | "Map" | "Set" | "array" | "simple" | "unknown";

export interface Method {
  readonly name: string;
  /** For messages to people: `Building.relocate`. */
  readonly label: string;
  readonly readonly: boolean;
  readonly reads: readonly ContextClass[];
  /** Is it known to take time? */
  readonly isAsync: boolean;
  /** The same, or has it ever returned a promise? */
  takesTime: boolean;
  readonly body: (this: Context<Key>, ...args: unknown[]) => unknown;
}

/** What the runtime needs to know of a context class; read off the class and one instance of it. */
export class Shape {
  readonly name: string;
  readonly anonymous: boolean;
  readonly methods: ReadonlyMap<string, Method>;
  readonly Reference: ReferenceClass;
  /** Has a method of a context below looked at the state of one of this class, while its event was in both? */
  isReadBelow = false;
  #looks = 0;

  constructor(
    readonly cls: ContextClass,
    /** The fields that hold state, in the order of their declaration. */
    readonly fields: readonly string[],
    readonly slots: readonly ChildSlot[],
    /** What those fields are declared as, in the same order. */
    readonly kinds: readonly FieldKind[],
  ) {
    this.name = storedNameOf(cls);
    this.anonymous = isKindOf(cls, AnonymousContext);
    this.methods = methodsOf(cls);
    this.Reference = makeReferenceClass(this);
  }

  /** Each of the first times, then now and then: what a program leaves behind, it mostly leaves each time. */
  isToBeLookedAt(): boolean {
    this.#looks += 1;
    return this.#looks < LOOKED_AT || this.#looks % LOOKED_AT === 0;
  }
}

const LOOKED_AT = 64;

const AsyncFunction = (async () => {}).constructor as FunctionConstructor;

const shapes = new WeakMap<ContextClass, Shape>();

/** The shape of a class. `key` is needed only by classes whose field initialisers use `this.key`. */
export function shapeOf(cls: ContextClass, key?: Key): Shape {
  let shape = shapes.get(cls);
  if (shape === undefined) {
    shape = inspect(cls, key);
    shapes.set(cls, shape);
  }
  return shape;
}

/**
 * Inspects a class and all classes below it, so that a malformed one is refused before anything runs, and returns
 * their shapes. Children that need a key are missing, and what is below them.
 */
export function inspectTree(cls: ContextClass, seen = new Map<ContextClass, Shape | null>()): Shape[] {
  if (seen.has(cls)) return [];
  seen.set(cls, null);
  try {
    const shape = shapeOf(cls);
    seen.set(cls, shape);
    for (const slot of shape.slots) inspectTree(slot.cls, seen);
  } catch (error) {
    if (!(error instanceof NeedsKey)) throw error; // its shape is read when a first context of it is named
  }
  return [...seen.values()].filter((shape) => shape !== null);
}

/** How messages name a class. */
export function nameOf(cls: { readonly name: string }): string {
  return cls.name || "(anonymous class)";
}

/** The name that a class has in journals and in addresses: its own, or an older one that it says it is stored as. */
export function storedNameOf(cls: ContextClass): string {
  if (!Object.hasOwn(cls, "storedAs")) return nameOf(cls); // a class is not stored as its base class
  const { storedAs } = cls as { readonly storedAs?: unknown };
  if (typeof storedAs !== "string" || storedAs === "") {
    throw new HeadwaterError(
      "HW-1017",
      `${nameOf(cls)}.storedAs is ${String(storedAs)}. It is the name that the class had when its journal was made.`,
    );
  }
  mustBeWellFormed(storedAs, `what ${nameOf(cls)} is stored as`);
  return storedAs;
}

export function isKindOf(cls: ContextClass, wanted: abstract new () => Context<Key>): boolean {
  return cls === wanted || Object.prototype.isPrototypeOf.call(wanted, cls);
}

function inspect(cls: ContextClass, key: Key | undefined): Shape {
  if (typeof cls !== "function" || !isKindOf(cls, Context)) {
    throw new HeadwaterError("HW-1017", `${String(cls)} is not a class that extends Context.`);
  }
  const { instance, below, tracked } = probe(cls, key);
  const slots: ChildSlot[] = [];
  const fields: string[] = [];
  const kinds: FieldKind[] = [];
  const held = stateFieldsOf(cls, Context.prototype, instance);
  for (const [field, value] of held) {
    const index = below.findIndex((made) => made.marker === value);
    const made = below[index];
    if (made !== undefined) slots[index] = { index, field, single: made.single, cls: made.cls };
    else if (typeof value === "function") throw holdsFunction(cls, field);
    else kinds[fields.push(field) - 1] = kindOf(value);
  }
  const values = held.map(([, value]) => value);
  for (const { kind } of tracked.filter((collection) => !values.includes(collection)))
    throw isNoField(cls, kind);
  for (const index of below.keys()) {
    if (slots[index] !== undefined) continue;
    throw new HeadwaterError(
      "HW-1017",
      `${nameOf(cls)} makes children that it does not keep in a field of its own. Write \`rooms = this.children(Room)\`.`,
    );
  }
  const shape = new Shape(cls, fields, slots, kinds);
  if (shape.anonymous && (fields.length > 0 || slots.length > 0)) {
    const names = [...fields, ...slots.map((slot) => slot.field)].join(", ");
    throw new HeadwaterError(
      "HW-1013",
      `${nameOf(cls)} is an anonymous context, which has neither state nor children, but it declares ${names}.`,
    );
  }
  for (const { field } of slots) mustBeWellFormed(field, `a child of ${nameOf(cls)}`);
  for (const name of shape.methods.keys()) mustBeWellFormed(name, `a method of ${nameOf(cls)}`);
  checkNames(cls, Context.prototype, {
    methods: [...shape.methods.keys()],
    slots: slots.map(({ field }) => field),
    fields,
  });
  return shape;
}

function isNoField(cls: ContextClass, kind: TrackedKind): HeadwaterError {
  const what =
    kind === "owned"
      ? "an owned engine that is not the value of one of its fields. Write `engine = owned(() => new Engine())`."
      : `a tracked ${kind} that is not the value of one of its fields. Write \`entries = tracked.${kind}()\`; inside other ` +
        "data, use a plain Map, Set or array.";
  return new HeadwaterError("HW-1102", `${nameOf(cls)} makes ${what}`);
}

/** Names of logical nodes, methods and children stand in messages and keys, which are UTF-8. */
export function mustBeWellFormed(name: string, what: string): void {
  if (isWellFormed(name)) return;
  throw new HeadwaterError(
    "HW-1108",
    `${what} is named ${JSON.stringify(name)}, which has half of a surrogate pair: UTF-8 has no word for it, so it would be ` +
      "taken for other names. Rename it.",
  );
}

function holdsFunction(cls: ContextClass, field: string): HeadwaterError {
  return new HeadwaterError(
    "HW-1017",
    `${nameOf(cls)} has a function in its field "${field}". Fields are state, which is plain data, and only methods can be ` +
      `called through references: write it as a method, \`${field}(…) { … }\`.`,
  );
}

function kindOf(value: unknown): FieldKind {
  if (value instanceof Tracked) return value.kind;
  if (Array.isArray(value)) return "array";
  if (value instanceof Map) return "Map";
  if (value instanceof Set) return "Set";
  return value === null || value === undefined || typeof value === "object" ? "unknown" : "simple";
}

function methodsOf(cls: ContextClass): Map<string, Method> {
  const methods = new Map<string, Method>();
  for (let at = cls.prototype as object; at !== Context.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) {
      const { value } = Object.getOwnPropertyDescriptor(at, name) ?? {};
      if (name === "constructor" || typeof value !== "function") continue;
      const body = watchedBodies.get(value) ?? (value as Method["body"]);
      const isAsync = body instanceof AsyncFunction;
      if (isAsync && body === value) watchOwnCalls(at, name, body);
      if (methods.has(name)) continue;
      methods.set(name, {
        name,
        label: `${nameOf(cls)}.${name}`,
        body,
        isAsync,
        takesTime: isAsync,
        ...markOf(body),
      });
    }
  }
  return methods;
}

/**
 * When a method calls an async method of its own (`this.helper()`), the event that runs there is to know: it must not end
 * before that has. So the method that a program finds under this name says so, and the runtime runs what it stands for.
 * It is put in the place of the original, because instances of a subclass take five times as long to make.
 */
function watchOwnCalls(prototype: object, name: string, body: Method["body"]): void {
  const called = function (this: Context<Key>, ...args: unknown[]) {
    return Context.watch(this, called, body.apply(this, args) as Promise<unknown>);
  };
  Object.defineProperties(called, { name: { value: name }, length: { value: body.length } });
  // A frozen object stays as it is, and no frame is told.
  if (Reflect.defineProperty(prototype, name, { value: called })) watchedBodies.set(called, body);
}

const watchedBodies = new WeakMap<object, Method["body"]>();

/** The method that a program means by `this.close`, if it is one of the context's own. */
export function methodMeant({ methods }: Shape, meant: unknown): Method | undefined {
  const body = typeof meant === "function" ? (watchedBodies.get(meant) ?? meant) : undefined;
  for (const method of methods.values()) if (method.body === body) return method;
  return undefined;
}

function makeReferenceClass(shape: Shape): ReferenceClass {
  const referenceClass = class Ref extends Reference {
    /** All else is hidden: without it, comparisons would find references to two contexts deeply equal. */
    get [Symbol.toStringTag](): string {
      return this.toString();
    }
  };
  const names = referenceClass.prototype as unknown as Record<string, unknown>;
  for (const method of shape.methods.values()) {
    names[method.name] = function (this: Reference, ...args: unknown[]) {
      return Reference.invoke(this, method, args);
    };
  }
  for (const slot of shape.slots) {
    Object.defineProperty(names, slot.field, {
      get(this: Reference) {
        const [scope, address] = [Reference.scopeOf(this), Reference.addressOf(this)];
        if (slot.single) return reference(scope, address.child(slot, undefined));
        const children = (...key: unknown[]) =>
          key[0] === WHICH
            ? { address, slot }
            : reference(scope, address.child(slot, keyFrom(key, slot.field)));
        return children;
      },
    });
  }
  Object.setPrototypeOf(names, refuseUnknown(shape));
  return referenceClass;
}
