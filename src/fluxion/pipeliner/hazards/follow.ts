import {
  type Body,
  type BodyFacts,
  binderOf,
  boundTo,
  type Hazard,
  isReassigned,
  reachable,
} from "../../points-to/index.js";
import {
  type CallExpression,
  type FunctionNode,
  isFunction,
  isInside,
  type Node,
  type Variable,
  walk,
} from "../../source/index.js";
import { type Container, changeOf, keyOfThing, reached, type WholeProgram } from "../whole/index.js";
import { lookedAfter } from "./after-next.js";
import { oddFacts } from "./odd.js";
import { overtaking } from "./parallel.js";
import { renderFacts } from "./rendered.js";
import { stateIn } from "./state.js";

/** Where code runs, or what it sends, does not matter for what comes after a cut: it stays on the main loop. */
function isHarmless(whole: WholeProgram, { code, node }: Hazard): boolean {
  const isPlace = node.type === "Identifier" || node.type === "MetaProperty" || isOwnThis(whole, node);
  return code === "HW-7006" || (code === "HW-7007" && isPlace);
}

/** `this` of what is around a part is an object that others may have, too, and change during the cut. */
function isOwnThis({ engine, changed }: WholeProgram, node: Node): boolean {
  if (node.type !== "ThisExpression" && node.type !== "Super") return false;
  const { binder } = binderOf(node, null);
  const known = engine.at(engine.moduleOf(node).syntax, () => boundTo(engine, binder));
  if (known.size === 0) return binder.kind === "file"; // it is undefined there
  return [...reachable(known)].every((thing) => !changed.has(keyOfThing(thing)));
}

const LOOPS = new Set([
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
  "WhileStatement",
  "DoWhileStatement",
]);

/**
 * A cut in a synchronous section lets others run in between. It cannot be observed if what follows in the function touches
 * nothing that others change, and changes nothing that others see.
 */
export function followFacts(whole: WholeProgram, container: Container, call: CallExpression): Hazard[] {
  const { node, engine } = container;
  const module = engine.moduleOf(node);
  const late = canBecomeAsync(container);
  if (late !== null) return [{ code: "HW-7011", node: call, module, ...late }];
  const body = engine.bodies.get(node);
  if (body === undefined) return [];
  const follows = (each: Node) => isAfter(each, call, node);
  const touched: Hazard[] = [
    ...[...body.facts.values()].filter((fact) => follows(fact.node) && !isHarmless(whole, fact)),
    ...[...body.calls]
      .filter(([each]) => follows(each))
      .flatMap(([, targets]) => [...targets].flatMap((target) => reached(engine, target)))
      .flatMap((each) => [
        ...[...each.facts.values()].filter((fact) => !isHarmless(whole, fact)),
        ...stateUsed(whole, each, () => true),
      ]),
    ...stateUsed(whole, body, follows),
    ...sharedCaptures(whole, body, follows),
    ...sharedLocals(whole, container, follows),
    ...sharedObjects(whole, node, follows),
    ...oddFacts(whole, reached(engine, node), (each, of) => of !== node || follows(each)),
    ...renderFacts(whole, reached(engine, node), (each) => !isInside(each, node) || follows(each)),
    ...overtaking(whole, node, receiversUsed(whole, container, follows)),
    ...(container.listener?.ruptures.some(({ door }) => door === "express") === true
      ? lookedAfter(whole)
      : []),
  ];
  return [...new Set(touched)].map(({ node: at, module: of, reason }) => ({
    code: "HW-7011",
    node: at,
    module: of,
    reason: `after the heavy call, ${reason.replace(/^it /, "the function ")}`,
    advice: "do that before the heavy call, or put the heavy call behind an `await` that is already there",
  }));
}

/** What runs after a place: later in the text, in the same statement (`total = heavy()`), or in a loop around it. */
function isAfter(node: Node, call: Node, container: Node): boolean {
  if (isInside(node, call)) return false;
  if (node.start >= call.end || isInside(node, statementAround(call, container))) return true;
  for (let outer = call.parent; outer && outer !== container; outer = outer.parent) {
    if (LOOPS.has(outer.type) && isInside(node, outer)) return true;
  }
  return false;
}

function statementAround(call: Node, container: Node): Node {
  let inner = call;
  while (
    inner.parent &&
    inner.parent !== container &&
    !/Statement$|Declaration$|^Program$/.test(inner.type)
  ) {
    inner = inner.parent;
  }
  return inner;
}

