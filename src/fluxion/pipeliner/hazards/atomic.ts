import { listed } from "../../listed.js";
import { type Body, evaluate, type Hazard, type Rupture } from "../../points-to/index.js";
import {
  type CallExpression,
  type FunctionNode,
  isFunction,
  isInside,
  keyOf,
  type Node,
  plain,
} from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";
import { stateIn, type Touch } from "./state.js";

const LOOPS = /^(For|While|DoWhile)/;

/** What has in it, as it is, what stands in it. */
const PASSING = /^(Property|SpreadElement|(Object|Array|Conditional|Logical|Parenthesized)Expression|TS.*)$/;

/** More ways that lead to one call than anybody writes by hand. */
const WAYS_MAX = 200;

/**
 * An `await` of something that computes took no event, so that no other code ran between what is before it and what is after
 * it. What uses the same state on both sides of it may count on that: `total += await heavy()`, or a look whether
 * something is there and then putting it there.
 */
export function atomicFacts(
  whole: WholeProgram,
  within: Body,
  call: CallExpression,
  isCut: boolean,
): Hazard[] {
  const ways = { left: WAYS_MAX };
  const torn = tornIn(whole, within, call, { before: new Set(), after: new Map() }, new Set(), ways, isCut);
  if (torn === null) return [];
  return [
    {
      code: "HW-7011",
      node: torn.node,
      module: torn.module,
      reason: `${torn.name} is used before and after the call, and others would come in between`,
      advice: "read and write it on the same side of the heavy call",
    },
  ];
}

interface Sides {
  readonly before: ReadonlySet<unknown>;
  readonly after: ReadonlyMap<unknown, Touch>;
}

/** A use on one side of what is also used on the other: here, or in a caller of the function that goes on after it. */
function tornIn(
  whole: WholeProgram,
  within: Body,
  call: Node,
  inner: Sides,
  seen: ReadonlySet<Body>,
  ways: { left: number },
  isCut: boolean,
): Touch | null {
  const sides = sidesOf(whole, within, call, inner);
  // What comes after a cut in the function itself uses no state at all.
  if (!isCut || seen.size > 0) {
    for (const [of, touch] of sides.after) if (sides.before.has(of)) return touch;
  }
  if (!isFunction(within) || !within.async) return null;
  for (const [caller, node] of callersOf(whole, within)) {
    if (seen.has(caller)) continue;
    if (ways.left-- === 0)
      return {
        node: call,
        module: whole.engine.moduleOf(call),
        of: null,
        name: "something",
        known: true,
        again: false,
      };
    const torn = tornIn(whole, caller, node, sides, new Set([...seen, within]), ways, isCut);
    if (torn !== null) return torn;
  }
  return null;
}

function sidesOf(whole: WholeProgram, within: Body, call: Node, inner: Sides): Sides {
  const at = awaitAround(call, within);
  const known = (isMeant: (node: Node) => boolean) =>
    stateIn(whole, within, (node) => node !== call && isMeant(node)).filter((each) => each.known);
  let before: Touch[];
  let after: Touch[];
  if (at === null) {
    const later = new Set<Node>(promisesIn(whole, within).map(({ node }) => node));
    before = known((node) => !later.has(node));
    after = whole.engine.moduleOf(within).inside(within).waits ? before : [];
    after = [...after, ...continuationsOf(whole, within).flatMap((each) => stateOf(whole, each))];
  } else {
    const loops = loopsAround(at, within);
    const isLooped = (node: Node) => loops.some((loop) => isInside(node, loop));
    const placed = (node: Node) => (isLooped(node) ? "both" : sideOf(node, at));
    before = known((node) => placed(node) !== "after").filter(
      ({ node, again }) => again || placed(node) !== "given",
    );
    after = known((node) => placed(node) !== "before").filter(
      ({ node, again }) => !again || placed(node) !== "given",
    );
  }
  return {
    before: new Set([...inner.before, ...before.map(({ of }) => of)]),
    after: new Map([...inner.after, ...after.map((each) => [each.of, each] as const)]),
  };
}

