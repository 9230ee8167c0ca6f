import { REQUEST_CONTAINERS, REQUEST_VALUES, RESPONSE_READS } from "../../callees/index.js";
import {
  type Body,
  binderOf,
  boundTo,
  classesAbove,
  isOfFile,
  isReassigned,
  nameOf,
  reachable,
  type Thing,
  type ValueSet,
} from "../../points-to/index.js";
import {
  around,
  isFunction,
  isInside,
  keyOf,
  type Node,
  type SourceModule,
  type Variable,
} from "../../source/index.js";
import { exportsOf, heldBy, keyOfThing, reached, type WholeProgram } from "../whole/index.js";
import { escapedThings } from "./escaped.js";

/** A use of something that others may change while a part waits. */
export interface Touch {
  readonly node: Node;
  readonly module: SourceModule;
  /** What is used: a variable, or an object by the place where it is made. */
  readonly of: unknown;
  readonly name: string;
  /** Others surely change it, as against: nothing is known of it. */
  readonly known: boolean;
  /** It is the variable that is written again, as against an object that is changed. */
  readonly again: boolean;
}

/**
 * What a piece of a body uses, itself and through what it calls, that is neither made by this request alone nor left as it
 * is once the files are loaded. Objects are followed by what may be where, whatever names they go by.
 */
export function stateIn(whole: WholeProgram, body: Body, isMeant: (node: Node) => boolean): Touch[] {
  const facts = whole.engine.bodies.get(body);
  if (facts === undefined) return [];
  const called = [...facts.calls].filter(([node]) => isMeant(node)).flatMap(([, targets]) => [...targets]);
  const others = new Set(called.flatMap((target) => reached(whole.engine, target)));
  return [
    ...touchesIn(whole, body).filter(({ node }) => isMeant(node)),
    ...[...others].flatMap((each) => (each.body === body ? [] : touchesIn(whole, each.body))),
  ];
}

const TOUCHES = new WeakMap<WholeProgram, Map<Body, readonly Touch[]>>();

function touchesIn(whole: WholeProgram, body: Body): readonly Touch[] {
  const all = TOUCHES.get(whole) ?? new Map<Body, readonly Touch[]>();
  TOUCHES.set(whole, all);
  const known = all.get(body);
  if (known !== undefined) return known;
  const module = whole.engine.moduleOf(body);
  const { names, selves } = module.inside(body);
  const { uses } = whole.engine.bodies.get(body) ?? {};
  // The text that gives an instance its fields does not stand in a function.
  const ofFields = body.type === "Program" || body.body !== null ? [] : [...(uses?.keys() ?? [])];
  const found = [
    ...[...names, ...ofFields].flatMap((node) =>
      node.type === "Identifier" ? touchedBy(whole, module, body, node) : [],
    ),
    ...fieldsRead(whole, module, body),
    ...selves.flatMap((node) => selfUsed(whole, module, node)),
  ];
  all.set(body, found);
  return found;
}

function touchedBy(
  whole: WholeProgram,
  module: SourceModule,
  body: Body,
  node: Node & { type: "Identifier" },
): Touch[] {
  const variable = module.variable(node);
  const reference = module.reference(node);
  if (variable === null && reference?.isRead() === true) return globalUsed(whole, module, node);
  if (!variable || variable.defs.length === 0 || whole.roles.has(variable)) return [];
  if (reference === undefined || reference.init === true) return [];
  const of = exportedAs(whole, module, variable);
  const declared = of.scope.variableScope.block as unknown as Node;
  const isOwn =
    isFunction(declared) && whole.engine.moduleOf(declared) === module && isInside(declared, body);
  if (!isOwn && isReassigned(of)) return [{ node, module, of, name: node.name, known: true, again: true }];
  return heldIn(whole, variable).map(({ thing, known }) => {
    if (known || !isOfFile(of)) return { node, module, of: thing, name: node.name, known, again: false };
    return { node, module, of, name: node.name, known: true, again: false };
  });
}

function globalUsed(whole: WholeProgram, module: SourceModule, node: Node & { type: "Identifier" }): Touch[] {
  const outer = around(node);
  const key = outer?.type === "MemberExpression" ? keyOf(outer, outer.property) : null;
  const name = key === null ? node.name : `${node.name}.${key}`;
  const written = globalsWritten(whole);
  if (!written.has(name) && !written.has(node.name)) return [];
  return [{ node, module, of: name, name, known: true, again: true }];
}

const GLOBALS = new WeakMap<WholeProgram, ReadonlySet<string>>();

/** `process.exitCode`, or `process` if the text does not tell what of it is written. */
function globalsWritten(whole: WholeProgram): ReadonlySet<string> {
  const known = GLOBALS.get(whole);
  if (known !== undefined) return known;
  const found = new Set<string>();
  for (const { body, changes } of whole.engine.bodies.values()) {
    if (body.type === "Program") continue;
    for (const [node, things] of changes) {
      const key = node.type === "MemberExpression" ? keyOf(node, node.property) : null;
      for (const thing of things) {
        if (thing.kind === "builtin") found.add(key === null ? thing.path : `${thing.path}.${key}`);
      }
    }
  }
  GLOBALS.set(whole, found);
  return found;
}

