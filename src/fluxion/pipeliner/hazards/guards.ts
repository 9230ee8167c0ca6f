import {
  type Body,
  evaluate,
  type Fact,
  isReassigned,
  type Rupture,
  type Value,
} from "../../points-to/index.js";
import {
  around,
  type CallExpression,
  enclosingFunction,
  type FunctionNode,
  isFunction,
  isInside,
  keyOf,
  type Node,
  plain,
  walk,
} from "../../source/index.js";
import { reached, type Whole } from "../whole/index.js";
import { behind, passingOn } from "./after-next.js";

const CLEARING = /^clear(Timeout|Interval|Immediate)$/;
const SERVERS = /^(express4?|https?|net|http2)$/;

/**
 * On one loop, nothing comes between a request and its answer while it is computed. Timers, listeners and continuations
 * that were begun before and that act on the same response could, when the answer is computed elsewhere: they win over an
 * answer that was always first. Gives what is in the way of every part of a program: a middleware that begins such a
 * thing and goes on.
 */
export function guardFacts(whole: Whole): Fact[] {
  const known = GUARDS.get(whole);
  if (known !== undefined) return known;
  const node = timeoutSet(whole) ?? guardIn(whole);
  const facts = node === null ? [] : [overtaken(whole, node)];
  GUARDS.set(whole, facts);
  return facts;
}

const GUARDS = new WeakMap<Whole, Fact[]>();

function overtaken(whole: Whole, node: Node): Fact {
  return {
    code: "HW-7010",
    node,
    module: whole.engine.moduleOf(node),
    reason: "what is begun here acts on the same response, and could overtake it",
    advice: "let the heavy function be asked for by what may come first, and `await` it there",
  };
}

/** What was begun before a call, by its function or those around it, and could come before what follows the call. */
export function begunBefore(whole: Whole, within: Body, call: Node): Fact[] {
  const begun = actsIn(whole, within).filter(
    (act) => act.start < call.start && !isInside(call, chainAround(act)),
  );
  const own = begun.find((act) => begins(whole, within, act) || sharesWith(whole, within, act, call));
  return own === undefined ? begunAround(whole, within) : [overtaken(whole, own)];
}

/** The same for a whole part, and what the functions around it have begun. */
export function begunAround(whole: Whole, part: Body): Fact[] {
  for (let outer = enclosingFunction(part); outer !== null; outer = enclosingFunction(outer)) {
    const begun = beginningsIn(whole, outer).find((act) => !isInside(part, chainAround(act)));
    if (begun !== undefined) return [overtaken(whole, begun)];
  }
  return [];
}

const BEGINNINGS = new WeakMap<Whole, Map<Body, readonly CallExpression[]>>();

function beginningsIn(whole: Whole, body: Body): readonly CallExpression[] {
  const all = BEGINNINGS.get(whole) ?? new Map<Body, readonly CallExpression[]>();
  BEGINNINGS.set(whole, all);
  const found = all.get(body) ?? actsIn(whole, body).filter((act) => begins(whole, body, act));
  all.set(body, found);
  return found;
}

/** `a.then(x).then(y)` for `a.then(x)`: one comes after the other. */
function chainAround(act: Node): Node {
  let chain = act;
  for (let member = around(chain); member?.type === "MemberExpression"; member = around(chain)) {
    const call = around(member);
    if (call?.type !== "CallExpression" || !isInside(member, call.callee)) break;
    chain = call;
  }
  return chain;
}

function guardIn(whole: Whole): Node | null {
  const { engine } = whole;
  const passing = passingOn(engine);
  for (const body of passing) {
    const facts = engine.bodies.get(body);
    if (facts === undefined) continue;
    const goesOn = [
      ...facts.effects.filter(({ receiver }) => receiver.receiver === "next").map(({ node }) => node),
      ...[...facts.calls]
        .filter(([, targets]) => [...targets].some((each) => passing.has(each)))
        .map(([node]) => node),
    ];
    const begun = actsIn(whole, body).find((act) => {
      const chain = chainAround(act);
      const isBefore = goesOn.some((each) => each.end > act.end && !isInside(each, chain));
      return isBefore && behind(act) !== null && begins(whole, body, act);
    });
    const found = begun ?? begunAround(whole, body)[0]?.node;
    if (found !== undefined) return found;
  }
  return null;
}

/** `res.setTimeout(…)`, `server.setTimeout(…)`: whoever is slower than that is cut off. */
function timeoutSet(whole: Whole): Node | null {
  for (const { body } of whole.engine.bodies.values()) {
    for (const act of actsIn(whole, body)) {
      const callee = plain(act.callee);
      if (callee.type !== "MemberExpression" || keyOf(callee, callee.property) !== "setTimeout") continue;
      const object = valueAt(whole, body, callee.object);
      const cutsOff = [...object].some(
        (thing) =>
          thing.kind === "receiver" ||
          (thing.kind === "data" && thing.owner === "input") ||
          (thing.kind === "library" && SERVERS.test(thing.library)),
      );
      if (cutsOff) return act;
    }
  }
  return null;
}

