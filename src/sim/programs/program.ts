import { AnonymousContext, Context, type ContextClass } from "../../model/context.js";
import type { CurrentEvent } from "../../model/event.js";
import type { Key } from "../../model/key.js";
import { readonly, reads } from "../../model/marks.js";
import type { OutsideResult } from "../../model/outside.js";
import type { Step } from "../../model/path.js";
import { initialValue } from "./data.js";
import { execute, type Self } from "./interpret.js";

/**
 * A generated program, as plain data: what a seed stands for, what the shrinker cuts down and what is shown when
 * the simulator finds a difference. Every method has the parameters (a, b, fuel) and an accumulator `acc` into
 * which everything goes that it gets to see, so that its result shows what it saw. All numbers stay below
 * 997. Later events are asked for only while there is fuel, and with less of it, so every program ends.
 */
export interface ProgramSpec {
  nodes: NodeSpec[];
  /** A class has slots only for classes after it, so the tree of contexts is finite. */
  classes: ClassSpec[];
}

export interface NodeSpec {
  name: string;
  /** Index of the class of its root; classes are not shared between logical nodes. */
  root: number;
}

export interface ClassSpec {
  name: string;
  anonymous: boolean;
  fields: FieldSpec[];
  slots: SlotSpec[];
  methods: MethodSpec[];
}

/** Kinds with a "t" in front are tracked collections. */
export type GeneratedFieldKind =
  | "number"
  | "list"
  | "map"
  | "set"
  | "record"
  | "timer"
  | "tlist"
  | "tmap"
  | "tset";

export interface FieldSpec {
  name: string;
  kind: GeneratedFieldKind;
}

/** How the whole numbers from 0 name children: 1, "k1" or [1, 2]; null for a single child. */
export type KeyStyle = "number" | "text" | "pair" | null;

export interface SlotSpec {
  name: string;
  cls: number;
  style: KeyStyle;
  /** How many children there can be. */
  keys: number;
}

export interface MethodSpec {
  name: string;
  readonly: boolean;
  /** Indices of the classes above that it declares to read. */
  reads: number[];
  async: boolean;
  /** Besides the accumulator, a field to return as it is (not a copy), or null. */
  returns: string | null;
  body: Op[];
}

/** A number, a parameter, the accumulator, or what the context's key amounts to. */
export type Expr = number | "acc" | "a" | "b" | "key";

export interface PathStep {
  field: string;
  style: KeyStyle;
  keys: number;
  key: Expr;
}

export interface CallSpec {
  path: PathStep[];
  method: string;
  args: [Expr, Expr];
}

export type Op =
  | { op: "change"; field: string; drop: boolean; value: Expr }
  /** Looks at one of its own fields, or at all of them (null). */
  | { op: "get"; field: string | null }
  | { op: "call"; call: CallSpec }
  /** Calls side by side, and what else is done meanwhile; a hasty one goes on as soon as one of them has failed. */
  | { op: "par"; calls: CallSpec[]; hasty: boolean; also?: WholeOp | null }
  | WholeOp
  /** Async functions side by side, which all have the method's accumulator. */
  | { op: "branches"; join: JoinMode; branches: Op[][] }
  /** A call, and what the method does before it waits for it; so many others wait for the same call. */
  | { op: "during"; call: CallSpec; body: Op[]; forks: number }
  /** Lets other code of the method run, so many times. */
  | { op: "breathe"; turns: number }
  /** A method of its own, as `this.method()`. */
  | { op: "own"; method: string; args: [Expr, Expr]; awaited: boolean }
  | { op: "try"; body: Op[] }
  | { op: "if"; of: Expr; mod: number; is: number; body: Op[] }
  | { op: "throw"; text: string }
  | { op: "downgrade" }
  /** From here, from the root of the logical node, or (without a path) on the context right above. */
  | { op: "start"; from: "self" | "root" | "parent"; call: CallSpec }
  | { op: "send"; node: number; call: CallSpec }
  /** To a client, or to the caller (null). */
  | { op: "tell"; client: string | null; value: Expr }
  /**
   * `at` is the class of the context above that its event starts in, if not in this one. With a `count`, so many timers,
   * due at different times; what they start asks for nothing more.
   */
  | {
      op: "timer";
      ms: number;
      method: string;
      args: [Expr, Expr];
      keep: string | null;
      at?: number | null;
      count?: number;
    }
  | { op: "cancel"; field: string }
  /** With or without a method that takes the result, here or in the context above of class `at`. */
  | { op: "outside"; value: Expr; into: string | null; at?: number | null }
  /** Looks at what the event and the context are: ticket, names, addresses. */
  | { op: "know" }
  | { op: "read"; cls: number }
  | { op: "pause"; units: number }
  /** A call below that is not awaited. */
  /** A call that is not awaited, or, if it is followed up, what was made of it. */
  | { op: "forget"; call: CallSpec; followedUp?: boolean }
  /** A call of a context that is named from the root: it may be above, beside, the caller itself, or below. */
  | { op: "stray"; call: CallSpec }
  /** A call below with a function as an argument. */
  | { op: "pass"; call: CallSpec }
  /** A function is put into a field. */
  | { op: "store"; field: string }
  | { op: "break"; rule: BrokenRule };

