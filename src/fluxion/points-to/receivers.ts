import {
  CONSOLE_CALLS,
  REQUEST_BOUND,
  REQUEST_CONTAINERS,
  REQUEST_QUESTIONS,
  RESPONSE_CHAINING,
  RESPONSE_CHANGING,
  RESPONSE_ENDING,
  RESPONSE_QUESTIONS,
  RESPONSE_READS,
  RESPONSE_WRITES,
} from "../callees/index.js";
import { around, enclosingFunction, isFunction, keyOf, type Node } from "../source/index.js";
import type { Engine } from "./engine.js";
import { alone, NONE, type ReceiverThing, type Thing, thingsOf, type ValueSet } from "./things.js";

/** What may be asked of, and done to, things that stay on the main loop: requests, responses, `next`, the console. */
export function readReceiver(engine: Engine, thing: ReceiverThing, key: string | null, node: Node): Thing {
  if (thing.receiver === "request" && key !== null && !REQUEST_BOUND.has(key) && !key.startsWith("@@")) {
    record(engine, thing, node, pathFrom(node, key), false);
    return engine.data("input", node);
  }
  if (thing.receiver === "response" && key !== null && RESPONSE_READS.has(key)) {
    record(engine, thing, node, [key], false);
    return engine.data("input", node);
  }
  refuse(engine, node, `it reads ${nameOf(thing)}.${key ?? "[…]"}, which only the main loop has`);
  return engine.data("input", node);
}

export function writeReceiver(
  engine: Engine,
  thing: ReceiverThing,
  key: string | null,
  node: Node,
  value: ValueSet,
): void {
  engine.escape(value, node);
  engine.keep(`${thing.receiver}.${key ?? "*"}`, value);
  const fits =
    key !== null &&
    !key.startsWith("@@") &&
    ((thing.receiver === "request" && !REQUEST_BOUND.has(key) && !REQUEST_CONTAINERS_READONLY.has(key)) ||
      (thing.receiver === "response" && RESPONSE_WRITES.has(key)));
  if (!fits) {
    refuse(engine, node, `it writes ${nameOf(thing)}.${key ?? "[…]"}, which cannot be done again later`);
    return;
  }
  effect(engine, thing, node, `${key} =`);
  copyable(engine, value, node, `${nameOf(thing)}.${key}`);
  for (const each of engine.reachable(value)) {
    if (each.kind === "data" && each.owner === "input") {
      engine.fact(
        "HW-7005",
        node,
        `it keeps in ${nameOf(thing)}.${key} something that it was given, and a copy would not be the same object`,
        "keep a new object there",
      );
    }
  }
}

const REQUEST_CONTAINERS_READONLY = new Set(["query", "headers"]);

export function callReceiver(
  engine: Engine,
  thing: ReceiverThing,
  method: string | null,
  args: readonly ValueSet[],
  node: Node & { type: "CallExpression" },
): ValueSet {
  const name = `${nameOf(thing)}${method === null ? "" : `.${method}`}()`;
  if (isQuestion(thing, method)) return ask(engine, thing, method ?? "", node);
  const allowed =
    (thing.receiver === "console" && method !== null && CONSOLE_CALLS.has(method)) ||
    (thing.receiver === "next" && method === null) ||
    (thing.receiver === "response" &&
      method !== null &&
      (RESPONSE_CHAINING.has(method) || RESPONSE_ENDING.has(method)));
  if (!allowed) {
    refuse(engine, node, `it calls ${name}, which only the main loop can do`);
    for (const value of args) engine.escape(value, node);
    for (const value of args)
      for (const each of value) if (each.kind !== "function") engine.changed(each, node);
    return alone(engine.data("unknown"));
  }
  effect(engine, thing, node, method ?? "");
  for (const value of args) copyable(engine, value, node, name);
  if (thing.receiver === "next") for (const value of args) passOn(engine, value, node, `gives ${name}`);
  if (method !== null && RESPONSE_CHANGING.has(method)) {
    for (const value of args) for (const each of thingsOf(value)) engine.changed(each, node);
  }
  const chains = thing.receiver === "response" && method !== null && RESPONSE_CHAINING.has(method);
  if (!chains && isUsed(node)) refuse(engine, node, `it uses what ${name} gives back`);
  return chains ? alone(thing) : NONE;
}

