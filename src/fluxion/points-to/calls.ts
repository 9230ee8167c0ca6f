import { CLASSES } from "../callees/index.js";
import { type CallExpression, keyOf, type Node, plain, requiredBy, written } from "../source/index.js";
import { callBuiltin, makeBuiltin } from "./builtin-calls.js";
import { classesAbove, fieldsOf, hasFields, memberAbove, memberAround, methodOf } from "./classes.js";
import { callDataMethod } from "./data-methods.js";
import type { Engine } from "./engine.js";
import { evaluate } from "./expressions.js";
import { callLibrary } from "./library-calls.js";
import { listedKeys } from "./listed-keys.js";
import { elementsOf, memberOfThing } from "./members.js";
import { callReceiver } from "./receivers.js";
import { note, noteMethod } from "./ruptures.js";
import { alone, type ClassThing, NONE, type Thing, thingsOf, union, type ValueSet } from "./things.js";
import { thisValue } from "./this.js";
import { wrappedHandler } from "./wrappers.js";

/** What `require` or `import` of a name gives. */
export function moduleNamed(engine: Engine, specifier: string): ValueSet {
  const own = engine.module.imports.get(specifier);
  if (own === undefined) return alone(engine.library(specifier.replace(/^node:/, ""), "", null, true));
  const module = engine.options.program.modules.get(own);
  if (module !== undefined) return alone(engine.namespace(module));
  const data = engine.options.program.data.get(own);
  if (data !== undefined && own.endsWith(".json")) return alone(engine.data("loaded", data));
  // A file of code that cannot be read is as unknown as a package.
  return alone(engine.library(specifier, "", null, true));
}

/** A file that workers have no part of may be there or not. */
export function isMissing({ module, options }: Engine, specifier: string): boolean {
  const own = module.imports.get(specifier);
  return own === undefined ? /^\.{0,2}\//.test(specifier) : !options.program.modules.has(own);
}

export function loadsLate(engine: Engine, node: Node): void {
  if (engine.loading) return;
  const reason = "it loads a file of the program while it runs";
  engine.fact("HW-7012", node, reason, "load it at the top of the file");
}

export function evaluateCall(engine: Engine, node: CallExpression): ValueSet {
  return callWith(engine, node, argumentsOf(engine, node));
}

function argumentsOf(engine: Engine, node: CallExpression | (Node & { type: "NewExpression" })): ValueSet[] {
  const values: ValueSet[] = [];
  const { arguments: args } = node;
  for (let i = 0; i < args.length; i++) {
    const each = args[i];
    if (each?.type === "SpreadElement") return [...values, ...fromSpread(engine, args.slice(i))];
    if (each !== undefined) values.push(evaluate(engine, each));
  }
  return values;
}

/** From the first spread argument on, each may stand anywhere. */
function fromSpread(engine: Engine, args: readonly Node[]): ValueSet[] {
  const all = union(...args.map((each) => evaluate(engine, each)));
  return Array.from({ length: SPREAD_MAX }, () => all);
}

/** So many arguments are told apart after a spread one; functions with more parameters are not expected. */
const SPREAD_MAX = 255;

/** A call as it is written, but with these arguments. */
export function callWith(engine: Engine, node: CallExpression, args: readonly ValueSet[]): ValueSet {
  const specifier = requiredBy(node);
  if (specifier !== null) {
    if (engine.module.imports.has(specifier) || isMissing(engine, specifier)) loadsLate(engine, node);
    return moduleNamed(engine, specifier);
  }
  const callee = plain(node.callee);
  const isPure = engine.module.remarks(node).includes("pure");
  if (callee.type === "Super") return callSuper(engine, node, args);
  if (callee.type === "MemberExpression") {
    if (callee.object.type === "Super") return callAbove(engine, node, callee, args);
    const object = evaluate(engine, callee.object);
    if (callee.computed) evaluate(engine, callee.property);
    const keys = callee.computed ? listedKeys(engine.module, callee.property) : null;
    const values = (keys ?? [keyOf(callee, callee.property)]).map((key) => {
      noteMethod(engine, node, object, key, args);
      return isPure ? NONE : callMethod(engine, object, key, args, node);
    });
    return isPure ? alone(engine.data("fresh", node)) : union(...values);
  }
  const targets = evaluate(engine, callee);
  note(engine, node, targets, args);
  if (isPure) return alone(engine.data("fresh", node));
  if (targets.size === 0) return unknownCall(engine, node, args, written(node.callee));
  return callAll(engine, thingsOf(targets), args, node, NONE);
}

function callAll(
  engine: Engine,
  targets: readonly Thing[],
  args: readonly ValueSet[],
  node: Node,
  self: ValueSet,
): ValueSet {
  const [first] = targets;
  if (first !== undefined && targets.length === 1) return callThing(engine, first, args, node, self);
  return union(...targets.map((each) => callThing(engine, each, args, node, self)));
}

