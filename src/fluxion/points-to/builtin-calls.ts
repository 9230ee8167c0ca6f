import {
  CHANGING,
  CLASSES,
  DESCRIBING,
  MUTATING,
  OF_MEMORY,
  OF_PAIRS,
  PASSING,
  PROCESS_CONSTANTS,
  PURE_GLOBALS,
  PURE_NAMESPACES,
  SAME,
  TIMERS,
  VARYING,
} from "../callees/index.js";
import { keyOf, type Node } from "../source/index.js";
import { callThing, unknownCall } from "./calls.js";
import type { Engine } from "./engine.js";
import { accessor } from "./expressions.js";
import { callbacks as callLater, goesOnLater } from "./library-calls.js";
import { change, contentsOf, elementsOf, fill, iterated } from "./members.js";
import {
  type AllocationSite,
  alone,
  joined,
  NONE,
  type Thing,
  thingsOf,
  union,
  type ValueSet,
} from "./things.js";

/** A call of a function of the language or of Node that is there without an import. */
export function callBuiltin(engine: Engine, path: string, args: readonly ValueSet[], node: Node): ValueSet {
  const [first = "", second = "", method = ""] = path.split(".");
  // `Date.prototype.setTime.call(date, 0)`
  if (second === "prototype" && MUTATING.has(method)) return unknownCall(engine, node, args, path);
  if (VARYING.has(path)) engine.current.vary(node);
  if (path === "eval" || path === "Function") {
    engine.fact("HW-7007", node, `it uses ${path}`, "write the code in a file of the program");
    for (const name of engine.module.inside(engine.module.syntax).names) {
      const variable = engine.module.variable(name); // which the code may name
      if (variable) engine.escape(engine.of(variable), node);
    }
    for (const value of args) engine.escape(value, node);
    return alone(engine.data("unknown"));
  }
  if (TIMERS.has(path)) {
    engine.fact(
      "HW-7009",
      node,
      `it calls ${path}: timers stay on the main loop`,
      "do the heavy work in a function",
    );
    for (const value of args.slice(1)) engine.escape(value, node);
    return alone(engine.data("fresh", node));
  }
  if (path === "fetch") return goesOnLater(engine, path, args, node);
  if (DESCRIBING.has(path)) described(engine, args.slice(1), node);
  if (CHANGING.has(path)) return changing(engine, path, args, node);
  if (PASSING.has(path)) return passing(engine, path, args, node);
  // What is transferred is empty from then on.
  if (path === "structuredClone" && args.length > 1)
    return unknownCall(
      engine,
      node,
      args.map((each) => engine.reachable(each)),
      path,
    );
  if (PURE_GLOBALS.has(path) || PURE_NAMESPACES.has(first)) {
    callbacks(engine, args, node);
    if (first === "JSON") engine.current.busy = true;
    if (path === "Buffer.from") return union(alone(engine.data("fresh", node)), memoryIn(args, node));
    return path === "JSON.parse" || path === "structuredClone" || first === "Buffer" || first === "Intl"
      ? alone(engine.data("fresh", node))
      : NONE;
  }
  if (CLASSES.has(path)) return passing(engine, path, args, node);
  if (first === "process" && PROCESS_CONSTANTS.has(second)) return NONE;
  return unknownCall(engine, node, args, path);
}

export function makeBuiltin(engine: Engine, path: string, args: readonly ValueSet[], node: Node): ValueSet {
  if (path === "Promise") return promise(engine, args, node);
  if (path === "Date" && args.length === 0) engine.current.vary(node);
  if (!CLASSES.has(path)) return unknownCall(engine, node, args, `new ${path}`);
  const made = passing(engine, path, args, node);
  return OF_MEMORY.test(path) ? union(made, memoryIn(args, node)) : made;
}

