import {
  CHANGING,
  CLASSES,
  DESCRIBING,
  PASSING,
  PROCESS_CONSTANTS,
  PURE_GLOBALS,
  PURE_NAMESPACES,
  TIMERS,
  VARYING,
} from "../callees/builtins.js";
import type { Node } from "../source/syntax.js";
import { callThing, unknownCall } from "./calls.js";
import type { Engine } from "./engine.js";
import { change, contentsOf, elementsOf, fill } from "./members.js";
import { alone, joined, NONE, type Thing, thingsOf, union, type Value } from "./things.js";

/** A call of a function of the language or of Node that is there without an import. */
export function callBuiltin(engine: Engine, path: string, args: readonly Value[], node: Node): Value {
  const [first = "", second = ""] = path.split(".");
  if (VARYING.has(path)) engine.current.vary(node);
  if (path === "eval" || path === "Function") {
    engine.fact("HW-7007", node, `it uses ${path}`, "write the code in a file of the program");
    return alone(engine.data("unknown"));
  }
  if (TIMERS.has(path)) {
    engine.fact(
      "HW-7009",
      node,
      `it calls ${path}: timers stay on the main loop`,
      "do the heavy work in a function",
    );
    return alone(engine.data("fresh", node));
  }
  if (DESCRIBING.has(path)) described(engine, args.slice(1), node);
  if (CHANGING.has(path)) return changing(engine, args, node);
  if (PASSING.has(path)) return passing(engine, args, node);
  if (PURE_GLOBALS.has(path) || PURE_NAMESPACES.has(first)) {
    callbacks(engine, args, node);
    if (first === "JSON") engine.current.busy = true;
    return path === "JSON.parse" || path === "structuredClone" || first === "Buffer" || first === "Intl"
      ? alone(engine.data("fresh", node))
      : NONE;
  }
  if (CLASSES.has(path)) return passing(engine, args, node);
  if (first === "process" && PROCESS_CONSTANTS.has(second)) return NONE;
  return unknownCall(engine, node, args, path);
}

export function makeBuiltin(engine: Engine, path: string, args: readonly Value[], node: Node): Value {
  if (path === "Promise") return promise(engine, args, node);
  if (path === "Date" && args.length === 0) engine.current.vary(node);
  if (!CLASSES.has(path)) return unknownCall(engine, node, args, `new ${path}`);
  return passing(engine, args, node);
}

/** `new Promise((resolve) => …)`: what it resolves to is what it is taken for. */
function promise(engine: Engine, args: readonly Value[], node: Node): Value {
  const site = engine.site(node);
  const resolver: Value = alone(engine.resolver(node, site));
  for (const thing of thingsOf(args[0] ?? NONE)) callThing(engine, thing, [resolver, resolver], node, NONE);
  engine.current.waits = true;
  return union(alone(site), engine.inside(site).rest);
}

/** Functions in the description of a property run when it is read or written. */
function described(engine: Engine, args: readonly Value[], node: Node): void {
  const isMade = args.some((each) =>
    thingsOf(engine.reachable(each)).some(({ kind }) => kind === "function"),
  );
  if (isMade)
    engine.fact("HW-7006", node, "it makes an object with a getter or a setter", "use a plain field");
}

function passing(engine: Engine, args: readonly Value[], node: Node): Value {
  const site = engine.site(node);
  const given = callbacks(engine, args, node);
  for (const value of args) {
    for (const thing of thingsOf(value)) if (thing.kind !== "function") engine.put(site, null, alone(thing));
    engine.put(site, null, elementsOf(engine, value, node));
  }
  engine.put(site, null, given);
  return alone(site);
}

function changing(engine: Engine, args: readonly Value[], node: Node): Value {
  const [target = NONE, ...others] = args;
  const first = node.type === "CallExpression" ? (node.arguments[0] ?? node) : node;
  for (const thing of thingsOf(target)) {
    change(engine, thing, node, "its first argument", first);
    for (const other of others) fill(engine, thing, null, union(contentsOf(engine, other), other));
  }
  return union(target);
}

function callbacks(engine: Engine, args: readonly Value[], node: Node): Value {
  let found: Set<Thing> | null = null;
  for (const value of args) found = joined(found, elementsOf(engine, value, node));
  const contents = found ?? NONE;
  let given: Set<Thing> | null = null;
  for (const value of args) {
    for (const thing of thingsOf(value)) {
      if (thing.kind !== "function") continue;
      engine.current.busy = true;
      given = joined(given, callThing(engine, thing, [contents, contents, contents], node, NONE));
    }
  }
  return given ?? NONE;
}