export function callThing(
  engine: Engine,
  target: Thing,
  args: readonly ValueSet[],
  node: Node,
  self: ValueSet,
): ValueSet {
  switch (target.kind) {
    case "function":
      return wrappedHandler(engine, target.node, args) ?? union(engine.call(target.node, node, args, self));
    case "library":
      return callLibrary(engine, target, args, node);
    case "builtin":
      return callBuiltin(engine, target.path, args, node);
    case "namespace": {
      engine.inside(target);
      const targets = [...target.whole, ...(target.fields.get("default") ?? [])].filter(
        (each) => each !== target,
      );
      if (targets.length === 0) return unknownCall(engine, node, args, "what a file exports");
      return callAll(engine, targets, args, node, self);
    }
    case "receiver":
      if (node.type !== "CallExpression") for (const each of args) engine.escape(each, node);
      return node.type === "CallExpression" ? callReceiver(engine, target, null, args, node) : NONE;
    case "resolver":
      for (const each of args) engine.put(target.into, null, each);
      // Who awaits a promise that is rejected catches that under another name.
      if (target.node !== target.into.node) for (const each of args) engine.escape(each, node);
      return NONE;
    default:
      return unknownCall(
        engine,
        node,
        [...args, self],
        node.type === "CallExpression" ? written(node.callee) : "a function",
      );
  }
}

function callMethod(
  engine: Engine,
  object: ValueSet,
  key: string | null,
  args: readonly ValueSet[],
  node: CallExpression,
): ValueSet {
  const [first, ...others] = thingsOf(object);
  if (first === undefined) return callDataMethod(engine, null, key, args, node);
  const given = callMethodOf(engine, first, key, args, node);
  if (others.length === 0) return given;
  return union(given, ...others.map((thing) => callMethodOf(engine, thing, key, args, node)));
}

function callMethodOf(
  engine: Engine,
  thing: Thing,
  key: string | null,
  args: readonly ValueSet[],
  node: CallExpression,
): ValueSet {
  switch (thing.kind) {
    case "receiver":
      return key === null && thing.receiver !== "next"
        ? unknownCall(engine, node, args, written(node.callee))
        : callReceiver(engine, thing, key, args, node);
    case "data":
      return callDataMethod(engine, thing, key, args, node);
    case "site": {
      const hasMethods = thing.madeBy !== null || (key !== null && engine.hasField(thing, key));
      if (!hasMethods) return callDataMethod(engine, thing, key, args, node);
      const found = memberOfThing(engine, thing, key, node);
      const functions = [...found].filter((each) => each.kind !== "data" && each.kind !== "site");
      if (key === null && thing.madeBy !== null)
        return unknownCall(engine, node, [...args, alone(thing)], written(node.callee));
      if (functions.length === 0) return callDataMethod(engine, thing, key, args, node);
      return callAll(engine, functions, args, node, alone(thing));
    }
    case "function":
      if (key === "call") return union(engine.call(thing.node, node, args.slice(1), args[0] ?? NONE));
      if (key === "apply")
        return union(engine.call(thing.node, node, spread(engine, args[1]), args[0] ?? NONE));
      if (key === "bind") return bound(engine, thing, args, node);
      break;
    default:
  }
  const targets = thingsOf(memberOfThing(engine, thing, key, node));
  if (targets.length === 0) return unknownCall(engine, node, args, written(node.callee));
  return callAll(engine, targets, args, node, alone(thing));
}

/** A function with some of its arguments is another function, of which nothing is known. */
function bound(
  engine: Engine,
  thing: Thing & { kind: "function" },
  args: readonly ValueSet[],
  node: CallExpression,
): ValueSet {
  const [self = NONE, ...others] = args;
  if (others.length > 0) {
    for (const each of [alone(thing), ...args]) engine.escape(each, node);
    return alone(engine.data("unknown"));
  }
  engine.give(thing.node, [], self);
  return alone(thing);
}

function spread(engine: Engine, value: ValueSet | undefined): ValueSet[] {
  const contents = new Set<Thing>();
  for (const thing of value ?? []) {
    if (thing.kind === "site") for (const each of engine.inside(thing).rest) contents.add(each);
    else contents.add(thing);
  }
  return Array.from({ length: SPREAD_MAX }, () => contents);
}

export function evaluateNew(engine: Engine, node: Node & { type: "NewExpression" }): ValueSet {
  const args = argumentsOf(engine, node);
  const targets = evaluate(engine, node.callee);
  if (engine.module.remarks(node).includes("pure")) return alone(engine.data("fresh", node));
  const made = thingsOf(targets).map((target): ValueSet => {
    if (target.kind === "class") return construct(engine, target, args, node);
    if (target.kind === "library") return callLibrary(engine, target, args, node);
    if (target.kind === "builtin") return makeBuiltin(engine, target.path, args, node);
    if (target.kind === "function") {
      const site = engine.site(node);
      const returned = engine.call(target.node, node, args, alone(site));
      engine.fact("HW-7006", node, "it makes an object with a function as its class", "use a class");
      return union(alone(site), returned);
    }
    return unknownCall(engine, node, args, `new ${written(node.callee)}`);
  });
  return made.length === 0 ? unknownCall(engine, node, args, `new ${written(node.callee)}`) : union(...made);
}

