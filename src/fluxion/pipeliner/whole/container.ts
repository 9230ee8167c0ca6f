import { alone, type Body, bind, type Engine, type Thing } from "../../points-to/index.js";
import { type FunctionNode, isFunction, type Node } from "../../source/index.js";
import { engineFor, type Listener, roleOf, type WholeProgram } from "./whole.js";

/** A function with calls that might go: a listener, or any asynchronous function. */
export interface Container {
  readonly node: Body;
  readonly listener: Listener | null;
  readonly engine: Engine;
}

export function containerOf(
  whole: WholeProgram,
  node: Body,
  listener: Listener | null,
  looked: ReadonlyMap<Body, Engine>,
): Container {
  const known = looked.get(node);
  if (known !== undefined) return { node, listener, engine: known };
  const engine = engineFor(whole, node);
  engine.enter(node);
  if (isFunction(node)) for (const parameter of node.params) giveInput(whole, engine, node, parameter);
  engine.run();
  return { node, listener, engine };
}

function giveInput(whole: WholeProgram, engine: Engine, node: FunctionNode, parameter: Node): void {
  const variable = parameter.type === "Identifier" ? engine.moduleOf(node).variable(parameter) : null;
  if (variable && whole.roles.has(variable)) return;
  const type = (parameter as { typeAnnotation?: { typeAnnotation?: Node } | null }).typeAnnotation
    ?.typeAnnotation;
  const isPrimitive = type !== undefined && /^TS(String|Number|Boolean|BigInt)Keyword$/.test(type.type);
  if (isPrimitive) return;
  const given: Thing = roleOf(whole, engine, parameter) ?? engine.data("input", parameter);
  engine.at(node, () => bind(engine, parameter, alone(given)));
}

/** Functions that are not listeners, but may wait: an `await` in them changes nothing for other code. */
export function isAsyncFunction(node: Node): node is FunctionNode {
  return isFunction(node) && node.async && !node.generator;
}
