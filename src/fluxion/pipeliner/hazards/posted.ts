import { type Body, type Engine, evaluate, type Hazard } from "../../points-to/index.js";
import {
  around,
  type CallExpression,
  type FunctionNode,
  isFunction,
  isInside,
  type Node,
  plain,
  walk,
} from "../../source/index.js";
import type { Container, WholeProgram } from "../whole/index.js";
import { behind, lookedAfter } from "./after-next.js";
import { overtaking } from "./parallel.js";

/**
 * `less.render(text, options, (error, output) => …)`: a heavy call that is a rupture point itself. It can run elsewhere
 * while its continuation stays, as code may not count on when a continuation is called.
 */
export function isPosted(whole: WholeProgram, engine: Engine, within: Body, call: CallExpression): boolean {
  if (!hasContinuation(engine, call)) return false;
  const targets = engine.at(within, () => evaluate(engine, call.callee));
  return (
    targets.size > 0 &&
    [...targets].every(
      (thing) => thing.kind === "library" && whole.knowledge.says("later", thing.library, thing.path),
    )
  );
}

/** Is the call given a function that it surely goes on with? */
export function hasContinuation(engine: Engine, call: CallExpression): boolean {
  return continuationOf(engine, call) !== null;
}

/** The function that the call goes on with, if it surely is one. */
function continuationOf(engine: Engine, call: CallExpression): FunctionNode | null {
  const last = call.arguments.at(-1);
  const given = last === undefined ? null : plain(last);
  if (given === null || call.arguments.some(({ type }) => type === "SpreadElement")) return null;
  if (isFunction(given)) return given;
  const variable = given.type === "Identifier" ? engine.moduleOf(call).variable(given) : null;
  const [definition] = variable?.defs ?? [];
  const node = definition?.node as unknown as Node | undefined;
  return variable?.defs.length === 1 && String(definition?.type) === "FunctionName" && isFunction(node)
    ? node
    : null;
}

const DOORS = new Set(["callback", "express", "http"]);

/** Why others could tell that the continuation comes later than before, or where an error would go that is thrown. */
export function postedFacts(
  whole: WholeProgram,
  { node, listener, engine }: Container,
  call: CallExpression,
): Hazard[] {
  const module = engine.moduleOf(call);
  const fact = (code: Hazard["code"], at: Node, reason: string, advice: string): Hazard => ({
    code,
    node: at,
    module,
    reason,
    advice,
  });
  const doors = new Set(listener?.ruptures.map(({ door }) => door));
  const [door] = doors;
  const isPart = listener?.only === true && doors.size === 1 && DOORS.has(door ?? "");
  if (!isPart || !isFunction(node) || node.async || node.generator || isTried(call, node)) {
    const reason = "what it throws goes to the caller of the function around it, which would not get it";
    return [
      fact("HW-7011", call, reason, "call it in a handler or callback of its own, or `await` its promise"),
    ];
  }
  if (isUsed(call)) {
    return [fact("HW-7011", call, "what it gives back is used", "use what the continuation is given")];
  }
  const after = behind(call);
  if (after !== null) {
    const reason = "the function goes on after the heavy call, whose continuation may come first or later";
    return [fact("HW-7011", after, reason, "let the heavy call be the last thing that the function does")];
  }
  const continuation = continuationOf(engine, call);
  const self = continuation === null ? null : thisIn(continuation);
  if (self !== null) {
    return [fact("HW-7007", self, "the continuation uses `this`, which the call decides", "use a variable")];
  }
  return [
    ...(continuation === null
      ? []
      : overtaking(whole, continuation, receiversOf(whole, engine, continuation))),
    ...(door === "express" ? lookedAfter(whole) : []),
  ];
}

function receiversOf(whole: WholeProgram, engine: Engine, node: FunctionNode) {
  const module = engine.moduleOf(node);
  const used = new Set<NonNullable<ReturnType<typeof module.variable>>>();
  walk(node, (each) => {
    const variable = each.type === "Identifier" ? module.variable(each) : null;
    if (variable && whole.roles.has(variable)) used.add(variable);
    return undefined;
  });
  return used;
}

/** Where a function uses the `this` that its caller gives it. */
function thisIn(node: FunctionNode): Node | null {
  if (node.type === "ArrowFunctionExpression") return null;
  let found: Node | null = null;
  walk(node, (each) => {
    if (each !== node && isFunction(each) && each.type !== "ArrowFunctionExpression") return false;
    if (each.type === "ThisExpression") found ??= each;
    return undefined;
  });
  return found;
}

function isUsed(call: Node): boolean {
  const outer = around(call);
  switch (outer?.type) {
    case "ExpressionStatement":
    case "ReturnStatement":
      return false;
    case "ArrowFunctionExpression":
      return outer.body !== call;
    case "ConditionalExpression":
    case "LogicalExpression":
      return isUsed(outer);
    default:
      return true;
  }
}

function isTried(call: Node, container: Node): boolean {
  for (let inner = call; inner.parent && inner !== container; inner = inner.parent) {
    if (inner.parent.type === "TryStatement" && isInside(call, inner.parent.block)) return true;
  }
  return false;
}
