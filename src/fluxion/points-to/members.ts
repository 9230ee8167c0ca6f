import { LAST_MATCH, VIEWS } from "../callees/index.js";
import { enclosingFunction, keyOf, type Node, plain, written } from "../source/index.js";
import { accessed, methodOf, staticMember } from "./classes.js";
import type { Engine } from "./engine.js";
import { evaluate } from "./expressions.js";
import { yieldedBy } from "./implicit.js";
import { callbacks } from "./library-calls.js";
import { readReceiver, writeReceiver } from "./receivers.js";
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

const COUNTS = new Set(["length", "size", "byteLength", "name", "message", "stack"]);

/** What is behind a property; `key` is null if the text does not tell which. */
export function memberOf(engine: Engine, object: ValueSet, key: string | null, node: Node): ValueSet {
  const things = thingsOf(object);
  const [first] = things;
  if (key === "stack") readStack(engine, things, node);
  if (first !== undefined && things.length === 1) return memberOfThing(engine, first, key, node);
  let found: Set<Thing> | null = null;
  for (let i = 0; i < things.length; i++) {
    const thing = things[i];
    if (thing !== undefined) found = joined(found, memberOfThing(engine, thing, key, node));
  }
  return found ?? NONE;
}

export function memberOfThing(engine: Engine, thing: Thing, key: string | null, node: Node): ValueSet {
  switch (thing.kind) {
    case "site": {
      if (key === null) {
        if (thing.madeBy !== null) accessed(engine, thing.madeBy, "get", null, node, [], alone(thing));
        return contentsOf(engine, alone(thing));
      }
      const method = thing.madeBy && methodOf(engine, thing.madeBy, key, node, alone(thing));
      if (method === null && VIEWS.has(key) && !engine.hasField(thing, key))
        return union(alone(thing), engine.inside(thing).rest);
      engine.inside(thing);
      // An object may have something of its own where its class has a method.
      const own = thing.fields.get(key) ?? NONE;
      return method === null
        ? union(own, COUNTS.has(key) ? NONE : thing.rest)
        : union(method, own, thing.rest);
    }
    case "function":
    case "class":
      if (key === "length" || key === "toString") engine.lookedAt.add(thing.node);
      if (key === "prototype") return alone(engine.data("loaded", thing.node));
      if (thing.kind === "class" && key !== null) {
        const member = staticMember(engine, thing, key, node, alone(thing));
        if (member !== null) return member;
      }
      engine.inside(thing);
      return key === null
        ? union(...thing.fields.values())
        : union(thing.fields.get(key) ?? NONE, thing.fields.get("*") ?? NONE);
    case "namespace":
      return exported(engine, thing.module, key, node);
    case "library":
      if (key === "default") return alone(thing);
      return alone(engine.library(thing.library, `${thing.path}.${key ?? "…"}`, thing.node, thing.shared));
    case "builtin":
      return key !== null && isProcessText(thing.path, key)
        ? processText(engine, node)
        : builtinMember(engine, `${thing.path}.${key ?? "…"}`, node);
    case "data":
      return key !== null && COUNTS.has(key) ? NONE : dataIn(engine, thing);
    case "receiver": {
      const found = readReceiver(engine, thing, key, node);
      const kept = engine.readIn(thing.receiver, key ?? "*", found);
      return kept.size === 0 ? alone(found) : union(alone(found), kept);
    }
    case "resolver":
      return NONE;
  }
}

/** Errors that come from the main loop bring theirs along; one that is made here has other callers in a worker. */
function readStack(engine: Engine, things: readonly Thing[], node: Node): void {
  if (things.length > 0 && things.every((each) => each.kind === "data" && each.owner === "input")) return;
  engine.fact(
    "HW-7002",
    node,
    "it reads the stack of an error, where a worker has other callers",
    "use the error's message",
  );
}

/** What is in data is data, with what the program has put there. */
function dataIn(engine: Engine, thing: DataThing): ValueSet {
  const kept = engine.keptInside(thing);
  return kept.size === 0 ? alone(thing) : union(alone(thing), kept);
}

/** `process.env.X` is text; but a worker's copy of it is its own. */
function isProcessText(path: string, key: string): boolean {
  return path === "process.env" && key !== "";
}

