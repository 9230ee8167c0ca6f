import type { Body, Hazard } from "../../points-to/index.js";
import { type FunctionNode, isInside, type Node, type SourceModule } from "../../source/index.js";
import { reached, type WholeProgram } from "../whole/index.js";
import { passingOn } from "./after-next.js";
import { stateIn, type Touch } from "./state.js";

/**
 * `next()` runs the handlers behind a middleware at once, so a request is one synchronous step through all of them. If a middleware
 * goes on later, other requests come in between: state that is used on its near side and again on its far side would be torn, as in
 * `req.seen = hits; next()` and `hits = req.seen + 1`.
 */
export function passingFacts(whole: WholeProgram, own: Body): Hazard[] {
  const { passing, touches } = handlersOf(whole);
  const around = [...passing].filter((each) => runs(whole, each, own));
  if (around.length === 0) return [];
  const fails = around.every((each) => isFailing(whole, each));
  for (const before of passing) {
    if (isFailing(whole, before) && !around.includes(before)) continue;
    const used = touches.get(before) ?? [];
    const names = new Set(used.map(({ of }) => of));
    for (const [after, others] of touches) {
      if (after === before || after === own || (fails && after.params.length !== 4)) continue;
      const torn = others.find(({ of }) => names.has(of));
      if (torn !== undefined) return [hazardOf(torn)];
    }
  }
  return [];
}

function hazardOf({ node, module, name }: Touch): Hazard {
  return {
    code: "HW-7011",
    node,
    module,
    reason: `it calls next(), and ${name} is used by handlers before and after that: other requests would come in between`,
    advice: "let one handler use that state, or do the heavy work in the last handler",
  };
}

/** The handlers of Express. */
interface Handlers {
  /** Handlers that may call `next`, themselves or in functions inside of them. */
  readonly passing: ReadonlySet<FunctionNode>;
  /** State that each of them uses. */
  readonly touches: ReadonlyMap<FunctionNode, readonly Touch[]>;
}

const HANDLERS = new WeakMap<WholeProgram, Handlers>();

function handlersOf(whole: WholeProgram): Handlers {
  const known = HANDLERS.get(whole);
  if (known !== undefined) return known;
  const touches = new Map<FunctionNode, readonly Touch[]>();
  for (const { node, ruptures } of whole.listeners.values()) {
    if (ruptures.some(({ door }) => door === "express")) touches.set(node, touchedIn(whole, node));
  }
  const all = passingOn(whole.engine);
  const passing = [...touches.keys()].filter((handler) =>
    functionsIn(whole, handler).some((each) => all.has(each)),
  );
  const found = { passing: new Set(passing), touches };
  HANDLERS.set(whole, found);
  return found;
}

function functionsIn(whole: WholeProgram, handler: FunctionNode): FunctionNode[] {
  return whole.engine.moduleOf(handler).functions.filter((each) => isInside(each, handler));
}

function touchedIn(whole: WholeProgram, handler: FunctionNode): Touch[] {
  return functionsIn(whole, handler).flatMap((each) =>
    stateIn(whole, each, () => true).filter(({ known }) => known),
  );
}

/** Whether it only ever calls `next` with an error, which leads to the error handlers. */
function isFailing(whole: WholeProgram, handler: FunctionNode): boolean {
  const module = whole.engine.moduleOf(handler);
  return functionsIn(whole, handler)
    .flatMap((each) => module.inside(each).names)
    .filter((name) => {
      const variable = module.variable(name);
      return variable && whole.roles.get(variable) === "next";
    })
    .filter((name) => !handler.params.includes(name))
    .every((name) => {
      const call = name.parent;
      if (call?.type !== "CallExpression" || call.callee !== name) return false;
      const given = call.arguments[0];
      return given?.type === "NewExpression" || (given !== undefined && isCaught(module, given));
    });
}

/** `catch (error) { next(error) }` */
function isCaught(module: SourceModule, node: Node): boolean {
  const variable = node.type === "Identifier" ? module.variable(node) : null;
  return variable?.defs.some((def) => (def.node as { type: string }).type === "CatchClause") === true;
}

/** Whether a body is that of a handler, of a function in it, or of one that these call. */
function runs(whole: WholeProgram, handler: FunctionNode, own: Body): boolean {
  return functionsIn(whole, handler).some(
    (each) => each === own || reached(whole.engine, each).some(({ body }) => body === own),
  );
}
