import { type Body, type Hazard, isOfFile, reachable, type Thing } from "../../points-to/index.js";
import { type CallExpression, isFunction, isInside, type Node, type Variable } from "../../source/index.js";
import {
  type Container,
  changeOf,
  escapedIn,
  heldBy,
  keyOfThing,
  reached,
  type WholeProgram,
} from "../whole/index.js";
import { touchingOthers } from "./passing.js";
import { stateIn, type Touch } from "./state.js";

/**
 * A handler that uses state only after a heavy call: `const html = render(text); cache[id] = html; res.send(html)`. If others run during
 * the call, that is as if the request had come later: all that it sees and does of what others see is one step, as before. So it
 * must be all: nothing before the call, in the handler or in a middleware, may use state or begin what uses some.
 */
export function isOneStep(
  whole: WholeProgram,
  { node, listener }: Container,
  call: CallExpression,
  follows: (node: Node) => boolean,
): boolean {
  const isRequest = listener?.only === true && listener.ruptures.every(({ door }) => door === "express");
  if (!isRequest || isRepeated(call, node)) return false;
  if (stateIn(whole, node, (each) => !follows(each)).length > 0) return false;
  if (begins(whole, node)) return false;
  if (touchingOthers(whole, node)) return false;
  return stateIn(whole, node, follows).every((touch) => isOwn(whole, touch));
}

/** What a fact says of state that only the program's own files have, which is as it was when all of it is one step. */
export function isOfOwnState({ code, reason }: Hazard): boolean {
  return code === "HW-7002" && /\bevery request\b/.test(reason) && /^it (?:changes|writes) /.test(reason);
}

const LOOPS = /^(?:For|While|DoWhile)/;

function isRepeated(call: Node, within: Body): boolean {
  for (let outer = call.parent; outer && outer !== within; outer = outer.parent)
    if (LOOPS.test(outer.type) || isFunction(outer)) return true;
  return false;
}

/** Whether it, or what it calls, begins something that goes on later. */
function begins(whole: WholeProgram, node: Body): boolean {
  const bodies = reached(whole.engine, node).map(({ body }) => body);
  return whole.ruptures.some(
    ({ node: at, within }) =>
      bodies.includes(within) ||
      (isInside(at, node) && whole.engine.moduleOf(at) === whole.engine.moduleOf(node)),
  );
}

/** Nobody but code that is looked at has it. */
function isOwn(whole: WholeProgram, { of, known }: Touch): boolean {
  if (!known || of === null || typeof of !== "object") return false;
  if ("references" in of) {
    const variable = of as Variable;
    return (
      isOfFile(variable) &&
      changeOf(whole, variable)?.givenAway !== true &&
      isHeld(whole, heldBy(whole, variable))
    );
  }
  return "kind" in of && isHeld(whole, reachable(new Set([of as Thing])));
}

function isHeld(whole: WholeProgram, things: Iterable<Thing>): boolean {
  for (const thing of things) {
    if (thing.kind === "library" || thing.kind === "builtin" || thing.kind === "receiver") return false;
    if (thing.kind === "data" && thing.owner === "unknown") return false;
    if (escapedIn(whole).has(thing) || whole.changed.get(keyOfThing(thing))?.givenAway === true) return false;
  }
  return true;
}
