import {
  type Body,
  evaluate,
  type Hazard,
  isReassigned,
  type Rupture,
  type ValueSet,
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
import { reached, type WholeProgram } from "../whole/index.js";
import { behind, passingOn } from "./after-next.js";
import { isAwaited, isLeftAlone } from "./promises.js";
import { acts, answers, bodiesOf, isCounting, isSeen } from "./seen.js";

const CLEARING = /^clear(Timeout|Interval|Immediate)$/;
const SERVERS = /^(express4?|https?|net|http2)$/;

/**
 * On one loop, nothing comes between a request and its answer while it is computed. Timers, listeners and continuations
 * that were begun before and that act on the same response could, when the answer is computed elsewhere: they win over an
 * answer that was always first. Gives what is in the way of every part of a program: a middleware that begins such a
 * thing and goes on.
 */
export function guardFacts(whole: WholeProgram): Hazard[] {
  const known = GUARDS.get(whole);
  if (known !== undefined) return known;
  const node = timeoutSet(whole) ?? guardIn(whole);
  const facts = node === null ? [] : [overtaken(whole, node)];
  GUARDS.set(whole, facts);
  return facts;
}

const GUARDS = new WeakMap<WholeProgram, Hazard[]>();

function overtaken(whole: WholeProgram, node: Node): Hazard {
  return {
    code: "HW-7010",
    node,
    module: whole.engine.moduleOf(node),
    reason: "what is begun here acts on the same response, and could overtake it",
    advice: "let the heavy function be asked for by what may come first, and `await` it there",
  };
}

/** A callback of a promise that is not awaited: if it fails, the process ends, and would end later. */
export function leftAloneFacts(whole: WholeProgram, ruptures: readonly Rupture[]): Hazard[] {
  const failing = ruptures.flatMap(({ door, node, within }): Hazard[] => {
    const facts = whole.engine.bodies.get(within);
    if (door !== "then" || facts === undefined) return [];
    if (!isLeftAlone(whole, facts, node, chainAround(node))) return [];
    const reason = "this promise is not awaited, and what it throws ends the process";
    return [
      {
        code: "HW-7010",
        node,
        module: facts.module,
        reason,
        advice: "`await` it, return it, or `catch` what it throws",
      },
    ];
  });
  return [...failing, ...talkingAlone(whole, ruptures)];
}

/** What a callback of a promise that is not awaited writes to the console has a place among all else there. */
function talkingAlone(whole: WholeProgram, ruptures: readonly Rupture[]): Hazard[] {
  return ruptures.flatMap(({ door, node, listeners }): Hazard[] => {
    if (door !== "then" || isAwaited(chainAround(node))) return [];
    const shows = [...listeners]
      .flatMap((each) => reached(whole.engine, each))
      .some(({ effects }) => effects.some(({ receiver }) => receiver.receiver === "console"));
    if (!shows) return [];
    const module = whole.engine.moduleOf(node);
    const reason =
      "this promise is not awaited, and what its callback writes to the console would come later";
    return [{ code: "HW-7010", node, module, reason, advice: "`await` it, or return it" }];
  });
}

/** The continuations of a call whose promise is not awaited: `render(x).then(show)`. */
export function continuedAlone(whole: WholeProgram, call: Node): Hazard[] {
  const chain = chainAround(call);
  const module = whole.engine.moduleOf(call);
  const own = whole.ruptures.filter(
    ({ node }) => whole.engine.moduleOf(node) === module && isInside(node, chain) && isInside(call, node),
  );
  return talkingAlone(whole, own);
}

/** `audit();`: what an asynchronous function does after an `await` has a place among all else, if it is not awaited. */
export function calledAloneFacts(whole: WholeProgram, node: Body): Hazard[] {
  const call = isFunction(node) && node.async ? callsAlone(whole).get(node) : undefined;
  if (call === undefined) return [];
  const reason = "the function around it is called here, and not awaited";
  return [
    {
      code: "HW-7010",
      node: call,
      module: whole.engine.moduleOf(call),
      reason,
      advice: "`await` it, or return it",
    },
  ];
}

const ALONE = new WeakMap<WholeProgram, ReadonlyMap<FunctionNode, Node>>();

function callsAlone(whole: WholeProgram): ReadonlyMap<FunctionNode, Node> {
  const known = ALONE.get(whole);
  if (known !== undefined) return known;
  const found = new Map<FunctionNode, Node>();
  ALONE.set(whole, found);
  for (const { body, calls } of whole.engine.bodies.values()) {
    if (body.type === "Program") continue; // `main();`: nothing else is under way by then
    for (const [node, targets] of calls) {
      // A listener is called by others.
      if (
        node.type !== "CallExpression" ||
        ruptureAt(whole, node) !== undefined ||
        isAwaited(chainAround(node))
      )
        continue;
      for (const target of targets) if (target.async && !target.generator) found.set(target, node);
    }
  }
  return found;
}

/** What was begun before a call, by its function or those around it, and could come before what follows the call. */
export function begunBefore(whole: WholeProgram, within: Body, call: Node): Hazard[] {
  const begun = actsIn(whole, within).filter(
    (act) => act.start < call.start && !isInside(call, chainAround(act)),
  );
  const own = begun.find((act) => begins(whole, within, act) || sharesWith(whole, within, act, call));
  return own === undefined ? begunAround(whole, within) : [overtaken(whole, own)];
}

/** The same for a whole part, and what the functions around it have begun. */
export function begunAround(whole: WholeProgram, part: Body): Hazard[] {
  for (let outer = enclosingFunction(part); outer !== null; outer = enclosingFunction(outer)) {
    const begun = beginningsIn(whole, outer).find((act) => !isInside(part, chainAround(act)));
    if (begun !== undefined) return [overtaken(whole, begun)];
  }
  return [];
}

const BEGINNINGS = new WeakMap<WholeProgram, Map<Body, readonly CallExpression[]>>();

function beginningsIn(whole: WholeProgram, body: Body): readonly CallExpression[] {
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

function guardIn(whole: WholeProgram): Node | null {
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

/** `res.setTimeout(…)`, `server.setTimeout(…)`: slower connections are cut off. */
function timeoutSet(whole: WholeProgram): Node | null {
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

function actsIn(whole: WholeProgram, body: Body): CallExpression[] {
  const { acts } = whole.engine.moduleOf(body).inside(body);
  return acts.filter((act) => act.type === "CallExpression");
}

function valueAt(whole: WholeProgram, body: Body, node: Node): ValueSet {
  return whole.engine.at(body, () => evaluate(whole.engine, node));
}

/** Does a call begin something that is seen to come first, itself or through what it calls? */
function begins(whole: WholeProgram, body: Body, act: CallExpression): boolean {
  const rupture = ruptureAt(whole, act);
  const facts = whole.engine.bodies.get(body);
  if (facts !== undefined && isLeftAlone(whole, facts, act, chainAround(act))) return true;
  if (rupture !== undefined) return isLater(rupture) && isActing(whole, rupture);
  if (facts?.unknown.has(act)) {
    const given = act.arguments.flatMap((each) => [...valueAt(whole, body, each)]);
    return given.some((thing) => thing.kind === "function" && answers(whole, thing.node));
  }
  const targets = [...(facts?.calls.get(act) ?? [])];
  if (goesOnAlone(whole, act, targets)) return true;
  return targets.some((target) =>
    reached(whole.engine, target).some((each) => beginsItself(whole, each.body)),
  );
}

/** `audit();`: a function of the program that goes on after its first `await` while it is not awaited. */
function goesOnAlone(whole: WholeProgram, act: CallExpression, targets: readonly FunctionNode[]): boolean {
  const isAsync = targets.some((each) => each.async && !each.generator);
  return isAsync && !isAwaited(act) && targets.some((each) => isSeen(whole, each));
}

const BEGINNING = new WeakMap<WholeProgram, Map<Body, boolean>>();

function beginsItself(whole: WholeProgram, body: Body): boolean {
  const all = BEGINNING.get(whole) ?? new Map<Body, boolean>();
  BEGINNING.set(whole, all);
  const known = all.get(body);
  if (known !== undefined) return known;
  const facts = whole.engine.bodies.get(body);
  const calls = facts?.calls;
  const found = actsIn(whole, body).some((act) => {
    const rupture = ruptureAt(whole, act);
    if (facts !== undefined && isLeftAlone(whole, facts, act, chainAround(act))) return true;
    if (rupture === undefined) return goesOnAlone(whole, act, [...(calls?.get(act) ?? [])]);
    return isLater(rupture) && isActing(whole, rupture);
  });
  all.set(body, found);
  return found;
}

const RUPTURES = new WeakMap<WholeProgram, Map<Node, Rupture>>();

function ruptureAt(whole: WholeProgram, node: Node): Rupture | undefined {
  const all = RUPTURES.get(whole) ?? new Map(whole.ruptures.map((each) => [each.node, each]));
  RUPTURES.set(whole, all);
  return all.get(node as CallExpression);
}

function isLater({ door }: Rupture): boolean {
  return door !== "express" && door !== "http";
}

/** Could what a rupture point leads to come before what would have been before it, and does anybody see that? */
function isActing(whole: WholeProgram, { door, node, listeners }: Rupture): boolean {
  const [event] = node.arguments;
  const name = door === "emitter" && event?.type === "Literal" ? String(event.value) : null;
  if (door === "timer" && isCleared(node)) return true;
  if ((door === "then" || door === "callback") && isAwaited(node))
    return [...listeners].some((each) => acts(whole, each));
  return [...listeners].some((each) => {
    // What has been answered cannot be overtaken; but code that counts requests in flight counts more of them.
    if (name === "finish") return isCounting(whole, each);
    if (name !== null && ENDING.test(name)) return answers(whole, each) || isCounting(whole, each);
    return acts(whole, each) || isSeen(whole, each);
  });
}

const ENDING = /^(close|end|error|aborted)$/;

/** A timer that the program cancels when the answer is there. */
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

/** What was begun uses a variable of this function, too, that one of both changes, and that is used after the call. */
function sharesWith(whole: WholeProgram, within: Body, act: CallExpression, call: Node): boolean {
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
