import type { WholeProgram } from "../pipeliner/index.js";
import { type Body, evaluate, type LibraryThing } from "../points-to/index.js";
import { type CallExpression, type Node, plain, type SourceModule } from "../source/index.js";

/** What a known asynchronous call gives: a promise of the language, or something that `await` makes one of. */
export type Promised = "promise" | "anything";

const PROMISING = new Set(["then", "catch", "finally"]);
const TOGETHER = new Set(["all", "allSettled", "any", "race"]);

/**
 * Which awaited expressions wait for the outside (section 3.1.2: a list of common asynchronous callees). Only there an
 * event stands between what is before and what follows, so that a message may as well.
 */
export class KnownCalls {
  readonly #whole: WholeProgram;
  readonly #shadowed = new Map<SourceModule, boolean>();

  constructor(whole: WholeProgram) {
    this.#whole = whole;
  }

  /** `null` if nothing is known of it, or if it is given its continuation already. */
  promisedBy(awaited: Node, within: Body): Promised | null {
    const call = plain(awaited);
    if (call.type !== "CallExpression" || call.optional || this.#hasOwnPromise(call)) return null;
    const { callee } = call;
    if (this.#whole.engine.moduleOf(call).remarks(call).includes("post")) return "anything";
    if (callee.type === "MemberExpression" && !callee.computed && callee.property.type === "Identifier") {
      const { name } = callee.property;
      if (PROMISING.has(name)) {
        const before = this.promisedBy(callee.object, within);
        if (before !== null) return before;
      }
      if (TOGETHER.has(name) && isPromise(callee.object)) return this.#together(call, within);
    }
    return this.#ofLibrary(call, within);
  }

  /** `Promise.all([…])`, written out, with nothing but known calls in it. */
  #together({ arguments: [list, ...others] }: CallExpression, within: Body): Promised | null {
    if (list?.type !== "ArrayExpression" || list.elements.length === 0 || others.length > 0) return null;
    const known = list.elements.every((each) => each !== null && this.promisedBy(each, within) !== null);
    return known ? "promise" : null;
  }

  #ofLibrary(call: CallExpression, within: Body): Promised | null {
    const { engine, knowledge } = this.#whole;
    const targets = [...engine.at(within, () => evaluate(engine, call.callee))];
    const isGiven = call.arguments.some((each) =>
      [...engine.at(within, () => evaluate(engine, each))].some(({ kind }) => kind === "function"),
    );
    if (isGiven || targets.length === 0) return null;
    if (targets.every((each) => each.kind === "builtin" && each.path === "fetch")) return "promise";
    const libraries = targets.filter((each): each is LibraryThing => each.kind === "library");
    const isKnown = ({ library, path }: LibraryThing) =>
      knowledge.says("post", library, path) || knowledge.says("later", library, path);
    if (libraries.length < targets.length || !libraries.every(isKnown)) return null;
    return libraries.every(isOfNode) ? "promise" : "anything";
  }

  /** A file with a `Promise` of its own means something else by it. */
  #hasOwnPromise(node: Node): boolean {
    const module = this.#whole.engine.moduleOf(node);
    const known = this.#shadowed.get(module);
    if (known !== undefined) return known;
    const found = module.bodies.some((body) =>
      module
        .inside(body)
        .names.some((each) => isPromise(each) && (module.variable(each) != null || isWritten(each))),
    );
    this.#shadowed.set(module, found);
    return found;
  }
}

function isPromise(node: Node): boolean {
  return node.type === "Identifier" && node.name === "Promise";
}

function isWritten(node: Node): boolean {
  return node.parent?.type === "AssignmentExpression" && node.parent.left === node;
}

/** What Node documents to give a promise of the language. */
function isOfNode({ library, path }: LibraryThing): boolean {
  const name = library.replace(/^node:/, "");
  return /^(fs|dns)\/promises$/.test(name) || (/^(fs|dns)$/.test(name) && path.startsWith(".promises."));
}

/** The bodies of a file that wait, functions that wait first before the others. */
export function waitingIn(module: SourceModule): Body[] {
  const firstOf = (body: Body) => module.inside(body).awaits[0]?.start ?? -1;
  return module.bodies.filter((body) => firstOf(body) >= 0).sort((a, b) => firstOf(a) - firstOf(b));
}
