import type { SourcePosition } from "../analysis/index.js";
import type { Context, ContextClass } from "../model/context.js";
import { inspectTree, type Shape, shapeOf } from "../model/shape.js";
import { effectsOf, type MethodEffects, type ProgramClasses, type ReachedMethod } from "./effects.js";
import type { ClassSource } from "./source.js";

/** One method of a class, in one logical node. */
export interface ProgramMethod {
  readonly shape: Shape;
  readonly name: string;
  readonly isReadonly: boolean;
  /** The class says that carrying it out in another order makes no difference. */
  readonly isConfluent: boolean;
  /** It may change fields. */
  readonly writes: boolean;
  /** It may read fields that others write. */
  readonly reads: boolean;
  readonly effects: MethodEffects;
}

const NOTHING: MethodEffects = { calls: [], later: [], sends: [], tellsClients: false, unclear: [] };

/** The classes of one logical node with what their methods do. */
export class NodeMethods {
  readonly #methods = new Map<Shape, Map<string, ProgramMethod>>();
  readonly shapes: readonly Shape[];

  constructor(
    readonly name: string,
    readonly root: ContextClass<Context>,
    sources: ReadonlyMap<string, ClassSource>,
    known: ProgramClasses,
    /** What callers outside may ask for; `null`: anything. */
    readonly asked: readonly ReachedMethod[] | null,
  ) {
    this.shapes = inspectTree(root);
    for (const shape of this.shapes) {
      const own = new Map<string, ProgramMethod>();
      for (const name of namesOf(shape, sources)) own.set(name, methodOf(shape, name, sources, known));
      this.#methods.set(shape, own);
    }
  }

  has(shape: Shape): boolean {
    return this.#methods.has(shape);
  }

  method(shape: Shape, name: string): ProgramMethod | null {
    return this.#methods.get(shape)?.get(name) ?? null;
  }

  /** Private ones too. */
  get every(): readonly ProgramMethod[] {
    return [...this.#methods.values()].flatMap((own) => [...own.values()]);
  }

  /** What callers can name. */
  get all(): readonly ProgramMethod[] {
    return this.every.filter(({ name }) => !name.startsWith("#"));
  }

  /** What callers outside can ask for. */
  get requested(): readonly ProgramMethod[] {
    return this.asked?.flatMap(({ shape, method }) => this.method(shape, method) ?? []) ?? this.all;
  }

  /** The method and all that it leads to in this logical node, in its event or later. */
  closure(entries: Iterable<ProgramMethod>): ReadonlySet<ProgramMethod> {
    const found = new Set(entries);
    for (const { effects } of found)
      for (const { shape, method } of [...effects.calls, ...effects.later]) {
        const next = this.method(shape, method);
        if (next !== null) found.add(next);
      }
    return found;
  }
}

function namesOf(shape: Shape, sources: ReadonlyMap<string, ClassSource>): Set<string> {
  const names = new Set(shape.methods.keys());
  for (const { methods } of sourcesOf(shape, sources))
    for (const name of methods.keys()) if (name.startsWith("#")) names.add(name);
  return names;
}

/** The sources of a class and of its base classes. */
function sourcesOf({ cls }: Shape, sources: ReadonlyMap<string, ClassSource>): ClassSource[] {
  const found: ClassSource[] = [];
  for (let at: unknown = cls; typeof at === "function"; at = Object.getPrototypeOf(at)) {
    const source = sources.get(at.name);
    if (source !== undefined) found.push(source);
  }
  return found;
}

function methodOf(
  shape: Shape,
  name: string,
  sources: ReadonlyMap<string, ClassSource>,
  known: ProgramClasses,
): ProgramMethod {
  const isReadonly = shape.methods.get(name)?.readonly ?? false;
  const own = sourcesOf(shape, sources);
  const source = own.find(({ methods }) => methods.has(name));
  const body = source?.methods.get(name);
  const hasState = shape.fields.length > 0;
  const declared = (shape.cls as { readonly confluent?: readonly string[] }).confluent ?? [];
  return {
    ...{ shape, name, isReadonly },
    isConfluent: declared.includes(name),
    writes: hasState && !isReadonly,
    reads: hasState,
    effects:
      source !== undefined && body !== undefined
        ? effectsOf(body, shape, source, known)
        : holdsQueries(shape)
          ? fromQueries(shape, name)
          : { ...NOTHING, unclear: [{ source: shape.name, line: 1, column: 1 }] },
  };
}

/** A class that extends `Queries(…)` has methods that its definitions give it: a push leads to `changed`, and to nothing else. */
function holdsQueries({ fields }: Shape): boolean {
  return fields.includes("queryEngine");
}

function fromQueries(shape: Shape, name: string): MethodEffects {
  if (name === "changed" || /^(read|follow)[A-Z]/.test(name)) return NOTHING;
  const position: SourcePosition = { source: shape.name, line: 1, column: 1 };
  return { ...NOTHING, calls: [{ shape, method: "changed", position }] };
}

export function knownClasses(roots: readonly ContextClass<Context>[]): ProgramClasses {
  const shapes = new Map(roots.flatMap((root) => inspectTree(root)).map((shape) => [shape.cls.name, shape]));
  return {
    shapeNamed: (name) => shapes.get(name) ?? null,
    shapeOf: (cls) => shapes.get(cls.name) ?? shapeOf(cls),
  };
}
