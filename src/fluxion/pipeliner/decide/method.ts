import { type Body, chainOf, evaluate, type Thing } from "../../points-to/index.js";
import {
  type CallExpression,
  enclosingFunction,
  type FunctionNode,
  keyOf,
  type Node,
  plain,
  type SourceModule,
  walk,
} from "../../source/index.js";
import { escapedIn, type WholeProgram } from "../whole/index.js";

/** A function that a stage calls by itself, and the file that it stands in. */
export interface StageTarget {
  readonly node: FunctionNode;
  readonly module: SourceModule;
}

const KNOWN = new WeakMap<CallExpression, StageTarget | null>();

/**
 * The function that a method call surely calls, if it needs nothing of the object: `this.service.render(text)` in a controller. A worker can
 * call it without the object, which may be one of many, and may have whatever it likes.
 */
export function targetOf(whole: WholeProgram, within: Body, call: CallExpression): StageTarget | null {
  const known = KNOWN.get(call);
  if (known !== undefined) return known;
  const found = soleTarget(whole, within, call);
  KNOWN.set(call, found);
  return found;
}

function soleTarget(whole: WholeProgram, within: Body, call: CallExpression): StageTarget | null {
  const { engine } = whole;
  const callee = plain(call.callee);
  if (callee.type !== "MemberExpression" || call.arguments.some(({ type }) => type === "SpreadElement"))
    return null;
  const thingsAt = (node: Node) => [...engine.at(within, () => evaluate(engine, node))];
  const [target, ...others] = thingsAt(callee);
  if (target?.kind !== "function" || others.length > 0 || !isFree(target.node)) return null;
  for (let at: Node = callee; at.type === "MemberExpression"; at = plain(at.object)) {
    const key = keyOf(at, at.property);
    if (key === null || at.computed || at.optional || at.property.type === "PrivateIdentifier") return null;
    const objects = thingsAt(at.object);
    if (objects.length === 0 || !objects.every((each) => isSteady(whole, each, key))) return null;
  }
  return { node: target.node, module: engine.moduleOf(target.node) };
}

/** An instance of a class of the program that only the program itself has, so that its fields are what is known of them. */
function isSteady(whole: WholeProgram, thing: Thing, key: string): boolean {
  const { engine, changed } = whole;
  if (thing.kind !== "site" || thing.madeBy === null || escapedIn(whole).has(thing)) return false;
  return [...chainOf(engine, thing.madeBy)].every(
    ({ node }) =>
      (node.superClass === null || chainOf(engine, engine.class(node)).size > 1) &&
      !changed.has(node) &&
      !escapedIn(whole).has(engine.class(node)) &&
      node.body.body.every((member) => !isAccessor(member, key)),
  );
}

/** What is read twice must do nothing. */
function isAccessor(member: Node, key: string): boolean {
  if (member.type === "AccessorProperty") return true;
  return member.type === "MethodDefinition" && member.kind === "get" && keyOf(member, member.key) === key;
}

/** It says nothing that only the place where it stands gives a meaning: no `this`, no variables of functions around it. */
function isFree(node: FunctionNode): boolean {
  if (node.generator || node.body === null || enclosingFunction(node) !== null) return false;
  let found = true;
  walk(node, (each) => {
    if (/^(?:ThisExpression|Super|MetaProperty|PrivateIdentifier|WithStatement)$/.test(each.type))
      found = false;
    if (each.type === "Identifier" && /^(?:arguments|eval)$/.test(each.name)) found = false;
    return found;
  });
  return found;
}

/** The text around that of a function, so that it is an expression wherever it stands. */
export function asExpression({ parent, async, id }: FunctionNode): string {
  const isMethod = parent?.type === "MethodDefinition" || (parent?.type === "Property" && parent.method);
  if (!isMethod || id) return "";
  const key = keyOf(parent, parent.key);
  const name =
    key !== null && /^[A-Za-z_$][\w$]*$/.test(key) && parent.key.type === "Identifier" ? ` ${key}` : "";
  return `${async ? "async " : ""}function${name}`;
}
