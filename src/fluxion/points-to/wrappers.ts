import {
  type FunctionNode,
  isFunction,
  keyOf,
  type Node,
  plain,
  type SourceModule,
} from "../source/index.js";
import type { Engine } from "./engine.js";
import { NONE, type Thing, type ValueSet } from "./things.js";
import { isReassigned } from "./variables.js";

/**
 * `const wrap = (handler) => (req, res, next) => Promise.resolve(handler(req, res, next)).catch(next)`: what programs write for
 * themselves so that a rejection goes to `next`. What it gives calls the handler with what it is given, and does nothing else.
 */
export function wrappedHandler(
  engine: Engine,
  wrapper: FunctionNode,
  [handler = NONE]: readonly ValueSet[],
): ValueSet | null {
  return [...handler].every(mayBeWrapped) && isWrapper(engine.moduleOf(wrapper), wrapper) ? handler : null;
}

/**
 * Only an asynchronous handler: what one throws at once would take another way when it runs elsewhere. With four parameters it would
 * look like a handler of errors.
 */
export function mayBeWrapped(thing: Thing): boolean {
  return (
    thing.kind === "function" && thing.node.async && !thing.node.generator && thing.node.params.length < 4
  );
}

const WRAPPERS = new WeakMap<FunctionNode, boolean>();

function isWrapper(module: SourceModule, node: FunctionNode): boolean {
  const known = WRAPPERS.get(node);
  if (known !== undefined) return known;
  const given = onlyReturned(node);
  const [handler] = namesOf(module, node) ?? [];
  const found = handler !== undefined && isFunction(given) && passesOn(module, given, handler);
  WRAPPERS.set(node, found);
  return found;
}

/** What a function gives back, if it does nothing else. */
function onlyReturned(node: FunctionNode): Node | null {
  if (node.async || node.generator || node.params.length !== 1 || node.body === null) return null;
  if (node.body.type !== "BlockStatement") return plain(node.body);
  const [statement, ...others] = node.body.body;
  if (statement?.type !== "ReturnStatement" || statement.argument === null || others.length > 0) return null;
  return plain(statement.argument);
}

/** The names of parameters that are only that and stay what they are. */
function namesOf(module: SourceModule, { params }: FunctionNode): readonly string[] | null {
  const names: string[] = [];
  for (const each of params) {
    const variable = each.type === "Identifier" ? module.variable(each) : null;
    if (!variable || variable.defs.length > 1 || isReassigned(variable)) return null;
    names.push(variable.name);
  }
  return new Set(names).size === names.length ? names : null;
}

function passesOn(module: SourceModule, node: FunctionNode, handler: string): boolean {
  const names = namesOf(module, node);
  if (node.generator || node.body === null || names?.length !== 3 || names.includes(handler)) return false;
  const [, , next = ""] = names;
  const only = onlyIn(node.body);
  if (only === null) return false;
  if (only.type !== "TryStatement") return catches(module, doneBy(only), handler, names);
  const { block, handler: clause, finalizer } = only;
  const tried = onlyIn(block);
  const awaited = tried === null ? null : doneBy(tried);
  return (
    node.async &&
    finalizer === null &&
    awaited?.type === "AwaitExpression" &&
    isCallOf(awaited.argument, handler, names) &&
    clause?.param?.type === "Identifier" &&
    clause.param.name !== next &&
    givesTo(onlyIn(clause.body), next, clause.param.name)
  );
}

/** The one thing that a body does. */
function onlyIn(body: Node): Node | null {
  if (body.type !== "BlockStatement") return body;
  return body.body.length === 1 ? (body.body[0] ?? null) : null;
}

function doneBy(node: Node): Node | null {
  if (node.type === "ExpressionStatement") return plain(node.expression);
  if (node.type === "ReturnStatement") return node.argument === null ? null : plain(node.argument);
  return plain(node);
}

/** `handler(req, res, next).catch(next)`, also of `Promise.resolve(handler(req, res, next))` */
function catches(
  module: SourceModule,
  node: Node | null,
  handler: string,
  names: readonly string[],
): boolean {
  const caught = methodCall(node, "catch");
  if (caught === null || caught.args.length !== 1) return false;
  const resolved = methodCall(caught.object, "resolve");
  const isPromise =
    resolved?.object.type === "Identifier" &&
    resolved.object.name === "Promise" &&
    module.variable(resolved.object) === null;
  const promised = isPromise && resolved.args.length === 1 ? resolved.args[0] : caught.object;
  return isCallOf(promised, handler, names) && leadsTo(caught.args[0], names[2] ?? "");
}

function methodCall(
  node: Node | null,
  name: string,
): { readonly object: Node; readonly args: readonly Node[] } | null {
  if (node?.type !== "CallExpression") return null;
  const callee = plain(node.callee);
  if (callee.type !== "MemberExpression" || keyOf(callee, callee.property) !== name) return null;
  return { object: plain(callee.object), args: node.arguments };
}

function isCallOf(node: Node | undefined, name: string, args: readonly string[]): boolean {
  const call = node === undefined ? null : plain(node);
  return (
    call?.type === "CallExpression" &&
    isNamed(call.callee, name) &&
    call.arguments.length === args.length &&
    call.arguments.every((each, i) => isNamed(each, args[i] ?? ""))
  );
}

function isNamed(node: Node, name: string): boolean {
  const inner = plain(node);
  return inner.type === "Identifier" && inner.name === name;
}

/** `next`, or `(error) => next(error)` */
function leadsTo(node: Node | undefined, next: string): boolean {
  if (node === undefined) return false;
  if (isNamed(node, next)) return true;
  if (node.type !== "ArrowFunctionExpression" || node.async || node.body === null) return false;
  const [error, ...others] = node.params;
  if (error?.type !== "Identifier" || others.length > 0 || error.name === next) return false;
  return givesTo(onlyIn(node.body), next, error.name);
}

function givesTo(node: Node | null, next: string, error: string): boolean {
  return node !== null && isCallOf(doneBy(node) ?? undefined, next, [error]);
}
