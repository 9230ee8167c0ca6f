import {
  type Body,
  type BodyFacts,
  type Engine,
  evaluate,
  type Hazard,
  type Thing,
} from "../../points-to/index.js";
import { isFunction, type Node, plain } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";
import { calledTwice } from "./twice.js";

/** What a middleware does that handlers must have answered for. */
interface Looking {
  readonly node: Node;
  readonly reason: string;
  readonly advice: string;
}

const LOOKING = new WeakMap<WholeProgram, Looking | null>();

/** Handlers that Express calls must have answered when they return, if a middleware looks. */
export function lookedAfter(whole: WholeProgram): Hazard[] {
  const known = LOOKING.get(whole);
  const looking = known === undefined ? (lookingAfter(whole.engine) ?? givenToUnknown(whole)) : known;
  LOOKING.set(whole, looking);
  return looking === null
    ? []
    : [{ code: "HW-7010", module: whole.engine.moduleOf(looking.node), ...looking }];
}

function lookingAfter(engine: Engine): Looking | null {
  const passing = passingOn(engine);
  const after = afterNext(engine, passing);
  if (after !== null) {
    return {
      node: after,
      reason:
        "a middleware does something after next(), when this has answered on one loop but not elsewhere",
      advice: "let `next()` be the last thing that a middleware does",
    };
  }
  const again = calledTwice(engine, passing);
  if (again === null) return null;
  return {
    node: again,
    reason:
      "a middleware gives its `next` away twice, and may go on again before this has answered elsewhere",
    advice: "let one function call `next()`, once",
  };
}

/** `require("./routes/" + file)(app)`: middleware that is not looked at, and may do anything after `next()`. */
function givenToUnknown({ engine, knowledge }: WholeProgram): Looking | null {
  const isApp = (thing: Thing) =>
    thing.kind === "library" && thing.node !== null && knowledge.isExpress(thing.library);
  for (const { body, module } of engine.bodies.values()) {
    const node = module.inside(body).acts.find((act) => {
      if (act.type !== "CallExpression" || act.arguments.length === 0) return false;
      const { callee, arguments: args } = act;
      const valuesOf = (each: Node) => [...engine.at(body, () => evaluate(engine, each))];
      if (!args.some((each) => each.type === "Identifier" && valuesOf(each).some(isApp))) return false;
      const called = valuesOf(callee);
      return called.every(({ kind }) => kind === "data");
    });
    if (node === undefined) continue;
    return {
      node,
      reason:
        "code that is only known when the program runs is given the app, and may do something after next()",
      advice: "load the files of routes by names that are written there",
    };
  }
  return null;
}

/**
 * `next()` runs the handlers behind it at once, so what a middleware does after it happens when they have answered, if
 * they are synchronous. Such a program would notice if they answered later. Gives the first place that does.
 */
function afterNext(engine: Engine, passing: ReadonlySet<Body>): Node | null {
  for (const facts of engine.bodies.values()) {
    const { body, calls, effects } = facts;
    if (!passing.has(body)) continue;
    const places = [
      ...givenAway(engine, facts, passing),
      ...effects.filter(({ receiver }) => receiver.receiver === "next").map(({ node }) => node),
      ...[...calls]
        .filter(([, targets]) => [...targets].some((each) => passing.has(each)))
        .map(([node]) => node),
    ];
    const found = places.map(behind).find((each) => each !== null);
    if (found) return found;
  }
  return null;
}

/** Functions that call `next`, themselves or through others. */
export function passingOn(engine: Engine): Set<Body> {
  const found = new Set<Body>();
  for (const facts of engine.bodies.values()) {
    const isCalled = facts.effects.some(({ receiver }) => receiver.receiver === "next");
    if (isCalled || givenAway(engine, facts, found).length > 0) found.add(facts.body);
  }
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { body, calls } of engine.bodies.values()) {
      if (calls.size === 0 || found.has(body)) continue;
      if ([...calls.values()].some((targets) => [...targets].some((each) => found.has(each))))
        found.add(body);
    }
  }
  return found;
}

/** `router(req, res, next)`: calls of code that is not looked at, which may call `next` before they return. */
function givenAway(engine: Engine, { body, module }: BodyFacts, passing: ReadonlySet<Body>): Node[] {
  return module.inside(body).acts.filter((act) => {
    if (act.type !== "CallExpression" || engine.ruptures.has(act)) return false;
    return act.arguments.some((each) => {
      const given = plain(each);
      if (isFunction(given)) return passing.has(given);
      const variable = given.type === "Identifier" ? module.variable(given) : null;
      if (!variable) return false;
      if (engine.options.roles.get(variable) === "next") return true;
      return [...engine.of(variable)].some((thing) => thing.kind === "function" && passing.has(thing.node));
    });
  });
}

const PASSING = new Set(["ReturnStatement", "ConditionalExpression", "LogicalExpression", "AwaitExpression"]);
const LOOPS = /^(For|While|DoWhile)/;

/** What is done in a function after a call in it; null if nothing is. */
export function behind(call: Node): Node | null {
  for (let inner = call; inner.parent; inner = inner.parent) {
    const outer = inner.parent;
    if (isFunction(outer)) return null;
    if (outer.type === "ReturnStatement") return finalizerAround(outer);
    if (LOOPS.test(outer.type)) return outer;
    if (outer.type === "TryStatement" && outer.finalizer !== null && outer.finalizer !== inner)
      return outer.finalizer;
    const statements = statementsOf(outer);
    if (statements !== null) {
      const next = statements.slice(statements.indexOf(inner) + 1).find((each) => !isNothing(each));
      if (next?.type === "ReturnStatement" && next.argument === null) return finalizerAround(next);
      if (next?.type === "BreakStatement") continue;
      if (next !== undefined) return next;
    } else if (
      /Expression$/.test(outer.type) &&
      !PASSING.has(outer.type) &&
      outer.type !== "UnaryExpression"
    ) {
      return outer; // its value is used for something
    }
  }
  return null;
}

function statementsOf(node: Node): readonly Node[] | null {
  if (node.type === "BlockStatement" || node.type === "Program") return node.body;
  return node.type === "SwitchCase" ? node.consequent : null;
}

function isNothing(node: Node): boolean {
  return node.type === "FunctionDeclaration" || node.type === "EmptyStatement";
}

function finalizerAround(node: Node): Node | null {
  for (let inner = node; inner.parent && !isFunction(inner.parent); inner = inner.parent) {
    const { parent } = inner;
    if (parent.type === "TryStatement" && parent.finalizer !== null && parent.finalizer !== inner)
      return parent.finalizer;
  }
  return null;
}