/**
 * On which side of an `await` something is used. Values that are `given` to what the awaited is given to, too, are read
 * before, but objects among them are looked into after it.
 */
function sideOf(node: Node, at: Node): "before" | "after" | "both" | "given" {
  if (node.start >= at.end || isInside(at, node)) return "after";
  if (isInside(node, at)) return "before";
  let isWhole = true;
  for (let inner = node; inner.parent && !isFunction(inner.parent); inner = inner.parent) {
    const outer = inner.parent;
    if (!isInside(at, outer)) {
      isWhole &&= PASSING.test(outer.type);
      continue;
    }
    if (outer.type === "AssignmentExpression" && inner === outer.left) {
      if (outer.operator !== "=") return "both";
      return inner === node || isObjectOf(node, inner) ? "after" : "before";
    }
    if (isWhole) return inner.type === "SpreadElement" ? "both" : "given";
    return outer.type === "CallExpression" && inner === outer.callee && isObjectOf(node, inner)
      ? "after"
      : "before";
  }
  return "before";
}

function isObjectOf(node: Node, member: Node): boolean {
  return member.type === "MemberExpression" && member.object === node;
}

function stateOf(whole: WholeProgram, body: Body): Touch[] {
  return stateIn(whole, body, () => true).filter(({ known }) => known);
}

/** The `await` that waits for what a call gives, among others: `await Promise.all([a(), b()])`. */
function awaitAround(call: Node, within: Body): Node | null {
  for (let outer = call.parent; outer && outer !== within; outer = outer.parent) {
    if (outer.type === "AwaitExpression") return outer;
    if (isFunction(outer)) return null;
  }
  return null;
}

function loopsAround(node: Node, within: Body): Node[] {
  const found: Node[] = [];
  for (let outer = node.parent; outer && outer !== within; outer = outer.parent) {
    if (LOOPS.test(outer.type)) found.push(outer);
  }
  return found;
}

/** Continuations of promises that stand in a body. */
function continuationsOf(whole: WholeProgram, within: Body): FunctionNode[] {
  return promisesIn(whole, within).flatMap(({ listeners }) => [...listeners]);
}

function promisesIn(whole: WholeProgram, within: Body): Rupture[] {
  const module = whole.engine.moduleOf(within);
  return whole.ruptures.filter(
    ({ door, node }) => door === "then" && isInside(node, within) && whole.engine.moduleOf(node) === module,
  );
}

/** A continuation of a promise that took no event before: `Promise.resolve(1).then(heavy).then(…)`. */
export function chainFacts(whole: WholeProgram, ruptures: readonly Rupture[]): Hazard[] {
  return ruptures.flatMap(({ door, node, within }) => {
    if (door !== "then") return [];
    const first = promiseOf(node);
    const promised = whole.engine.at(within, () => evaluate(whole.engine, first));
    const takesEvents = [...promised].some((thing) => thing.kind === "data" && thing.owner === "given");
    return takesEvents ? [] : atomicFacts(whole, within, node, false);
  });
}

/** What a chain of continuations begins with. */
function promiseOf(chain: Node): Node {
  const callee = chain.type === "CallExpression" ? plain(chain.callee) : null;
  if (callee?.type !== "MemberExpression") return chain;
  return /^(then|catch|finally)$/.test(keyOf(callee, callee.property) ?? "")
    ? promiseOf(plain(callee.object))
    : chain;
}

function callersOf(whole: WholeProgram, target: FunctionNode): [Body, Node][] {
  const known = CALLERS.get(whole) ?? new Map<FunctionNode, [Body, Node][]>();
  if (!CALLERS.has(whole)) {
    CALLERS.set(whole, known);
    for (const { body, calls } of whole.engine.bodies.values()) {
      for (const [node, targets] of calls) {
        for (const each of targets) listed(known, each).push([body, node]);
      }
    }
  }
  return known.get(target) ?? [];
}

const CALLERS = new WeakMap<WholeProgram, Map<FunctionNode, [Body, Node][]>>();