/** Code that reads what the last match left behind depends on all that others do. */
function builtinMember(engine: Engine, path: string, node: Node): ValueSet {
  const thing = engine.builtin(path);
  if (!LAST_MATCH.test(path)) return alone(thing);
  engine.changed(thing, node);
  engine.fact(
    "HW-7002",
    node,
    `it reads ${path}, which the last match anywhere leaves`,
    "use what `exec` gives",
  );
  return NONE;
}

function processText(engine: Engine, node: Node): ValueSet {
  engine.fact(
    "HW-7002",
    node,
    "it reads process.env, which can change in the main thread unseen by a worker",
    "read it into a constant of the file",
  );
  return NONE;
}

function exported(engine: Engine, module: Engine["module"], key: string | null, node: Node): ValueSet {
  const namespace = engine.namespace(module);
  if (key === null) return contentsOf(engine, alone(namespace));
  engine.inside(namespace);
  const named = namespace.fields.get(key) ?? NONE;
  const others = [...namespace.whole].filter((each) => each !== namespace);
  const inWhole = others.map((each) => memberOfThing(engine, each, key, node));
  if (key === "exports" && module === engine.module) return union(alone(namespace), named);
  if (key === "default" && module.format === "commonjs") return alone(namespace);
  return union(named, ...inWhole);
}

/** Everything that is in a value, one level down. */
export function contentsOf(engine: Engine, value: ValueSet): ValueSet {
  let found: Set<Thing> | null = null;
  const things = thingsOf(value);
  for (let i = 0; i < things.length; i++) {
    const thing = things[i];
    switch (thing?.kind) {
      case "site":
        engine.inside(thing);
        for (const field of thing.fields.values()) found = joined(found, field);
        found = joined(found, thing.rest);
        break;
      case "namespace":
        engine.inside(thing);
        for (const field of thing.fields.values()) found = joined(found, field);
        found = joined(found, thing.whole);
        break;
      case "function":
      case "class":
        engine.inside(thing);
        for (const field of thing.fields.values()) found = joined(found, field);
        break;
      case "data":
        found = joined(found, dataIn(engine, thing));
        break;
      case "library":
      case "receiver":
        found = joined(found, alone(thing));
        break;
      default:
    }
  }
  if (found !== null) engine.options.program.effort.spend(found.size);
  return found ?? NONE;
}

/** What going through a value gives; that uses up iterators, and a request's own text. */
export function iterated(engine: Engine, value: ValueSet, node: Node): ValueSet {
  for (const thing of thingsOf(value)) {
    if (thing.kind === "receiver") {
      engine.fact(
        "HW-7008",
        node,
        `it reads through ${thing.variable?.name ?? thing.receiver}`,
        "read it before",
      );
    }
  }
  return elementsOf(engine, value, node);
}

/** What going through a value gives: what is in it, pairs of that, or what its own iterator gives. */
export function elementsOf(engine: Engine, value: ValueSet, node: Node): ValueSet {
  let found: Set<Thing> | null = null;
  for (const thing of thingsOf(value)) {
    const contents = contentsOf(engine, alone(thing));
    if (thing.kind !== "site") {
      found = joined(found, contents);
      continue;
    }
    if (thing.remembers) change(engine, thing, node, written(node), node);
    found = joined(found, yieldedBy(engine, thing, node) ?? contents);
    const pairs = pairsOf(thing);
    if (pairs === null) continue;
    const pair = engine.site(pairs);
    engine.put(pair, null, contents);
    found = joined(found, alone(pair));
  }
  return found ?? NONE;
}

/** `new Map()` and `list.entries()` give pairs: they are known by the name that stands there. */
function pairsOf({ node, madeBy }: AllocationSite): Node | null {
  if (node.type === "NewExpression") {
    const isMap = node.callee.type === "Identifier" && node.callee.name === "Map";
    return isMap || madeBy !== null ? node.callee : null;
  }
  if (node.type !== "CallExpression") return null;
  const callee = plain(node.callee);
  return callee.type === "MemberExpression" && keyOf(callee, callee.property) === "entries" ? callee : null;
}

