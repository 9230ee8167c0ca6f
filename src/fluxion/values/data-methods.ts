import {
  COPYING,
  ITERATING,
  LOCAL_TIME,
  MAPPING,
  MATCHING,
  MUTATING,
  PICKING,
  TELLING,
} from "../callees/builtins.js";
import { around, type CallExpression, plain, written } from "../source/syntax.js";
import { callThing, unknownCall } from "./calls.js";
import type { Engine } from "./engine.js";
import { change, contentsOf, fill } from "./members.js";
import {
  alone,
  type DataThing,
  joined,
  NONE,
  type Site,
  type Thing,
  thingsOf,
  union,
  type Value,
} from "./things.js";

/**
 * A method of a primitive value, an array, a map or the like. What a stage is given has no other methods: it is copied as
 * data, and what is more than data is not copied.
 */
export function callDataMethod(
  engine: Engine,
  thing: Site | DataThing | null,
  key: string | null,
  args: readonly Value[],
  node: CallExpression,
): Value {
  if (key === null) return unknownCall(engine, node, args, written(node.callee));
  if (LOCAL_TIME.has(key)) engine.current.time(node);
  if (TELLING.has(key)) {
    callbacks(engine, args, node, NONE);
    return key === "split" ? alone(engine.site(node)) : NONE;
  }
  const self = thing === null ? NONE : alone(thing);
  let found: Set<Thing> | null = null;
  for (const value of args)
    for (const each of thingsOf(value)) if (each.kind !== "function") found = joined(found, alone(each));
  const others = found ?? NONE;
  const callee = plain(node.callee);
  const target = callee.type === "MemberExpression" ? callee.object : node;
  if (MUTATING.has(key)) {
    const before = args.some((value) => thingsOf(value).some(isCallback)) ? contentsOf(engine, self) : null;
    if (thing !== null) {
      change(engine, thing, node, `${written(target)} by ${key}()`, target);
      fill(engine, thing, null, others);
    }
    if (key === "sort") engine.current.busy = true;
    if (before !== null) callbacks(engine, args, node, union(before, self));
    else if (around(node)?.type === "ExpressionStatement") return NONE; // nobody wants what it gives
    // Looked at when all is in it, or this would have to be looked at again.
    return union(self, before ?? contentsOf(engine, self), others);
  }
  if (MATCHING.has(key)) {
    if (thing?.kind === "site" && thing.remembers)
      change(engine, thing, node, `${written(target)}.lastIndex`, target);
    return key === "exec" ? alone(engine.site(node)) : NONE;
  }
  const contents = contentsOf(engine, self);
  const isKnown = COPYING.has(key) || MAPPING.has(key) || PICKING.has(key);
  if (!isKnown) return unknownCall(engine, node, args, written(node.callee));
  if (args.some(hasFunction)) engine.current.busy = true;
  const seen = union(contents, others, key === "then" ? self : NONE);
  const given = callbacks(engine, args, node, seen);
  if (PICKING.has(key))
    return union(contents, others, given, key === "then" || key === "finally" ? self : NONE);
  const made = engine.site(node, null, ITERATING.has(key));
  engine.put(made, null, given);
  if (key === "flatMap") engine.put(made, null, contentsOf(engine, given));
  if (COPYING.has(key)) {
    engine.put(made, null, contents);
    engine.put(made, null, others);
    engine.put(made, null, contentsOf(engine, others));
  }
  return alone(made);
}

export function hasFunction(value: Value): boolean {
  return thingsOf(value).some(({ kind }) => kind === "function");
}

function isCallback({ kind }: Thing): boolean {
  return kind === "function" || kind === "builtin" || kind === "resolver";
}

function callbacks(engine: Engine, args: readonly Value[], node: CallExpression, seen: Value): Value {
  let given: Set<Thing> | null = null;
  for (const value of args) {
    for (const thing of thingsOf(value)) {
      if (!isCallback(thing)) continue;
      if (thing.kind === "function") {
        const all = union(seen, engine.returned(thing.node));
        given = joined(given, callThing(engine, thing, [all, all, all, all], node, NONE));
      } else {
        given = joined(given, callThing(engine, thing, [seen], node, NONE));
      }
    }
  }
  return given ?? NONE;
}
