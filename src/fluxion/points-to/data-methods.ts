import {
  COPYING,
  ITERATING,
  LOCAL_TIME,
  MAPPING,
  MATCHING,
  MUTATING,
  PICKING,
  TELLING,
} from "../callees/index.js";
import { around, type CallExpression, keyOf, type Node, plain, written } from "../source/index.js";
import { callThing, unknownCall } from "./calls.js";
import type { Engine } from "./engine.js";
import { evaluate } from "./expressions.js";
import { change, contentsOf, elementsOf, fill } from "./members.js";
import {
  type AllocationSite,
  alone,
  type DataThing,
  joined,
  NONE,
  type Thing,
  thingsOf,
  union,
  type ValueSet,
} from "./things.js";

/**
 * A method of a primitive value, an array, a map or the like. What a stage is given has no other methods: it is copied as
 * data, and what is more than data is not copied.
 */
export function callDataMethod(
  engine: Engine,
  thing: AllocationSite | DataThing | null,
  key: string | null,
  args: readonly ValueSet[],
  node: CallExpression,
): ValueSet {
  const self = thing === null ? NONE : alone(thing);
  if (key === null) return unknownCall(engine, node, [...args, self], written(node.callee));
  if (key === "valueOf") return self;
  if (LOCAL_TIME.has(key)) engine.current.time(node);
  leaveMarks(engine, thing, key, args, node);
  if (TELLING.has(key)) {
    callbacks(engine, args, node, NONE);
    return key === "split" ? alone(engine.site(node)) : NONE;
  }
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
      fill(engine, thing, null, others, node);
    }
    if (thing === null || (thing.kind === "site" && thing.remembers)) engine.escape(others, node);
    if (key === "copy") for (const each of others) change(engine, each, node, "its argument", node);
    if (key === "sort") engine.current.busy = true;
    if (before !== null) callbacks(engine, args, node, union(before, self), self, others);
    else if (around(node)?.type === "ExpressionStatement") return NONE; // its value is unused
    // Looked at when all is in it, or this would have to be looked at again.
    if (key === "next") return next(engine, self, node);
    return union(self, before ?? contentsOf(engine, self), others);
  }
  if (MATCHING.has(key)) {
    if (thing?.kind === "site" && thing.remembers)
      change(engine, thing, node, `${written(target)}.lastIndex`, target);
    return key === "exec" ? alone(engine.site(node)) : NONE;
  }
  const contents = contentsOf(engine, self);
  const isKnown = COPYING.has(key) || MAPPING.has(key) || PICKING.has(key);
  if (!isKnown) return unknownCall(engine, node, [...args, self], written(node.callee));
  if (thing?.kind === "data" && (thing.owner === "unknown" || thing.owner === "input"))
    engine.escape(others, node);
  if (args.some(hasFunction)) engine.current.busy = true;
  const seen = union(contents, others, key === "then" ? self : NONE);
  const given = callbacks(engine, args, node, seen, self, others);
  if (PICKING.has(key))
    return union(contents, others, given, key === "then" || key === "finally" ? self : NONE);
  const made = engine.site(node, null, ITERATING.has(key) || (thing?.kind === "site" && thing.remembers));
  engine.put(made, null, given);
  if (key === "flat") engine.put(made, null, engine.reachable(contents));
  if (key === "flatMap") engine.put(made, null, contentsOf(engine, given));
  if (COPYING.has(key)) {
    engine.put(made, null, contents);
    if (key === "subarray") engine.put(made, null, self); // the same memory
    engine.put(made, null, others);
    engine.put(made, null, contentsOf(engine, others));
  }
  return isView(thing, key) ? union(alone(made), self) : alone(made);
}

/** `{ value, done }` */
function next(engine: Engine, self: ValueSet, node: CallExpression): ValueSet {
  const made = engine.site(node);
  engine.put(made, null, elementsOf(engine, self, node));
  return union(alone(made), self, contentsOf(engine, self));
}

/** What is left in the object of the method, or in an argument of it, though the method only tells something. */
function leaveMarks(
  engine: Engine,
  thing: AllocationSite | DataThing | null,
  key: string,
  args: readonly ValueSet[],
  node: CallExpression,
): void {
  // `decode(bytes, { stream: true })` remembers half a letter; going on with an iterator uses it up.
  const isUsedUp = thing?.kind === "site" && thing.remembers && !MUTATING.has(key) && !MATCHING.has(key);
  if (thing !== null && ((key === "decode" && args.length > 1) || (isUsedUp && !TELLING.has(key))))
    change(engine, thing, node, written(node.callee), node);
  if (key !== "replace" && key !== "replaceAll" && key !== "match") return;
  for (const each of thingsOf(args[0] ?? NONE)) {
    if (each.kind === "site" && isSticky(each))
      change(engine, each, node, `${written(node)}.lastIndex`, node);
  }
}

/** With the flag `g`, `replace` and `match` begin anew each time. */
function isSticky({ node, remembers }: AllocationSite): boolean {
  return remembers && !(node.type === "Literal" && "regex" in node && node.regex.flags.includes("g"));
}

/** A part of a Buffer is the same memory. */
function isView(thing: AllocationSite | DataThing | null, key: string): boolean {
  return key === "subarray" || (key === "slice" && thing?.kind === "data");
}

export function hasFunction(value: ValueSet): boolean {
  return thingsOf(value).some(({ kind }) => kind === "function");
}

function isCallback({ kind }: Thing): boolean {
  return kind === "function" || kind === "builtin" || kind === "resolver";
}

function callbacks(
  engine: Engine,
  args: readonly ValueSet[],
  node: CallExpression,
  seen: ValueSet,
  of: ValueSet = NONE,
  self: ValueSet = NONE,
): ValueSet {
  let given: Set<Thing> | null = null;
  for (const value of args) {
    for (const thing of thingsOf(value)) {
      if (!isCallback(thing)) continue;
      if (thing.kind === "function") {
        const all = union(seen, engine.returned(thing.node));
        const last = union(all, of); // `(each, i, list) => …`, `(sum, each, i, list) => …`
        given = joined(given, callThing(engine, thing, [all, all, last, last], node, self));
      } else {
        given = joined(given, callThing(engine, thing, [seen], node, NONE));
      }
    }
  }
  return given ?? NONE;
}

/** What calls a function that it is given. */
const CALLING = /^(forEach|map|flatMap|filter|some|every|find|findIndex|reduce|then|apply|call|from)$/;

/** `[1].forEach(list.push, list)`: a method that changes its object is called by its receiver. */
export function takenAlong(
  engine: Engine,
  object: ValueSet,
  key: string,
  node: Node & { type: "MemberExpression" },
): void {
  const outer = around(node);
  const isArgument = outer?.type === "CallExpression" && plain(outer.callee) !== node;
  if (!isArgument && outer?.type !== "VariableDeclarator") return;
  const callee = isArgument ? plain(outer.callee) : null;
  const calls = callee?.type === "MemberExpression" ? keyOf(callee, callee.property) : null;
  for (const thing of thingsOf(object)) {
    const isOwn = thing.kind === "site" && (thing.madeBy !== null || thing.node.type === "ObjectExpression");
    if ((thing.kind !== "site" && thing.kind !== "data") || isOwn) continue;
    // `res.send(req.query.next)` has nothing to do with iterators.
    if (thing.kind === "data" && !CALLING.test(calls ?? "")) continue;
    change(engine, thing, node, `${written(node.object)} by ${key}, which it gives away`, node.object);
    engine.escape(alone(thing), node);
  }
  if (callee?.type === "MemberExpression") engine.escape(evaluate(engine, callee.object), node);
}