/** `import { count } from "./state.js"` is the variable of that file, and changes with it. */
function exportedAs(whole: WholeProgram, module: SourceModule, variable: Variable): Variable {
  const node = variable.defs[0]?.node as unknown as Node | undefined;
  if (node?.type !== "ImportSpecifier" && node?.type !== "ImportDefaultSpecifier") return variable;
  const source = node.parent?.type === "ImportDeclaration" ? node.parent.source.value : "";
  const target = whole.program.modules.get(module.imports.get(source) ?? "");
  if (target === undefined) return variable;
  const name = node.type === "ImportSpecifier" ? nameOf(node.imported) : "default";
  const exported = exportsOf(target).get(name);
  return (exported?.type === "Identifier" && target.variable(exported)) || variable;
}

/** What is read of requests and responses, where a middleware may have put what everybody shares. */
function fieldsRead(whole: WholeProgram, module: SourceModule, body: Body): Touch[] {
  const { reads = [] } = whole.engine.bodies.get(body) ?? {};
  return reads.flatMap(({ receiver, node, path, question }) => {
    if (question) return [];
    const name = `${receiver.variable?.name ?? receiver.receiver}.${path.join(".")}`;
    const read: Thing = whole.engine.data("input", node);
    const value = whole.engine.readIn(receiver.receiver, path[0] ?? "*", read);
    return objectsIn(whole, module, node, name, new Set([read, ...value, ...whole.engine.keptInside(read)]));
  });
}

function selfUsed(whole: WholeProgram, module: SourceModule, node: Node): Touch[] {
  const { binder } = binderOf(node, null);
  const value = whole.engine.at(module.syntax, () => boundTo(whole.engine, binder));
  const of = binder.kind === "file" ? module : binder.node;
  if (value.size === 0) return [{ node, module, of, name: "this", known: false, again: false }];
  return objectsIn(whole, module, node, "this", value);
}

function objectsIn(
  whole: WholeProgram,
  module: SourceModule,
  node: Node,
  name: string,
  value: ValueSet,
): Touch[] {
  if (value.size === 0) return [];
  return unsteady(whole, reachable(value)).map(({ thing, known }) => {
    return { node, module, of: thing, name, known, again: false };
  });
}

/** A thing that may be another at any time: surely, or as nothing is known of it. */
interface Unsteady {
  readonly thing: Thing;
  readonly known: boolean;
}

function unsteady(whole: WholeProgram, things: ValueSet): Unsteady[] {
  const found: Unsteady[] = [];
  for (const thing of things) {
    const known = isChanged(whole, thing);
    if (known || !isKnown(whole, thing)) found.push({ thing, known });
  }
  return found;
}

const HELD = new WeakMap<WholeProgram, Map<Variable, readonly Unsteady[]>>();

function heldIn(whole: WholeProgram, variable: Variable): readonly Unsteady[] {
  const all = HELD.get(whole) ?? new Map<Variable, readonly Unsteady[]>();
  HELD.set(whole, all);
  const found = all.get(variable) ?? unsteady(whole, heldBy(whole, variable));
  all.set(variable, found);
  return found;
}

/** Is a thing changed by others, or through what others can get hold of? */
function isChanged(whole: WholeProgram, thing: Thing): boolean {
  switch (thing.kind) {
    case "site":
    case "library":
    case "data":
      return isMentioned(whole, thing) && (isLoaded(thing) || escapedThings(whole).has(thing));
    case "function":
    case "class":
    case "builtin":
      return isMentioned(whole, thing);
    case "namespace":
      return (
        isMentioned(whole, thing) ||
        [...exportsOf(thing.module).values()].some((each) => {
          const variable = each.type === "Identifier" ? thing.module.variable(each) : null;
          return variable ? isReassigned(variable) : false;
        })
      );
    default:
      return false;
  }
}

function isLoaded(thing: Thing): boolean {
  if (thing.kind === "data") return thing.owner === "loaded";
  return (thing.kind === "library" || thing.kind === "site") && thing.shared;
}

/** Changes of an instance may have been noted for its class, or the classes above. */
function isMentioned(whole: WholeProgram, thing: Thing): boolean {
  const key = keyOfThing(thing);
  if (key !== null && whole.changed.has(key)) return true;
  if (thing.kind !== "site" || thing.madeBy === null) return false;
  const classes = [thing.madeBy, ...classesAbove(whole.engine, thing.madeBy)];
  return classes.some((each) => each.kind === "class" && whole.changed.has(each.node));
}

/** Is it known of a thing who has it? */
function isKnown(whole: WholeProgram, thing: Thing): boolean {
  if (thing.kind === "library") return whole.knowledge.knows(thing.library);
  if (thing.kind !== "data") return true;
  if (thing.owner === "unknown") return isHandedOver(whole, thing.node);
  if (thing.owner !== "input") return true;
  if (thing.node?.type === "CallExpression") return true; // a question, answered with a text
  const field = whole.engine.fieldOf(thing) ?? "";
  const [receiver, key = ""] = field.split(".");
  if (receiver === "request") {
    return REQUEST_CONTAINERS.has(key) || REQUEST_VALUES.has(key) || whole.engine.keeps(field);
  }
  return receiver === "response" && (RESPONSE_READS.has(key) || whole.engine.keeps(field));
}

/** A continuation of a known call is given what was made for it. */
function isHandedOver(whole: WholeProgram, node: Node | null): boolean {
  const ruptures = isFunction(node) ? (whole.listeners.get(node)?.ruptures ?? []) : [];
  return ruptures.length > 0 && ruptures.every(({ door, kind }) => door === "callback" && kind === "post");
}
