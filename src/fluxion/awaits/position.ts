import type { WholeProgram } from "../pipeliner/index.js";
import { evaluate, isReassigned } from "../points-to/index.js";
import { type FunctionNode, keyOf, type Node, plain, written } from "../source/index.js";
import { type AwaitRefusal, readBefore, refusals } from "./refusal.js";

/** An `await` and the function that it stands in. */
export interface Standing {
  readonly whole: WholeProgram;
  readonly within: FunctionNode;
  readonly awaiting: Node & { type: "AwaitExpression" };
}

/**
 * Whether an `await` is the first thing that its statement does, each time that the statement is reached: then the whole
 * statement can run afterwards, with the value in its place. Before it may only stand expressions that no other code can change meanwhile.
 */
export function whyNotFirst(standing: Standing, statement: Node): AwaitRefusal | null {
  let found: AwaitRefusal | null = null;
  for (let node: Node = standing.awaiting; node !== statement; ) {
    const outer = node.parent;
    if (!outer) return refusals.inBlock;
    found = step(standing, node, outer) ?? found; // what is further out has to be dealt with first
    node = outer;
  }
  return found;
}

/** What speaks against going out from a node to the one around it. */
function step(standing: Standing, node: Node, outer: Node): AwaitRefusal | null {
  switch (outer.type) {
    case "ExpressionStatement":
    case "ReturnStatement":
    case "ThrowStatement":
    case "ParenthesizedExpression":
    case "ChainExpression":
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
    case "AwaitExpression":
    case "SpreadElement":
    case "UnaryExpression":
      return null;
    case "MemberExpression":
      return node === outer.object ? null : before(standing, [outer.object]);
    case "CallExpression":
      if (outer.optional && node !== outer.callee) return refusals.underCondition;
      return given(standing, node, outer.callee, outer.arguments);
    case "NewExpression":
      return given(standing, node, outer.callee, outer.arguments);
    case "BinaryExpression":
      return node === outer.left ? null : before(standing, [outer.left]);
    case "LogicalExpression":
      return node === outer.left ? null : refusals.underCondition;
    case "ConditionalExpression":
    case "IfStatement":
      return node === outer.test ? null : refusals.underCondition;
    case "SwitchStatement":
      return node === outer.discriminant ? null : refusals.underCondition;
    case "SwitchCase":
      return refusals.underCondition;
    case "ForOfStatement":
    case "ForInStatement":
      return node === outer.right ? null : refusals.inLoop;
    case "AssignmentExpression":
      return assigned(standing, node, outer);
    case "VariableDeclarator":
      return node === outer.init ? null : refusals.underCondition;
    case "VariableDeclaration":
      if (/using/.test(outer.kind)) return refusals.using;
      return outer.declarations[0] === node ? null : refusals.severalVariables;
    case "SequenceExpression":
      return before(standing, outer.expressions.slice(0, indexIn(outer.expressions, node)));
    case "ArrayExpression":
      return before(standing, outer.elements.slice(0, indexIn(outer.elements, node)));
    case "ObjectExpression":
      return before(standing, outer.properties.slice(0, indexIn(outer.properties, node)));
    case "Property":
      return node === outer.value && outer.computed ? before(standing, [outer.key]) : null;
    case "TemplateLiteral":
      return texts(outer.expressions.slice(0, indexIn(outer.expressions, node)));
    default:
      return block(outer);
  }
}

function block(outer: Node): AwaitRefusal {
  const around = outer.type === "BlockStatement" ? (outer.parent ?? outer) : outer;
  if (around.type === "TryStatement" || around.type === "CatchClause") return refusals.inTry;
  if (/^(For|While|DoWhile)/.test(around.type)) return refusals.inLoop;
  if (around.type === "IfStatement") return refusals.underCondition;
  return around.type === "BlockStatement" || /Labeled/.test(around.type)
    ? refusals.inBlock
    : readBefore(written(around) === "…" ? "something" : written(around));
}

function given(
  standing: Standing,
  node: Node,
  callee: Node,
  args: readonly (Node | null)[],
): AwaitRefusal | null {
  return node === callee ? null : before(standing, [callee, ...args.slice(0, indexIn(args, node))]);
}

/** Where it goes is found out before the wait, unless it is a variable or a pattern. */
function assigned(
  standing: Standing,
  node: Node,
  { operator, left, right }: Node & { type: "AssignmentExpression" },
): AwaitRefusal | null {
  if (node !== right) return before(standing, [left]);
  if (operator !== "=") return before(standing, [left]);
  const target = plain(left);
  if (target.type !== "MemberExpression") return null;
  return before(standing, target.computed ? [target.object, target.property] : [target.object]);
}

function before(standing: Standing, nodes: readonly (Node | null)[]): AwaitRefusal | null {
  for (const node of nodes) {
    if (node === null || isStill(standing, node)) continue;
    return plain(node).type === "AwaitExpression" ? refusals.twice : readBefore(shown(node));
  }
  return null;
}

/** In a template, what is before is made a text at once. */
function texts(nodes: readonly Node[]): AwaitRefusal | null {
  const found = nodes.find((node) => plain(node).type !== "Literal");
  if (found === undefined) return null;
  return plain(found).type === "AwaitExpression" ? refusals.twice : readBefore(shown(found));
}

function shown(node: Node): string {
  const text = written(node.type === "SpreadElement" ? node.argument : node);
  return text === "…" ? "what stands before it" : text;
}

/** It has no effects, and is the same after the wait. */
function isStill(standing: Standing, node: Node): boolean {
  const inner = plain(node);
  if (inner.type === "Literal") return true;
  if (inner.type === "TemplateLiteral") return inner.expressions.length === 0;
  if (inner.type === "Property") return !inner.computed && !inner.method && isStill(standing, inner.value);
  if (inner.type === "Identifier") return isConstant(standing, inner) || isOfLanguage(standing, inner);
  return inner.type === "MemberExpression" && isOfLanguage(standing, inner);
}

/** A name that means the same before and after, and can be read before: what is declared further down cannot. */
function isConstant(
  { whole, within, awaiting }: Standing,
  node: Node & { type: "Identifier"; name: string },
): boolean {
  const variable = whole.engine.moduleOf(node).variable(node);
  const [definition, ...others] = variable?.defs ?? [];
  if (!variable || definition === undefined || others.length > 0 || isReassigned(variable)) return false;
  const kind = String(definition.type);
  const declared = definition.name as unknown as Node;
  const isInside = variable.scope.variableScope.block === (within as unknown);
  if (kind === "Parameter" || kind === "FunctionName") return true;
  return kind === "Variable" && isInside && declared.start < awaiting.start && isAtOnce(within, declared);
}

/** Declared by a statement of the function's own, which has run when the `await` is reached. */
function isAtOnce(within: FunctionNode, declared: Node): boolean {
  const declaration = declared.parent?.parent;
  return declared.parent?.type === "VariableDeclarator" && declaration?.parent === within.body;
}

/** `JSON.parse`, `String`: unless the program changes the language. */
function isOfLanguage({ whole, within }: Standing, node: Node): boolean {
  const { engine, patched } = whole;
  if (patched !== null) return false;
  if (node.type === "MemberExpression" && keyOf(node, node.property) === null) return false;
  const things = [...engine.at(within, () => evaluate(engine, node))];
  return (
    things.length > 0 &&
    things.every((thing) => thing.kind === "builtin" && !/^(process|console|globalThis)\b/.test(thing.path))
  );
}

function indexIn(nodes: readonly (Node | null)[], node: Node): number {
  return nodes.indexOf(node);
}
