import { isBuiltin } from "node:module";
import { type Knowledge, onlyReads, packageOf } from "../callees/index.js";
import type { CallExpression, FunctionNode, Node } from "../source/index.js";
import { unknownCall } from "./calls.js";
import { hasFunction } from "./data-methods.js";
import type { Engine } from "./engine.js";
import { methodsOf } from "./implicit.js";
import { listens } from "./listening.js";
import { change } from "./members.js";
import { textOf } from "./template-text.js";
import { alone, type LibraryThing, NONE, type Thing, thingsOf, union, type ValueSet } from "./things.js";
import { mayBeWrapped } from "./wrappers.js";

/** A call of something that a package exports, or of a method of what it made. */
export function callLibrary(
  engine: Engine,
  target: LibraryThing,
  args: readonly ValueSet[],
  node: Node,
): ValueSet {
  const { knowledge } = engine.options;
  const { library, path } = target;
  const says = (question: Parameters<typeof knowledge.says>[0]) => knowledge.says(question, library, path);
  if (knowledge.watches(library)) return callWatched(engine, target, args, node);
  if (says("heavy")) engine.current.heavy = true;
  if (says("varies")) engine.current.vary(node);
  if (says("makes")) {
    const made = engine.library(library, `${path}()`, node, engine.loading);
    given(engine, target, args, node);
    callbacks(engine, args, node, { keeper: made });
    return alone(made);
  }
  if (says("listens")) listens(engine, shown(target), args, node);
  if (says("changes") || says("listens")) {
    const object = engine.library(library, path.slice(0, path.lastIndexOf(".")), target.node, target.shared);
    change(engine, object, node, shown(target), node);
    given(engine, target, args, node);
    if (says("keeps")) for (const value of args) engine.escape(value, node);
    callbacks(engine, args, node, { keeper: object, helps: says("helps") });
    return alone(object);
  }
  if (says("gives")) return alone(engine.library(library, `${path}()`, target.node, target.shared));
  if (says("spends")) {
    const object = engine.library(library, path.slice(0, path.lastIndexOf(".")), target.node, target.shared);
    change(engine, object, node, shown(target), node);
  }
  if (says("pure") && !args.some(hasFunction)) {
    given(engine, target, args, node);
    callbacks(engine, args, node, {}); // a template calls the functions that it is given among its values
    return alone(engine.data("fresh", node));
  }
  const [handler = NONE] = args;
  if (says("wraps") && [...handler].every(mayBeWrapped)) return handler;
  if (says("start")) {
    engine.fact(
      "HW-7009",
      node,
      `it calls ${shown(target)}, which waits for events`,
      "start listening elsewhere",
    );
    const object = path === "" ? "()" : path.slice(0, path.lastIndexOf("."));
    return alone(engine.library(library, object, target.node, target.shared));
  }
  if (says("reads")) return readsFile(engine, target, args, node);
  if (says("post") || says("pure")) return goesOnLater(engine, shown(target), args, node);
  // A method of which nothing is said may change what the others do; but not one of Node's own modules.
  if (knowledge.knows(library) && !isBuiltin(library) && !says("leaves")) engine.changed(target, node);
  return unknownCall(engine, node, args, shown(target));
}

/**
 * A call of a package whose calls are watched when they run elsewhere: as far as anybody has seen, it changes nothing that lasts. What is
 * done with it while files are loaded sets it up.
 */
function callWatched(engine: Engine, target: LibraryThing, args: readonly ValueSet[], node: Node): ValueSet {
  const { library, path } = target;
  if (args.some(hasFunction)) return unknownCall(engine, node, args, shown(target));
  engine.current.heavy = true;
  given(engine, target, args, node);
  if (engine.loading) {
    change(engine, engine.library(packageOf(library), "", null, true), node, shown(target), node);
    return alone(engine.library(library, `${path}()`, node, true));
  }
  engine.current.watch(node);
  if (node.type === "NewExpression") return alone(engine.library(library, `${path}()`, node, false));
  return alone(engine.data("fresh", node));
}

/** A text, if an encoding is given, else new memory. */
function readsFile(engine: Engine, target: LibraryThing, args: readonly ValueSet[], node: Node): ValueSet {
  const reason = `it calls ${shown(target)}: input and output stay on the main loop`;
  engine.fact(
    "HW-7009",
    node,
    reason,
    "read the file while the program is loaded, or outside of the heavy function",
    true,
  );
  given(engine, target, args, node);
  const encoding = isCall(node) ? node.arguments[1] : undefined;
  const isText = encoding?.type === "Literal" && typeof encoding.value === "string";
  return isText ? NONE : alone(engine.data("fresh", node));
}

