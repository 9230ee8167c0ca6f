import { type FunctionNode, keyOf, type Node, plain } from "../source/index.js";
import type { Engine } from "./engine.js";
import { thingsOf, type ValueSet } from "./things.js";
import { isReassigned } from "./variables.js";

/**
 * `doc.on("data", (chunk) => chunks.push(chunk)); doc.on("end", () => resolve(Buffer.concat(chunks)))`: listeners of an object that is made
 * by the stage itself run later, perhaps when the stage has ended, and what they throw ends the thread. So they may only gather
 * what they are given, and settle a promise.
 */
export function listens(engine: Engine, name: string, [, listener]: readonly ValueSet[], node: Node): void {
  const isGathering = [...thingsOf(listener ?? new Set())].every(
    (each) => each.kind === "resolver" || (each.kind === "function" && gathers(engine, each.node)),
  );
  if (isGathering) return;
  const reason = `it calls ${name}, and what the listener does comes later`;
  engine.fact("HW-7009", node, reason, "let listeners only push to a list, and resolve a promise with it");
}

function gathers(engine: Engine, { async, generator, params, body }: FunctionNode): boolean {
  if (async || generator || body === null || !params.every(({ type }) => type === "Identifier")) return false;
  const act = onlyAct(body);
  if (act?.type !== "CallExpression" || act.optional) return false;
  const callee = plain(act.callee);
  if (callee.type === "Identifier") {
    const variable = engine.moduleOf(callee).variable(callee);
    const settled = variable ? thingsOf(engine.of(variable)) : [];
    return (
      settled.length > 0 &&
      settled.every(({ kind }) => kind === "resolver") &&
      act.arguments.every((each) => isGathered(engine, each))
    );
  }
  return (
    callee.type === "MemberExpression" &&
    keyOf(callee, callee.property) === "push" &&
    isList(engine, callee.object) &&
    act.arguments.every(({ type }) => type === "Identifier")
  );
}

function onlyAct(body: Node): Node | null {
  if (body.type !== "BlockStatement") return plain(body);
  const [statement, ...others] = body.body;
  if (others.length > 0 || statement?.type !== "ExpressionStatement") return null;
  return plain(statement.expression);
}

/** A text that is written there, the list, or all of it together. */
function isGathered(engine: Engine, node: Node): boolean {
  const value = plain(node);
  if (value.type === "Literal" || value.type === "Identifier") return true;
  if (value.type !== "CallExpression") return false;
  const callee = plain(value.callee);
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return false;
  const [list, ...others] = value.arguments;
  const isOfBuffer =
    callee.object.name === "Buffer" && engine.moduleOf(callee).variable(callee.object) === null;
  return isOfBuffer &&
    keyOf(callee, callee.property) === "concat" &&
    list !== undefined &&
    others.length === 0
    ? isList(engine, list)
    : false;
}

/** `const chunks = [];` */
function isList(engine: Engine, node: Node): boolean {
  const name = plain(node);
  const variable = name.type === "Identifier" ? engine.moduleOf(name).variable(name) : null;
  const declared = variable?.defs[0]?.node as unknown as Node | undefined;
  if (variable?.defs.length !== 1 || isReassigned(variable)) return false;
  return declared?.type === "VariableDeclarator" && declared.init?.type === "ArrayExpression";
}