/** An error handler, or who catches something, takes what it is given for the same object. */
export function passOn(engine: Engine, value: ValueSet, node: Node, does: string): void {
  engine.escape(value, node);
  for (const each of engine.reachable(value)) {
    if (each.kind !== "data" || each.owner !== "input") continue;
    engine.fact(
      "HW-7005",
      node,
      `it ${does} something that it was given, and a copy would not be the same object`,
      "make a new error",
    );
  }
}

function isQuestion({ receiver }: ReceiverThing, method: string | null): boolean {
  if (method === null) return false;
  return (
    (receiver === "request" && REQUEST_QUESTIONS.has(method)) ||
    (receiver === "response" && RESPONSE_QUESTIONS.has(method))
  );
}

function ask(
  engine: Engine,
  thing: ReceiverThing,
  method: string,
  node: Node & { type: "CallExpression" },
): ValueSet {
  const texts = node.arguments.map((each) =>
    each.type === "Literal" && typeof each.value === "string" ? each.value : null,
  );
  if (texts.includes(null)) {
    refuse(engine, node, `what it asks ${nameOf(thing)}.${method}() is only known when it runs`);
  } else {
    record(engine, thing, node, [method, ...(texts as string[])], true);
  }
  return alone(engine.data("input", node));
}

function record(
  engine: Engine,
  receiver: ReceiverThing,
  node: Node,
  path: readonly string[],
  question: boolean,
) {
  const { reads } = engine.current;
  if (!reads.some((each) => each.node === node && each.receiver === receiver)) {
    reads.push({ receiver, node, path, question });
  }
}

/** `req.query.text`: one level below what is a container, if the text names it. */
function pathFrom(node: Node, key: string): string[] {
  if (!REQUEST_CONTAINERS.has(key) || node.type !== "MemberExpression") return [key];
  const outer = around(node);
  if (outer?.type !== "MemberExpression" || outer.object !== node) return [key];
  const inner = keyOf(outer, outer.property);
  const further = around(outer);
  const isCalled = further?.type === "CallExpression" && further.callee === outer;
  const isWritten =
    (further?.type === "AssignmentExpression" && further.left === outer) ||
    further?.type === "UpdateExpression";
  return inner === null || isCalled || isWritten ? [key] : [key, inner];
}

function effect(engine: Engine, receiver: ReceiverThing, node: Node, method: string): void {
  const { effects } = engine.current;
  if (!effects.some((each) => each.node === node)) effects.push({ receiver, node, method });
}

/** What goes back in a message must be data. */
export function copyable(engine: Engine, value: ValueSet, node: Node, where: string): void {
  if (value.size === 0) return;
  for (const thing of engine.reachable(value)) {
    const what =
      thing.kind === "function" || thing.kind === "resolver"
        ? "a function"
        : thing.kind === "class"
          ? "a class"
          : thing.kind === "receiver"
            ? nameOf(thing)
            : thing.kind === "library" || thing.kind === "namespace"
              ? "an object of a library"
              : thing.kind === "site" && thing.madeBy !== null
                ? "an instance of a class"
                : null;
    if (what === null) continue;
    engine.fact(
      "HW-7006",
      node,
      `it gives ${what} to ${where}, and that cannot be sent`,
      "give it plain data",
    );
  }
}

function isUsed(node: Node): boolean {
  const outer = around(node);
  switch (outer?.type) {
    case "ExpressionStatement":
      return false;
    case "ReturnStatement":
      return false;
    case "ArrowFunctionExpression":
      return outer.body !== node && !isFunction(outer);
    case "LogicalExpression":
    case "ConditionalExpression":
    case "SequenceExpression":
    case "AwaitExpression":
      return isUsed(outer);
    case "UnaryExpression":
      return outer.operator !== "void";
    default:
      return enclosingFunction(node) !== null;
  }
}

export function nameOf(thing: ReceiverThing): string {
  return thing.variable?.name ?? thing.receiver;
}

function refuse(engine: Engine, node: Node, reason: string): void {
  engine.fact("HW-7008", node, reason, "do it in a part of its own, after the heavy work");
}