function construct(engine: Engine, of: ClassThing, args: readonly ValueSet[], node: Node): ValueSet {
  const site = engine.site(node, of);
  initialise(engine, of, site, args, node);
  const own = of.node.body.body.find(
    (member) => member.type === "MethodDefinition" && member.kind === "constructor",
  );
  if (own?.type !== "MethodDefinition") return alone(site);
  return union(alone(site), engine.returned(own.value));
}

function initialise(
  engine: Engine,
  of: ClassThing,
  site: Thing,
  args: readonly ValueSet[],
  node: Node,
  below: readonly Thing[] = [],
): void {
  let constructs = false;
  if (hasFields(of.node)) engine.call(fieldsOf(of.node), node, [], alone(site));
  for (const member of of.node.body.body) {
    if (member.type === "MethodDefinition" && member.kind === "constructor") {
      constructs = true;
      engine.call(member.value, node, args, alone(site));
    }
  }
  if (!constructs) above(engine, of, site, args, node, below);
}

function above(
  engine: Engine,
  of: ClassThing,
  site: Thing,
  args: readonly ValueSet[],
  node: Node,
  below: readonly Thing[] = [],
): void {
  if (of.node.superClass === null) return;
  const classes = classesAbove(engine, of);
  const all = [...below, of];
  for (const each of classes) {
    if (all.includes(each)) continue; // `A = class extends A {}`
    if (each.kind === "class") initialise(engine, each, site, args, node, all);
    else if (each.kind === "builtin" && CLASSES.has(each.path)) filled(engine, each.path, site, args, node);
    else {
      for (const value of [...args, alone(site)]) engine.escape(value, node);
      engine.unknown(node, "nothing is known of the class above", "extend a class of the program");
    }
  }
  if (classes.length > 0) return;
  const { superClass } = of.node;
  if (superClass.type !== "Identifier" || !CLASSES.has(superClass.name)) {
    for (const value of [...args, alone(site)]) engine.escape(value, node);
    engine.unknown(node, "nothing is known of the class above", "extend a class of the program");
  } else filled(engine, superClass.name, site, args, node);
}

/** `new Map(entries)` of a class that extends Map calls its `set`. */
const FILLING: Readonly<Record<string, string>> = { Map: "set", Set: "add", WeakMap: "set", WeakSet: "add" };

function filled(engine: Engine, path: string, site: Thing, args: readonly ValueSet[], node: Node): void {
  if (site.kind !== "site" || site.madeBy === null || args.length === 0) return;
  const from = elementsOf(engine, union(...args), node);
  const each = union(...args, from, elementsOf(engine, from, node));
  engine.put(site, null, each);
  const method =
    path in FILLING ? methodOf(engine, site.madeBy, FILLING[path] ?? "", node, alone(site)) : null;
  for (const thing of thingsOf(method ?? NONE)) callThing(engine, thing, [each, each], node, alone(site));
}

function callSuper(engine: Engine, node: Node, args: readonly ValueSet[]): ValueSet {
  const place = memberAround(node);
  if (place === null) return NONE;
  for (const site of thingsOf(thisValue(engine, node))) {
    above(engine, engine.class(place.owner), site, args, node);
  }
  return NONE;
}

/** `super.name(…)`: a method of the class above, but of the object that this is. */
function callAbove(
  engine: Engine,
  node: CallExpression,
  callee: Node & { type: "MemberExpression" },
  args: readonly ValueSet[],
): ValueSet {
  if (callee.computed) evaluate(engine, callee.property);
  const self = thisValue(engine, callee.object);
  const key = keyOf(callee, callee.property);
  const found = key === null ? null : memberAbove(engine, node, key, self);
  if (found === null) return unknownCall(engine, node, [...args, self], "a method of `super`");
  const functions = thingsOf(found.found);
  if (functions.length > 0) return callAll(engine, functions, args, node, self);
  if (!found.isForeign) return unknownCall(engine, node, [...args, self], `super.${key}`);
  return union(
    ...thingsOf(self).map((each) =>
      each.kind === "site" || each.kind === "data"
        ? callDataMethod(engine, each, key, args, node)
        : unknownCall(engine, node, [...args, self], `super.${key}`),
    ),
  );
}

/** Nothing is known of what is called: it may do anything to anything that it can reach. */
export function unknownCall(engine: Engine, node: Node, args: readonly ValueSet[], name: string): ValueSet {
  if (!engine.isStrict()) return NONE;
  engine.unknown(
    node,
    `it calls ${name}, of which nothing is known`,
    `if it has no effects, say so: \`/* headwater: pure */ ${name}(…)\`, or in headwater.fluxions.json`,
  );
  for (const value of args) {
    for (const thing of value) engine.changed(thing, node);
    engine.escape(value, node);
  }
  return alone(engine.data("unknown"));
}
