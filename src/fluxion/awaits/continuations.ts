import type { Diagnostic } from "../pipeline.js";
import {
  diagnosticOf,
  type LookingOptions,
  lookAtWhole,
  nameOf,
  type WholeProgram,
} from "../pipeliner/index.js";
import {
  dataOf,
  type FunctionNode,
  finderOf,
  isInside,
  keyOf,
  type Node,
  type SourceModule,
  type SourceProgram,
  written,
} from "../source/index.js";
import { type AwaitCut, cutsIn, type Uncut } from "./cuts.js";
import { rewritten } from "./rewrite.js";

/** A program in which what follows a known asynchronous call is a function of its own, however it was written. */
export interface Continued {
  readonly whole: WholeProgram;
  /** The same functions in that program. */
  readonly moved: ReadonlySet<Node>;
  /** Awaits that stay in one part with what follows, and why. */
  readonly uncut: readonly Diagnostic[];
}

/**
 * Post rupture points that are written as `await` (section 3.1.1). They are made callbacks, so that all that holds for
 * callbacks holds for them. What may leave the main loop is decided on the program as it was written.
 */
export function continued(
  whole: WholeProgram,
  names: ReadonlyMap<FunctionNode, string>,
  moved: ReadonlySet<Node>,
  options: LookingOptions,
): Continued {
  const { modules } = whole.program;
  const found = new Map<SourceModule, readonly AwaitCut[]>();
  const uncut: Diagnostic[] = [];
  for (const module of modules.values()) {
    const own = [...moved].filter((node) => whole.engine.moduleOf(node) === module);
    const looked = cutsIn(whole, module, own);
    found.set(module, apart(looked.cuts));
    uncut.push(...looked.uncut.map((each) => told(module, each)));
  }
  if ([...found.values()].every((cuts) => cuts.length === 0)) return { whole, moved, uncut };
  const fresh = new Names(modules.values(), names.values());
  const changed = new Map(
    [...modules].map(([path, module]): [string, SourceModule] => {
      const cuts = found.get(module) ?? [];
      if (cuts.length === 0) return [path, module];
      const named = new Map(cuts.map((cut) => [cut, fresh.after(baseOf(cut, names))]));
      return [path, rewritten(module, cuts, named, fresh.value)];
    }),
  );
  const program: SourceProgram = {
    ...whole.program,
    modules: changed,
    data: dataOf(changed.values()),
    moduleOf: finderOf(changed.values()),
  };
  return {
    whole: lookAtWhole(program, whole.knowledge, options),
    moved: sameIn(program, whole, moved),
    uncut,
  };
}

/** Without those in a piece of text that another one writes anew. */
function apart(cuts: readonly AwaitCut[]): AwaitCut[] {
  const isRewritten = ({ within }: AwaitCut) =>
    cuts.some(({ statement, awaiting }) =>
      isInside(within, { ...statement, start: statement.start, end: awaiting.argument.start }),
    );
  return cuts.filter((cut) => !isRewritten(cut));
}

function baseOf({ within }: AwaitCut, names: ReadonlyMap<FunctionNode, string>): string {
  const { parent } = within;
  const method = parent?.type === "MethodDefinition" ? keyOf(parent, parent.key) : null;
  const name = names.get(within) ?? nameOf(within) ?? method ?? "anonymous";
  return /^[\w$]+$/.test(name) ? name : "anonymous";
}

function told(module: SourceModule, { awaiting, reason, advice }: Uncut): Diagnostic {
  const subject = `await ${written(awaiting.argument)}`;
  return diagnosticOf({ code: "HW-7015", node: awaiting, module, reason, advice }, subject, module, awaiting);
}

/** Names that nothing in the program has, so that they hide nothing. */
class Names {
  readonly #taken: Set<string>;
  readonly value: string;

  constructor(modules: Iterable<SourceModule>, parts: Iterable<string>) {
    this.#taken = new Set(parts);
    for (const module of modules) {
      for (const body of module.bodies)
        for (const { name } of module.inside(body).names) this.#taken.add(name);
    }
    this.value = this.#taken.has("value") ? this.after("value") : "value";
  }

  /** As parts of the same name are numbered: `show`, `show_2`. */
  after(name: string): string {
    for (let n = 2; ; n++) {
      const next = `${name}_${n}`;
      if (this.#taken.has(next)) continue;
      this.#taken.add(next);
      return next;
    }
  }
}

/** Functions are found again by the place where they were written. */
function sameIn(program: SourceProgram, before: WholeProgram, nodes: ReadonlySet<Node>): Set<Node> {
  const key = (file: string, start: number) => `${start} ${file}`;
  const wanted = new Set([...nodes].map((node) => key(before.engine.moduleOf(node).path, node.start)));
  const found = new Set<Node>();
  for (const module of program.modules.values()) {
    for (const node of module.functions)
      if (wanted.has(key(module.path, module.place(node).start))) found.add(node);
  }
  return found;
}