function canBecomeAsync({ node, listener }: Container): Pick<Hazard, "reason" | "advice"> | null {
  if (!isFunction(node) || node.async) return null;
  const doors = new Set(listener?.ruptures.map(({ door }) => door));
  const [door] = doors;
  const fits = doors.size === 1 && ["express", "http", "then", "callback"].includes(door ?? "");
  const begins = node.body?.type === "BlockStatement" ? node.body.body[0] : undefined;
  const isDirected = begins?.type === "ExpressionStatement" && typeof begins.directive === "string";
  if (listener?.only === true && fits && !isDirected && !node.generator && node.parent?.type !== "Property")
    return null;
  return {
    reason: "the function around the heavy call is not asynchronous, and its callers count on that",
    advice: "make it an `async` function, and `await` it",
  };
}

/** Uses of variables of the file that are changed while the program runs. */
function stateUsed(
  whole: WholeProgram,
  { module, uses }: BodyFacts,
  follows: (node: Node) => boolean,
): Hazard[] {
  return [...uses].flatMap(([node, variable]): Hazard[] => {
    if (!follows(node) || !isShared(whole, variable)) return [];
    return [
      {
        code: "HW-7011",
        node,
        module,
        reason: `it uses ${variable.name}, which every request shares`,
        advice: "",
      },
    ];
  });
}

function isShared(whole: WholeProgram, variable: Variable): boolean {
  if (isReassigned(variable)) return true;
  return changeOf(whole, variable) !== null;
}

/** Variables of functions around it that are written, or whose objects are changed: by others, or by another run of it. */
function sharedCaptures(
  whole: WholeProgram,
  { module, captures }: BodyFacts,
  follows: (node: Node) => boolean,
): Hazard[] {
  return [...captures].flatMap(([node, variable]): Hazard[] => {
    if (!follows(node) || whole.roles.has(variable) || !isShared(whole, variable)) return [];
    const reason = `it uses ${variable.name}, which other parts share`;
    return [{ code: "HW-7011", node, module, reason, advice: "" }];
  });
}

/** Own variables that a callback inside uses too, which may run during the cut, if one of both changes them. */
function sharedLocals(
  whole: WholeProgram,
  { node, engine }: Container,
  follows: (node: Node) => boolean,
): Hazard[] {
  const module = engine.moduleOf(node);
  const called = new Set(
    [...(engine.bodies.get(node)?.calls.values() ?? [])].flatMap((targets) => [...targets]),
  );
  const isOwn = (identifier: Node) => {
    const by = functionOf(identifier);
    // A continuation of a promise is called from here, too, but later.
    return by === null || by === node || (called.has(by) && !whole.listeners.has(by));
  };
  const variables = new Set<Variable>();
  for (const scope of scopesIn(module.top, node)) for (const each of scope.variables) variables.add(each);
  return [...variables].flatMap((variable): Hazard[] => {
    const isChangeable = isReassigned(variable) || engine.of(variable).size > 0;
    if (whole.roles.has(variable) || !isChangeable) return [];
    const uses = variable.references.map(({ identifier }) => identifier as unknown as Node);
    const use = uses.find((each) => follows(each) && isOwn(each));
    if (use === undefined || uses.every(isOwn)) return [];
    const reason = `it uses ${variable.name}, which a callback uses too`;
    return [{ code: "HW-7011", node: use, module, reason, advice: "" }];
  });
}

/** Objects that others change, under whatever name and wherever they were found. */
function sharedObjects(whole: WholeProgram, node: Body, follows: (node: Node) => boolean): Hazard[] {
  return stateIn(whole, node, follows).map(({ node: at, module, name, known }) => {
    const reason = known
      ? `it uses ${name}, which every request shares`
      : `it uses ${name}, and others may change that meanwhile`;
    return { code: "HW-7011", node: at, module, reason, advice: "" };
  });
}

/** Requests, responses and the like that what follows does something to. */
function receiversUsed(
  whole: WholeProgram,
  { node, engine }: Container,
  follows: (node: Node) => boolean,
): Set<Variable> {
  const used = new Set<Variable>();
  const module = engine.moduleOf(node);
  walk(node, (each) => {
    const variable = each.type === "Identifier" && follows(each) ? module.variable(each) : null;
    if (variable && whole.roles.has(variable)) used.add(variable);
    return undefined;
  });
  return used;
}

function functionOf(node: Node): FunctionNode | null {
  for (let outer = node.parent; outer; outer = outer.parent) if (isFunction(outer)) return outer;
  return null;
}

type Scope = Container["engine"]["module"]["top"];

function scopesIn(scope: Scope, node: Node): Scope[] {
  const inside = (scope.block as unknown as Node) === node || isInside(scope.block as unknown as Node, node);
  return [...(inside ? [scope] : []), ...scope.childScopes.flatMap((each) => scopesIn(each, node))];
}