export function assignMember(
  engine: Engine,
  target: Node & { type: "MemberExpression" },
  value: ValueSet,
): void {
  const object = evaluate(engine, target.object);
  if (target.computed) evaluate(engine, target.property);
  const key = keyOf(target, target.property);
  for (const thing of thingsOf(object)) {
    if (thing.kind === "receiver") {
      writeReceiver(engine, thing, key, target, value);
      continue;
    }
    if (thing.kind === "namespace" && engine.loading) {
      const isWhole = key === "exports" && plain(target.object).type === "Identifier";
      engine.put(thing, isWhole ? null : key, value);
      continue;
    }
    change(engine, thing, target, written(target), target.object);
    if (thing.kind === "site" && thing.madeBy !== null)
      accessed(engine, thing.madeBy, "set", key, target, [value], alone(thing));
    if (thing.kind === "class") accessed(engine, thing, "set", key, target, [value], alone(thing));
    fill(engine, thing, key, value, target);
    if (thing.kind === "library") callbacks(engine, [value], target, { keeper: thing });
  }
}

/** Puts something into a thing. What is put into one that is not looked into is out of sight. */
export function fill(engine: Engine, thing: Thing, key: string | null, value: ValueSet, node: Node): void {
  if ("fields" in thing) return engine.put(thing, key, value);
  engine.escape(value, node);
  if (thing.kind === "data") engine.keepIn(thing, value);
  else if (thing.kind === "receiver") engine.keep(`${thing.receiver}.${key ?? "*"}`, value);
}

/** A thing is changed: allowed for things that are not shared. */
export function change(engine: Engine, thing: Thing, node: Node, what: string, target: Node): void {
  if (isUnderConstruction(engine, thing, target)) {
    engine.current.build(node, thing);
    return;
  }
  engine.changed(thing, node);
  if (thing.kind === "receiver") {
    const name = thing.variable?.name ?? thing.receiver;
    engine.fact("HW-7008", node, `it changes ${name} as a whole`, "assign the fields one by one");
  }
  const isLoaded =
    (thing.kind === "site" && thing.shared) ||
    (thing.kind === "library" && thing.shared) ||
    thing.kind === "function" ||
    thing.kind === "class" ||
    thing.kind === "namespace" ||
    (thing.kind === "data" && thing.owner === "loaded");
  if (isLoaded && !engine.loading) {
    engine.fact(
      "HW-7002",
      node,
      `it changes ${what}, which was made when the file was loaded and is shared by every request`,
      "change it in a part of its own, before or after the heavy work",
    );
  }
  if (thing.kind === "receiver") {
    engine.fact(
      "HW-7008",
      node,
      `it changes ${thing.variable?.name ?? thing.receiver}, and not by an assignment`,
      "assign single fields",
    );
  }
  if (thing.kind === "builtin") {
    engine.fact(
      "HW-7002",
      node,
      `it changes ${what}, which belongs to the whole process`,
      "pass it on as a value",
    );
  }
  if (thing.kind === "data" && thing.owner === "input") {
    engine.fact(
      "HW-7005",
      node,
      `it changes ${what}, which it was given and others may hold too`,
      "change a copy: `{ ...x }`, `[...x]`, `toSorted()`",
    );
  }
}

/** A local variable that was declared with the new object itself: the object is still being built. */
function isUnderConstruction(engine: Engine, thing: Thing, target: Node): boolean {
  if (thing.kind !== "site") return false;
  // A constructor writes to the object that is being made, also while a file is loaded.
  if (plain(target).type === "ThisExpression" && isInConstructor(plain(target))) return true;
  if (thing.shared) return false;
  let root = plain(target);
  while (root.type === "MemberExpression") root = plain(root.object);
  if (root.type === "ThisExpression") return isInConstructor(root);
  if (root.type !== "Identifier") return false;
  const variable = engine.module.variable(root);
  return (
    variable?.defs.some(({ node }) => {
      const declared = node as unknown as Node;
      return (
        declared.type === "VariableDeclarator" &&
        declared.init !== null &&
        enclosingFunction(declared) === engine.current.body &&
        isMaking(plain(declared.init))
      );
    }) === true && variable.references.filter((each) => each.isWrite()).length === 1
  );
}

function isInConstructor(node: Node): boolean {
  const method = enclosingFunction(node)?.parent;
  return method?.type === "MethodDefinition" && method.kind === "constructor";
}

function isMaking(node: Node): boolean {
  return node.type === "ArrayExpression" || node.type === "ObjectExpression" || node.type === "NewExpression";
}