/** Lists children, a page at a time, or deletes a context below. */
export type WholeOp = { op: "list"; field: string; limit: number } | { op: "delete"; path: PathStep[] };

export type OpKind = Op["op"];

/** How a method waits for branches: as `Promise.all`, `race` and so on do, or not at all. */
export type JoinMode = "all" | "allSettled" | "race" | "any" | "none";

/** The operation with what is inside it changed. */
export function mapBodies(op: Op, map: (body: readonly Op[]) => Op[]): Op {
  if ("body" in op) return { ...op, body: map(op.body) };
  return op.op === "branches" ? { ...op, branches: op.branches.map(map) } : op;
}

export type BrokenRule =
  | "return a function"
  | "send home"
  | "bad delay"
  | "bad cancel"
  | "no such method"
  | "delete above"
  | "list elsewhere";

/** One request from outside. */
export interface RequestSpec {
  node: string;
  path: readonly Step[];
  method: string;
  args: number[];
  client: string | null;
  /** Index of an earlier request that must be acknowledged before this one is made. */
  after: number | null;
  /** When it is made, in milliseconds from the start, if not held up by `after`. */
  at: number;
}

/** What the runner of a program lends it. */
export interface Hooks {
  /** Takes time in the middle of a method; undefined if it takes none. */
  pause(units: number, event: CurrentEvent): Promise<void> | undefined;
  /** A method begins: it may end the host that it runs on, and then throws. */
  begins?(cls: number, method: string, argument: unknown): void;
  /** The world whose outside function programs call. */
  readonly world: number;
}

export interface BuiltProgram {
  readonly spec: ProgramSpec;
  readonly hooks: Hooks;
  readonly classes: readonly ContextClass[];
  /** The root class of each logical node, under its name. */
  readonly roots: Record<string, ContextClass>;
  /** The root class of the logical node that a class is part of, by class index. */
  readonly rootOf: readonly ContextClass[];
  /** What the fields of a class hold, by class index. */
  readonly kinds: readonly ReadonlyMap<string, GeneratedFieldKind>[];
}

/** The context classes of a program. `hooks` is asked each time, so it may be changed between two runs. */
export function buildClasses(spec: ProgramSpec, hooks: Hooks): BuiltProgram {
  const classes: ContextClass[] = [];
  for (const classSpec of spec.classes) classes.push(buildClass(classSpec, classes));
  const built = {
    spec,
    hooks,
    classes,
    roots: {} as Record<string, ContextClass>,
    rootOf: [] as ContextClass[],
    kinds: spec.classes.map(({ fields }) => new Map(fields.map(({ name, kind }) => [name, kind]))),
  };
  for (const { name, root } of spec.nodes) built.roots[name] = at(classes, root);
  let root = at(classes, 0);
  for (const [index, { methods }] of spec.classes.entries()) {
    if (spec.nodes.some((node) => node.root === index)) root = at(classes, index);
    built.rootOf.push(root);
    for (const method of methods) addMethod(built, index, method);
  }
  return built;
}

function at(classes: readonly ContextClass[], index: number): ContextClass {
  const cls = classes[index];
  if (cls === undefined) throw new RangeError(`the program has no class ${index}`);
  return cls;
}

/** `classes` is complete by the time an instance is made. */
function buildClass(
  { name, anonymous, fields, slots }: ClassSpec,
  classes: readonly ContextClass[],
): ContextClass {
  const Base = anonymous ? AnonymousContext<Key> : Context<Key>;
  const Built = class extends Base {
    constructor() {
      super();
      const self = this as unknown as Self;
      for (const field of fields) self[field.name] = initialValue(field.kind);
      for (const slot of slots) {
        const cls = at(classes, slot.cls);
        self[slot.name] = slot.style === null ? self.child(cls) : self.children(cls);
      }
    }
  };
  Object.defineProperty(Built, "name", { value: name });
  return Built;
}

function addMethod(built: BuiltProgram, index: number, spec: MethodSpec): void {
  const method = spec.async
    ? async function (this: Self, a: number | OutsideResult<number>, b = 0, fuel = 0) {
        built.hooks.begins?.(index, spec.name, a);
        return execute(built, index, spec, this, a, b, fuel);
      }
    : function (this: Self, a: number | OutsideResult<number>, b = 0, fuel = 0) {
        built.hooks.begins?.(index, spec.name, a);
        return execute(built, index, spec, this, a, b, fuel);
      };
  if (spec.readonly) readonly(method);
  if (spec.reads.length > 0) reads(...spec.reads.map((cls) => at(built.classes, cls)))(method);
  at(built.classes, index).prototype[spec.name as keyof Context<Key>] = method as never;
}
