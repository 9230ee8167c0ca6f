import { alone, type Body, NONE, reachable, type Thing } from "../../points-to/index.js";
import type { FunctionNode, Variable } from "../../source/index.js";
import { keyOfThing, reached, type WholeProgram } from "../whole/index.js";
import { stateIn } from "./state.js";

/** Does a function use a response or `next`, or write to a request? */
export function acts(whole: WholeProgram, node: FunctionNode): boolean {
  if (answers(whole, node)) return true;
  return bodiesOf(whole, node).some((body) => {
    const module = whole.engine.moduleOf(body);
    return module.inside(body).names.some((name) => {
      const variable = module.variable(name);
      if (!variable) return false;
      const role = whole.roles.get(variable);
      if (role !== undefined) return role === "response" || role === "next";
      return [...whole.engine.of(variable)].some(
        (thing) => thing.kind === "receiver" && (thing.receiver === "response" || thing.receiver === "next"),
      );
    });
  });
}

export function answers(whole: WholeProgram, node: FunctionNode): boolean {
  return bodiesOf(whole, node).some((body) =>
    whole.engine.bodies.get(body)?.effects.some(({ receiver }) => receiver.receiver !== "console"),
  );
}

/** A function, what it calls, and the functions inside of it. */
export function bodiesOf(whole: WholeProgram, node: FunctionNode): Body[] {
  const called = reached(whole.engine, node).map(({ body }) => body);
  return [...called, ...called.flatMap((body) => insideOf(whole, body))];
}

function insideOf(whole: WholeProgram, body: Body): Body[] {
  const { functions } = whole.engine.moduleOf(body).inside(body);
  return functions.flatMap((each) => [each, ...insideOf(whole, each)]);
}

/**
 * Does a function do or use anything that others can see, or could change? Lines on the console have an order, also with those
 * that Express and Node write when something fails.
 */
export function isSeen(whole: WholeProgram, node: FunctionNode): boolean {
  return bodiesOf(whole, node).some((body) => {
    const facts = whole.engine.bodies.get(body);
    if (facts === undefined) return false;
    return facts.effects.length > 0 || facts.unknown.size > 0 || stateIn(whole, body, () => true).length > 0;
  });
}

/** Does a function change something that other code uses while the program runs? */
export function isCounting(whole: WholeProgram, node: FunctionNode): boolean {
  const own = new Set(bodiesOf(whole, node));
  const changed = new Set<unknown>();
  for (const body of own) {
    const { changes } = whole.engine.bodies.get(body) ?? {};
    const writes = new Set([...(changes?.values() ?? [])].flatMap((things) => [...things].map(keyOfThing)));
    for (const { of, again, node: at, module } of stateIn(whole, body, () => true)) {
      const isWritten = again && at.type === "Identifier" && module.reference(at)?.isWrite() === true;
      const isChanged = !again && [...reachedBy(whole, of)].some((key) => writes.has(key));
      if (isWritten || isChanged) changed.add(of);
    }
  }
  if (changed.size === 0) return false;
  for (const { body } of whole.engine.bodies.values()) {
    if (body.type === "Program" || own.has(body)) continue;
    if (stateIn(whole, body, () => true).some(({ of }) => changed.has(of))) return true;
  }
  return false;
}

/** What can be reached from something that is used, as it is known in changes. */
function reachedBy(whole: WholeProgram, of: unknown): Set<unknown> {
  const { engine } = whole;
  const isThing = typeof of === "object" && of !== null && "kind" in of;
  const value = isThing ? alone(of as Thing) : isVariable(of) ? engine.of(of) : NONE;
  return new Set([...reachable(value)].map(keyOfThing));
}

function isVariable(of: unknown): of is Variable {
  return typeof of === "object" && of !== null && "references" in of;
}