function actsIn(whole: Whole, body: Body): CallExpression[] {
  const { acts } = whole.engine.moduleOf(body).inside(body);
  return acts.filter((act) => act.type === "CallExpression");
}

function valueAt(whole: Whole, body: Body, node: Node): Value {
  return whole.engine.at(body, () => evaluate(whole.engine, node));
}

/** Does a call begin something that acts on a request or response later, itself or through what it calls? */
function begins(whole: Whole, body: Body, act: CallExpression): boolean {
  const rupture = ruptureAt(whole, act);
  if (rupture !== undefined) return isLater(rupture) && isActing(whole, rupture);
  const facts = whole.engine.bodies.get(body);
  if (facts?.unknown.has(act)) {
    const given = act.arguments.flatMap((each) => [...valueAt(whole, body, each)]);
    return given.some((thing) => thing.kind === "function" && answers(whole, thing.node));
  }
  const targets = [...(facts?.calls.get(act) ?? [])];
  return targets.some((target) =>
    reached(whole.engine, target).some((each) => beginsItself(whole, each.body)),
  );
}

const BEGINNING = new WeakMap<Whole, Map<Body, boolean>>();

function beginsItself(whole: Whole, body: Body): boolean {
  const all = BEGINNING.get(whole) ?? new Map<Body, boolean>();
  BEGINNING.set(whole, all);
  const known = all.get(body);
  if (known !== undefined) return known;
  const found = actsIn(whole, body).some((act) => {
    const rupture = ruptureAt(whole, act);
    return rupture !== undefined && isLater(rupture) && isActing(whole, rupture);
  });
  all.set(body, found);
  return found;
}

const RUPTURES = new WeakMap<Whole, Map<Node, Rupture>>();

function ruptureAt(whole: Whole, node: Node): Rupture | undefined {
  const all = RUPTURES.get(whole) ?? new Map(whole.ruptures.map((each) => [each.node, each]));
  RUPTURES.set(whole, all);
  return all.get(node as CallExpression);
}

function isLater({ door }: Rupture): boolean {
  return door !== "express" && door !== "http";
}

/** What has been answered cannot be overtaken. */
function isActing(whole: Whole, { door, node, listeners }: Rupture): boolean {
  const [event] = node.arguments;
  if (door === "emitter" && event?.type === "Literal" && event.value === "finish") return false;
  if (door === "timer" && isCleared(node)) return true;
  const ending =
    door === "emitter" &&
    event?.type === "Literal" &&
    /^(close|end|error|aborted)$/.test(String(event.value));
  return [...listeners].some((each) => (ending ? answers(whole, each) : acts(whole, each)));
}

/** A timer that somebody takes back when the answer is there. */
function isCleared(timer: Node): boolean {
  let outermost: Node = timer;
  for (let outer = enclosingFunction(timer); outer !== null; outer = enclosingFunction(outer))
    outermost = outer;
  let found = false;
  if (outermost === timer) return false;
  walk(outermost, (node) => {
    if (node.type === "Identifier" && CLEARING.test(node.name)) found = true;
    return !found;
  });
  return found;
}

/** Does a function use a response or `next`, or write to a request? */
function acts(whole: Whole, node: FunctionNode): boolean {
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

function answers(whole: Whole, node: FunctionNode): boolean {
  return bodiesOf(whole, node).some((body) =>
    whole.engine.bodies.get(body)?.effects.some(({ receiver }) => receiver.receiver !== "console"),
  );
}

/** A function, what it calls, and the functions inside of it. */
function bodiesOf(whole: Whole, node: FunctionNode): Body[] {
  const called = reached(whole.engine, node).map(({ body }) => body);
  return [...called, ...called.flatMap((body) => insideOf(whole, body))];
}

function insideOf(whole: Whole, body: Body): Body[] {
  const { functions } = whole.engine.moduleOf(body).inside(body);
  return functions.flatMap((each) => [each, ...insideOf(whole, each)]);
}

/** What was begun uses a variable of this function, too, that one of both changes, and that is used after the call. */
function sharesWith(whole: Whole, within: Body, act: CallExpression, call: Node): boolean {
  const rupture = ruptureAt(whole, act);
  if (rupture === undefined || !isLater(rupture) || rupture.door === "then") return false;
  const module = whole.engine.moduleOf(within);
  const own = new Set(
    module.inside(within).names.flatMap((name) => {
      const variable = name.start >= call.end ? module.variable(name) : null;
      const isChangeable = variable && (isReassigned(variable) || whole.engine.of(variable).size > 0);
      return isChangeable && !whole.roles.has(variable) && isFunction(declaredIn(variable)) ? [variable] : [];
    }),
  );
  if (own.size === 0) return false;
  return [...rupture.listeners].some((each) =>
    bodiesOf(whole, each).some((body) =>
      whole.engine
        .moduleOf(body)
        .inside(body)
        .names.some((name) => {
          const variable = whole.engine.moduleOf(body).variable(name);
          return variable ? own.has(variable) : false;
        }),
    ),
  );
}

function declaredIn(variable: { scope: { variableScope: { block: unknown } } }): Node {
  return variable.scope.variableScope.block as Node;
}
