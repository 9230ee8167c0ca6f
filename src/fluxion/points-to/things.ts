import type { Code } from "../../errors.js";
import type { ReceiverKind } from "../pipeline.js";
import type { FunctionNode, Node, ProgramSyntax, SourceModule, Variable } from "../source/index.js";
import type { Readers } from "./value-cells.js";

/**
 * What an expression may give, as far as the text tells: a set of things. Primitive values are not in it, so an empty set
 * is a primitive value. An object is known by the place where it is made.
 */
export type ValueSet = ReadonlySet<Thing>;

export const NONE: ValueSet = new Set();

/** Adds to a value that is being made; most stay without anything, and are never made. */
export function joined(found: Set<Thing> | null, more: ValueSet): Set<Thing> | null {
  if (more.size === 0) return found;
  const all = found ?? new Set<Thing>();
  more.forEach(all.add, all);
  return all;
}

/** The things of a value as it is now; it may become more while they are gone through. */
export function thingsOf(value: ValueSet): readonly Thing[] {
  return value.size === 0 ? NOTHING : [...value];
}

const NOTHING: readonly Thing[] = [];

/** All that is in some values; they may become more, this does not. */
export function union(...values: readonly ValueSet[]): ValueSet {
  let found: Set<Thing> | null = null;
  for (let i = 0; i < values.length; i++) found = joined(found, values[i] ?? NONE);
  return found ?? NONE;
}

interface Single {
  /** The value that is only this; made when it is asked for, and then kept. */
  alone: ValueSet | null;
}

/** What something can be put into. */
interface Holding extends Single {
  fields: FieldValues;
  /** Who has looked into it. */
  readers: Readers;
  /** Who has only asked which fields it has. */
  askers: Readers;
}

export function alone(thing: Thing): ValueSet {
  thing.alone ??= new Set<Thing>().add(thing);
  return thing.alone;
}

/** Only the engine puts something there. */
export type FieldValues = ReadonlyMap<string, ValueSet>;

export interface AllocationSite extends Holding {
  readonly kind: "site";
  readonly node: Node;
  /** What is behind keys that the text does not tell, and in collections. */
  rest: ValueSet;
  /** Made while its file was loaded, so that everybody may hold it. */
  readonly shared: boolean;
  readonly madeBy: ClassThing | null;
  /** A regular expression or an iterator, which remembers where it was. */
  readonly remembers: boolean;
}

export interface FunctionThing extends Holding {
  readonly kind: "function";
  readonly node: FunctionNode;
}

export interface ClassThing extends Holding {
  readonly kind: "class";
  readonly node: Node & { type: "ClassDeclaration" | "ClassExpression" };
}

/** What another own file exports. */
export interface NamespaceThing extends Holding {
  readonly kind: "namespace";
  readonly module: SourceModule;
  /** `module.exports = …` */
  whole: ValueSet;
}

export interface LibraryThing extends Single {
  readonly kind: "library";
  readonly library: string;
  readonly path: string;
  /** Where the object was made; the import itself for what is simply imported. */
  readonly node: Node | null;
  readonly shared: boolean;
}

export interface BuiltinThing extends Single {
  readonly kind: "builtin";
  readonly path: string;
}

/**
 * An object of which only its owner is known. `input`: it may be shared. `given`: handed over, no other code
 * holds it. `fresh`: just made. `loaded`: made while a file was loaded. `unknown`: anything.
 */
export interface DataThing extends Single {
  readonly kind: "data";
  readonly owner: "input" | "given" | "fresh" | "loaded" | "unknown";
  readonly node: Node | null;
}

export interface ReceiverThing extends Single {
  readonly kind: "receiver";
  readonly receiver: ReceiverKind;
  readonly variable: Variable | null;
}

/** `resolve` and `reject` of a promise that is being made. */
export interface ResolverThing extends Single {
  readonly kind: "resolver";
  readonly node: Node;
  readonly into: AllocationSite;
}

export type Thing =
  | AllocationSite
  | FunctionThing
  | ClassThing
  | NamespaceThing
  | LibraryThing
  | BuiltinThing
  | DataThing
  | ReceiverThing
  | ResolverThing;

export type Holder = AllocationSite | FunctionThing | ClassThing | NamespaceThing;

/** Code that runs as a whole: a function, or a file while it is loaded. */
export type Body = FunctionNode | ProgramSyntax;

/** Why something must stay where it is. */
export interface Hazard {
  readonly code: Code;
  readonly node: Node;
  readonly module: SourceModule;
  readonly reason: string;
  readonly advice: string;
  /** No obstacle while files are loaded: a worker can do it again, with the same outcome. */
  readonly repeatable?: boolean;
}

export interface ReceiverRead {
  readonly receiver: ReceiverThing;
  readonly node: Node;
  /** `["query", "text"]`; for a question, `["get", "accept"]`. */
  readonly path: readonly string[];
  readonly question: boolean;
}

/** Everything that can be reached from a value. */
export function reachable(value: ValueSet): ValueSet {
  if (value.size === 0) return NONE;
  const found = new Set<Thing>();
  const waiting = [...value];
  for (let thing = waiting.pop(); thing !== undefined; thing = waiting.pop()) {
    if (found.has(thing)) continue;
    found.add(thing);
    if (thing.kind === "site" || thing.kind === "namespace") {
      for (const field of thing.fields.values()) waiting.push(...field);
      waiting.push(...(thing.kind === "site" ? thing.rest : thing.whole));
    }
    if (thing.kind === "function" || thing.kind === "class") {
      for (const field of thing.fields.values()) waiting.push(...field);
    }
  }
  return found;
}