/** Memory, which several objects may be made of: a change of one is a change of all. */
function memoryIn([value = NONE]: readonly ValueSet[], node: Node): ValueSet {
  const [first] = node.type === "NewExpression" || node.type === "CallExpression" ? node.arguments : [];
  const isBuffer = first?.type === "MemberExpression" && keyOf(first, first.property) === "buffer";
  return new Set(
    thingsOf(value).filter((each) => {
      if (each.kind === "data") return isBuffer || each.owner === "fresh" || each.owner === "loaded";
      if (each.kind !== "site" || each.node.type !== "NewExpression") return false;
      const { callee } = each.node;
      return callee.type === "Identifier" && (callee.name === "ArrayBuffer" || OF_MEMORY.test(callee.name));
    }),
  );
}

/** `new Promise((resolve) => …)`: what it resolves to is what it is taken for. */
function promise(engine: Engine, args: readonly ValueSet[], node: Node): ValueSet {
  const site = engine.site(node);
  const resolve = alone(engine.resolver(node, site));
  const reject = alone(engine.resolver(node.type === "NewExpression" ? node.callee : node, site));
  for (const thing of thingsOf(args[0] ?? NONE)) callThing(engine, thing, [resolve, reject], node, NONE);
  engine.current.waits = true;
  return union(alone(site), engine.inside(site).rest);
}

/** Functions in the description of a property run when it is read or written. */
function described(engine: Engine, args: readonly ValueSet[], node: Node): void {
  const isMade = args.some((each) =>
    thingsOf(engine.reachable(each)).some(({ kind }) => kind === "function"),
  );
  if (isMade)
    engine.fact("HW-7006", node, "it makes an object with a getter or a setter", "use a plain field");
}

function passing(engine: Engine, path: string, args: readonly ValueSet[], node: Node): ValueSet {
  const site = engine.site(node, null, path === "RegExp" && mayRemember(args, node));
  if (path === "Promise.reject") for (const value of args) engine.escape(value, node);
  const given = callbacks(engine, args, node);
  for (const value of args) {
    for (const thing of thingsOf(value)) if (thing.kind !== "function") engine.put(site, null, alone(thing));
    const contents = iterated(engine, value, node);
    engine.put(site, null, contents);
    if (OF_PAIRS.has(path)) engine.put(site, null, contentsOf(engine, contents));
  }
  engine.put(site, null, given);
  return SAME.has(path) ? union(alone(site), engine.inside(site).rest) : alone(site);
}

/** A regular expression that is made of texts: what flags it has is known only if they are written there. */
function mayRemember([pattern = NONE]: readonly ValueSet[], node: Node): boolean {
  const args = node.type === "NewExpression" || node.type === "CallExpression" ? node.arguments : [];
  const [, flags] = args;
  if (flags === undefined) return pattern.size > 0 || args[0]?.type === "SpreadElement";
  return flags.type !== "Literal" || /[gy]/.test(String(flags.value));
}

function changing(engine: Engine, path: string, args: readonly ValueSet[], node: Node): ValueSet {
  const [target = NONE, ...others] = args;
  const first = node.type === "CallExpression" ? (node.arguments[0] ?? node) : node;
  for (const thing of thingsOf(target)) {
    change(engine, thing, node, "its first argument", first);
    if (thing.kind === "site" && path.startsWith("Object.define")) accessors(engine, thing, others);
    for (const other of others) fill(engine, thing, null, union(contentsOf(engine, other), other), node);
    if (thing.kind === "library") callLater(engine, others, node, { keeper: thing });
  }
  return union(target);
}

/** `Object.defineProperty(o, "a", { get() {…} })` */
function accessors(engine: Engine, of: AllocationSite, descriptors: readonly ValueSet[]): void {
  for (const value of descriptors) {
    for (const each of engine.reachable(value))
      if (each.kind === "function") accessor(engine, of, null, each);
  }
}

function callbacks(engine: Engine, args: readonly ValueSet[], node: Node): ValueSet {
  let found: Set<Thing> | null = null;
  for (const value of args) found = joined(found, elementsOf(engine, value, node));
  const contents = found ?? NONE;
  const whole = union(contents, ...args); // `this`, for callbacks that use it
  let given: Set<Thing> | null = null;
  for (const value of args) {
    for (const thing of thingsOf(value)) {
      if (thing.kind !== "function") continue;
      engine.current.busy = true;
      given = joined(given, callThing(engine, thing, [contents, contents, contents], node, whole));
    }
  }
  return given ?? NONE;
}