/** A call of something that waits for the outside. */
export function goesOnLater(engine: Engine, name: string, args: readonly ValueSet[], node: Node): ValueSet {
  engine.fact(
    "HW-7009",
    node,
    `it calls ${name}, which goes on later: input and output stay on the main loop`,
    "do the heavy work in a function of its own",
  );
  for (const value of args)
    for (const thing of value) if (thing.kind !== "function") handOver(engine, thing, node);
  return alone(engine.data("given", node));
}

/** What a known function may do with its arguments, besides reading them. */
function given(engine: Engine, target: LibraryThing, args: readonly ValueSet[], node: Node): void {
  const { library, path } = target;
  const { knowledge } = engine.options;
  if (args.every((each) => each.size === 0)) return;
  const positions = knowledge.writes(library, path);
  const isSpread = isCall(node) && node.arguments.some(({ type }) => type === "SpreadElement");
  const text = positions.length > 0 ? templateOf(engine, target, node) : null;
  const reads = text !== null && onlyReads(library, text);
  for (const [i, value] of args.entries()) {
    const writes = !reads && positions.length > 0 && (isSpread || positions.includes(i));
    for (const thing of engine.reachable(value)) {
      if (writes && !isCode(thing)) change(engine, thing, node, `what ${shown(target)} is given`, node);
      taken(engine, target, thing, node);
    }
  }
}

/** What a library cannot be given in a worker, or for which it is unknown what it would do there. */
function taken(engine: Engine, target: LibraryThing, thing: Thing, node: Node): void {
  const { knowledge } = engine.options;
  if (thing.kind === "receiver") {
    const name = thing.variable?.name ?? thing.receiver;
    const reason = `it gives ${name} to ${shown(target)}, and only the main loop has it`;
    engine.fact("HW-7008", node, reason, "give it what is needed of it");
  } else if (thing.kind === "library" && !isKnown(knowledge, thing, target)) {
    const reason = `it gives ${thing.library}, of which nothing is known, to ${shown(target)}`;
    engine.unknown(node, reason, `if it has no effects, name ${thing.library} in headwater.fluxions.json`);
  }
}

function isKnown(knowledge: Knowledge, { library }: LibraryThing, target: LibraryThing): boolean {
  if (knowledge.watches(library)) return knowledge.watches(target.library);
  return knowledge.knows(library) || isBuiltin(library);
}

/** Functions are called, and looked at as such. */
function isCode({ kind }: Thing): boolean {
  return kind === "function" || kind === "builtin";
}

/** The text of a template, if it is written in the program: where it is rendered, or where it was compiled. */
function templateOf(engine: Engine, target: LibraryThing, node: Node): string | null {
  const call = target.path.endsWith("()") ? target.node : node;
  const [first] = call !== null && isCall(call) ? call.arguments : [];
  return call === null || first === undefined || /File(?:\(\))?$/.test(target.path)
    ? null
    : textOf(engine, engine.moduleOf(call), first);
}

function isCall(node: Node): node is CallExpression {
  return node.type === "CallExpression";
}

/** Data that goes into a file or a socket is not changed by that; but memory may be read into. */
function handOver(engine: Engine, thing: Thing, node: Node): void {
  if (thing.kind === "library") return;
  if (thing.kind === "site" && thing.node.type !== "NewExpression") return;
  engine.changed(thing, node);
}

/**
 * Functions among the arguments, or in objects among them, may be called whenever the object is used: on that object, or on
 * what was given with them; and any method of an instance. What a helper is given then, others may hold.
 */
export function callbacks(
  engine: Engine,
  args: readonly ValueSet[],
  node: Node,
  { keeper = null, helps = false }: { readonly keeper?: LibraryThing | null; readonly helps?: boolean },
): void {
  const all = thingsOf(engine.reachable(union(...args)));
  const called = all.flatMap((thing): [FunctionNode, Thing][] => {
    if (thing.kind === "function") return [[thing.node, thing]];
    if (thing.kind !== "site" || thing.madeBy === null) return [];
    return methodsOf(engine, thing.madeBy).map((method) => [method, thing]);
  });
  if (called.length === 0) return;
  const others = new Set(all.filter((each) => !isCode(each) && each.kind !== "receiver"));
  const self = union(others, keeper === null ? NONE : alone(keeper), alone(engine.data("fresh", node)));
  for (const [target, of] of called) {
    const given: ValueSet = alone(engine.data(helps ? "input" : "given", target));
    const values = keeper === null ? union(given, others) : given;
    const each = Array.from({ length: 8 }, () => values);
    engine.call(target, node, each, of.kind === "function" ? self : alone(of));
  }
}

function shown({ library, path }: LibraryThing): string {
  return `${library}${path}`;
}
