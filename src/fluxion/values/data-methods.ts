import { COPYING, MAPPING, MATCHING, MUTATING, PICKING, TELLING } from "../callees/builtins.js";
import { around, type CallExpression, plain, written } from "../source/syntax.js";
import { callThing, unknownCall } from "./calls.js";
import type { Engine } from "./engine.js";
import { change, contentsOf, fill } from "./members.js";
import { type DataThing, joined, NONE, type Site, type Thing, type Value } from "./things.js";

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
): Iterable<Thing> {
  if (key === null) return unknownCall(engine, node, args, written(node.callee));
  if (TELLING.has(key)) {
    callbacks(engine, args, node, NONE);
    return key === "split" ? [engine.site(node)] : [];
  }
  const self = thing === null ? [] : [thing];
  let found: Set<Thing> | null = null;
  for (const value of args)
    for (const each of value) if (each.kind !== "function") found = joined(found, [each]);
  const others = found ?? NONE;
  const callee = plain(node.callee);
  const target = callee.type === "MemberExpression" ? callee.object : node;
  if (MUTATING.has(key)) {
    const before = args.some((value) => [...value].some(isCallback)) ? contentsOf(engine, self) : null;
    if (thing !== null) {
      change(engine, thing, node, `${written(target)} by ${key}()`, target);
      fill(engine, thing, null, others);
    }
    if (key === "sort") engine.current.busy = true;
    if (before !== null) callbacks(engine, args, node, joined(joined(null, before), self) ?? NONE);
    else if (around(node)?.type === "ExpressionStatement") return []; // nobody wants what it gives
    // Looked at when all is in it, or this would have to be looked at again.
    return [...self, ...(before ?? contentsOf(engine, self)), ...others];
  }
  if (MATCHING.has(key)) {
    if (thing?.kind === "site" && thing.remembers)
      change(engine, thing, node, `${written(target)}.lastIndex`, target);
    return key === "exec" ? [engine.site(node)] : [];
  }
  const contents = contentsOf(engine, self);
  const isKnown = COPYING.has(key) || MAPPING.has(key) || PICKING.has(key);
  if (!isKnown) return unknownCall(engine, node, args, written(node.callee));
  const hasFunction = args.some((value) => [...value].some(({ kind }) => kind === "function"));
  if (hasFunction) engine.current.busy = true;
  const seen = joined(joined(joined(null, contents), others), key === "then" ? self : NONE) ?? NONE;
  const given = callbacks(engine, args, node, seen);
  if (PICKING.has(key))
    return [...contents, ...others, ...given, ...(key === "then" || key === "finally" ? self : [])];
  const made = engine.site(node);
  engine.put(made, null, given);
  if (key === "flatMap") engine.put(made, null, contentsOf(engine, given));
  if (COPYING.has(key)) {
    engine.put(made, null, contents);
    engine.put(made, null, others);
    engine.put(made, null, contentsOf(engine, others));
  }
  return [made];
}

function isCallback({ kind }: Thing): boolean {
  return kind === "function" || kind === "builtin" || kind === "resolver";
}

function callbacks(engine: Engine, args: readonly Value[], node: CallExpression, seen: Value): Value {
  let given: Set<Thing> | null = null;
  for (const value of args) {
    for (const thing of value) {
      if (!isCallback(thing)) continue;
      if (thing.kind === "function") {
        const before = engine.returned(thing.node);
        const all: Value = new Set([...seen, ...before]);
        given = joined(given, callThing(engine, thing, [all, all, all, all], node, []));
      } else {
        given = joined(given, callThing(engine, thing, [seen], node, []));
      }
    }
  }
  return given ?? NONE;
}
