import type { ReceiverKind } from "../pipeline.js";
import type { FunctionNode, Node, SourceModule, Variable } from "../source/index.js";
import {
  type AllocationSite,
  type BuiltinThing,
  type ClassThing,
  type DataThing,
  type FieldValues,
  type FunctionThing,
  type Holder,
  type LibraryThing,
  type NamespaceThing,
  NONE,
  type ReceiverThing,
  type ResolverThing,
  type Thing,
} from "./things.js";

export const NO_FIELDS: FieldValues = new Map();

/** The things of a program: one for each place that makes some, however often it does. */
export abstract class Made {
  /** By what they are, then by what they belong to: few of the one, many of the other. */
  readonly #things = new Map<string, Map<unknown, Thing>>();

  /** While a file is loaded, as against in a function that runs later. */
  abstract get loading(): boolean;

  site(node: Node, madeBy: ClassThing | null = null, remembers = false): AllocationSite {
    const of = this.#made<AllocationSite>(madeBy === null ? "site" : `site ${madeBy.node.start}`);
    const known = of.get(node);
    if (known !== undefined) return known;
    const shared = this.loading;
    return kept(of, node, {
      kind: "site",
      node,
      fields: NO_FIELDS,
      rest: NONE,
      shared,
      madeBy,
      remembers,
      readers: null,
      askers: null,
      alone: null,
    });
  }

  /** Everything that something can be put into. */
  holders(): Holder[] {
    const found: Holder[] = [];
    for (const of of this.#things.values()) {
      for (const thing of of.values()) {
        if (!("fields" in thing)) break; // those of one kind are alike
        found.push(thing);
      }
    }
    return found;
  }

  function(node: FunctionNode): FunctionThing {
    const of = this.#made<FunctionThing>("function");
    const known = of.get(node);
    if (known !== undefined) return known;
    return kept(of, node, {
      kind: "function",
      node,
      fields: NO_FIELDS,
      readers: null,
      askers: null,
      alone: null,
    });
  }

  class(node: ClassThing["node"]): ClassThing {
    const of = this.#made<ClassThing>("class");
    const known = of.get(node);
    if (known !== undefined) return known;
    return kept(of, node, {
      kind: "class",
      node,
      fields: NO_FIELDS,
      readers: null,
      askers: null,
      alone: null,
    });
  }

  namespace(module: SourceModule): NamespaceThing {
    const of = this.#made<NamespaceThing>("namespace");
    const known = of.get(module);
    if (known !== undefined) return known;
    return kept(of, module, {
      kind: "namespace",
      module,
      fields: NO_FIELDS,
      whole: NONE,
      readers: null,
      askers: null,
      alone: null,
    });
  }

  library(library: string, path: string, node: Node | null, shared: boolean): LibraryThing {
    const of = this.#made<LibraryThing>(`library ${library} ${path} ${shared}`);
    const owner = node ?? library;
    return of.get(owner) ?? kept(of, owner, { kind: "library", library, path, node, shared, alone: null });
  }

  builtin(path: string): BuiltinThing {
    const of = this.#made<BuiltinThing>("builtin");
    return of.get(path) ?? kept(of, path, { kind: "builtin", path, alone: null });
  }

  data(owner: DataThing["owner"], node: Node | null = null): DataThing {
    const of = this.#made<DataThing>(owner);
    return of.get(node) ?? kept(of, node, { kind: "data", owner, node, alone: null });
  }

  receiver(receiver: ReceiverKind, variable: Variable | null): ReceiverThing {
    const of = this.#made<ReceiverThing>(receiver);
    return of.get(variable) ?? kept(of, variable, { kind: "receiver", receiver, variable, alone: null });
  }

  resolver(node: Node, into: AllocationSite): ResolverThing {
    const of = this.#made<ResolverThing>("resolver");
    return of.get(node) ?? kept(of, node, { kind: "resolver", node, into, alone: null });
  }

  /** The things of one kind, by what they belong to. */
  #made<T extends Thing>(kind: string): Map<unknown, T> {
    const known = this.#things.get(kind);
    if (known !== undefined) return known as Map<unknown, T>;
    const made = new Map<unknown, T>();
    this.#things.set(kind, made);
    return made;
  }
}

function kept<T extends Thing>(things: Map<unknown, T>, owner: unknown, thing: T): T {
  things.set(owner, thing);
  return thing;
}
