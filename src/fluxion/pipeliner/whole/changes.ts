import {
  alone,
  type Body,
  type Engine,
  escapedFrom,
  reachable,
  type Thing,
  type ValueSet,
} from "../../points-to/index.js";
import { keyOf, type Node, plain, requiredBy, type SourceModule, type Variable } from "../../source/index.js";
import { keyOfThing } from "./keys.js";
import type { WholeProgram } from "./whole.js";

/** Where something is changed after files were loaded. */
export interface LateChange {
  readonly node: Node;
  readonly body: Body;
  /** There it goes where others may change it, whenever they like. */
  readonly givenAway?: boolean;
}

/** Everything that can be reached from a variable. */
export function heldBy({ held, engine }: WholeProgram, variable: Variable): ValueSet {
  const known = held.get(variable);
  if (known !== undefined) return known;
  const found = reachable(engine.of(variable));
  held.set(variable, found);
  return found;
}

/** Where what a variable holds is changed after its file was loaded; null if nowhere. */
export function changeOf(whole: WholeProgram, variable: Variable): LateChange | null {
  const known = whole.changes.get(variable);
  if (known !== undefined) return known;
  let found: LateChange | null = null;
  for (const thing of heldBy(whole, variable)) found ??= whole.changed.get(keyOfThing(thing)) ?? null;
  whole.changes.set(variable, found);
  return found;
}

const ESCAPED = new WeakMap<WholeProgram, ReadonlyMap<Thing, unknown>>();

/** What code that is not looked at may hold. */
export function escapedIn(whole: WholeProgram): ReadonlyMap<Thing, unknown> {
  const known = ESCAPED.get(whole) ?? escapedFrom(whole.engine);
  ESCAPED.set(whole, known);
  return known;
}

/** Where the program changes what the language brings along. */
export interface Patch {
  readonly node: Node;
  readonly path: string;
}

export function patchedIn(engine: Engine): Patch | null {
  for (const { changes } of engine.bodies.values()) {
    for (const [node, things] of changes) {
      for (const thing of things) {
        if (thing.kind !== "builtin" || /^process\b|^console\b/.test(thing.path)) continue;
        if (node.type === "MemberExpression" || /\.prototype$|^RegExp\./.test(thing.path))
          return { node, path: thing.path };
      }
    }
  }
  return null;
}

/** A single object that can be changed, as against code, what is imported, and data of which nothing is known. */
function isSomebodys(thing: Thing): boolean {
  if (thing.kind === "data") return thing.owner === "fresh" || thing.owner === "loaded";
  return thing.kind === "site" || (thing.kind === "library" && thing.node !== null);
}

export function changedIn(engine: Engine): Map<unknown, LateChange> {
  const changed = new Map<unknown, LateChange>();
  for (const { body, changes, unknown } of engine.bodies.values()) {
    if (body.type === "Program") {
      prototypesIn(changes, body, changed);
      continue;
    }
    for (const [node, things] of changes) {
      // What is given to unknown code, it may change through and through.
      for (const thing of unknown.has(node) ? reachable(things) : things) {
        const key = keyOfThing(thing);
        if (key !== null && !changed.has(key)) changed.set(key, { node, body });
      }
    }
  }
  appsIn(engine, changed);
  filesIn(engine, changed);
  for (const [thing, at] of escapedFrom(engine)) {
    const key = isSomebodys(thing) ? keyOfThing(thing) : null;
    if (key !== null && !changed.has(key)) changed.set(key, { ...at, givenAway: true });
  }
  return changed;
}

/**
 * If a program loads anything by a name that is only known when it runs, that may be any of its files: whatever they export
 * goes by another name then.
 */
function filesIn(engine: Engine, changed: Map<unknown, LateChange>): void {
  const { program } = engine.options;
  for (const { body, module } of engine.bodies.values()) {
    const node = module.inside(body).acts.find((act) => isComputedLoad(module, act));
    if (node === undefined) continue;
    const at = { node, body, givenAway: true };
    for (const each of program.data.values()) if (!changed.has(each)) changed.set(each, at);
    for (const each of program.modules.values()) {
      for (const thing of reachable(alone(engine.namespace(each)))) {
        const isMeant = thing.kind === "namespace" || isSomebodys(thing);
        if (isMeant && !changed.has(keyOfThing(thing))) changed.set(keyOfThing(thing), at);
      }
    }
    return;
  }
}

/** `require(name)`, `require.main.require("…")`, `createRequire(…)` */
function isComputedLoad(module: SourceModule, act: Node): boolean {
  if (act.type !== "CallExpression") return false;
  const callee = plain(act.callee);
  if (callee.type === "Identifier") {
    if (callee.name === "createRequire") return true;
    return callee.name === "require" && !module.variable(callee) && requiredBy(act) === null;
  }
  return (
    callee.type === "MemberExpression" &&
    /^(createRequire|require)$/.test(keyOf(callee, callee.property) ?? "")
  );
}

/** `req.app` is the program's own app under another name: whatever is done to it there is done to that. */
function appsIn(engine: Engine, changed: Map<unknown, LateChange>): void {
  const { program, knowledge } = engine.options;
  for (const { body, module } of engine.bodies.values()) {
    const node = module.inside(body).names.find((name) => isApp(engine, module, name));
    if (node === undefined) continue;
    for (const { top } of program.modules.values()) {
      for (const thing of top.variables.flatMap((each) => [...engine.of(each)])) {
        if (thing.kind === "library" && thing.node !== null && knowledge.isExpress(thing.library))
          changed.set(keyOfThing(thing), { node, body, givenAway: true });
      }
    }
    return;
  }
}

function isApp({ options }: Engine, module: SourceModule, name: Node & { type: "Identifier" }): boolean {
  const { parent } = name;
  if (parent?.type !== "MemberExpression" || parent.object !== name) return false;
  if (keyOf(parent, parent.property) !== "app") return false;
  const variable = module.variable(name);
  return variable ? /^re(quest|sponse)$/.test(options.roles.get(variable) ?? "") : false;
}

/** A class that is given methods from outside is not what its declaration says, even if nothing runs by then. */
function prototypesIn(
  changes: ReadonlyMap<Node, ReadonlySet<Thing>>,
  body: Body,
  changed: Map<unknown, LateChange>,
): void {
  for (const [node, things] of changes) {
    for (const thing of things) {
      if (thing.kind !== "data" || thing.owner !== "loaded" || thing.node === null) continue;
      const isPrototype = /^Class|Function/.test(thing.node.type);
      if (isPrototype && !changed.has(thing.node)) changed.set(thing.node, { node, body });
    }
  }
}
