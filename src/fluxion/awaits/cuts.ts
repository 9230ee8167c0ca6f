import type { WholeProgram } from "../pipeliner/index.js";
import { isReassigned } from "../points-to/index.js";
import {
  type FunctionNode,
  isFunction,
  isInside,
  type Node,
  plain,
  type SourceModule,
  type Variable,
  walk,
} from "../source/index.js";
import { KnownCalls, type Promised, waitingIn } from "./known.js";
import { whyNotFirst } from "./position.js";
import { type AwaitRefusal, belongsToCall, refusals, usedBefore } from "./refusal.js";

type Awaiting = Node & { type: "AwaitExpression" };

/** An `await` at which a function is cut in two: what follows becomes a continuation. */
export interface AwaitCut {
  readonly within: FunctionNode;
  readonly body: Node;
  readonly statement: Node;
  readonly awaiting: Awaiting;
  readonly promised: Promised;
  /** The parameter of the continuation: a variable or pattern, a name that stands for the value, or nothing. */
  readonly takes:
    | { readonly kind: "pattern"; readonly pattern: Node }
    | { readonly kind: "value" }
    | { readonly kind: "nothing" };
}

/** An `await` of a known asynchronous call that stays where it is. */
export interface Uncut extends AwaitRefusal {
  readonly awaiting: Awaiting;
}

export interface Cuts {
  readonly cuts: readonly AwaitCut[];
  readonly uncut: readonly Uncut[];
}

/**
 * `A; const x = await E; B` in an asynchronous function does the same as `A; return E.then(async function (x) { B })`: it
 * ends as B ends, and rejects as E rejects or as B throws. So what follows is a continuation like any other, if B can
 * be a function of its own. A function that leaves the main loop as a whole is not cut.
 */
export function cutsIn(whole: WholeProgram, module: SourceModule, moved: readonly Node[]): Cuts {
  const cuts: AwaitCut[] = [];
  const uncut: Uncut[] = [];
  const known = new KnownCalls(whole);
  for (const within of waitingIn(module)) {
    if (isFunction(within) && moved.some((part) => isInside(within, part))) continue;
    for (const awaiting of module.inside(within).awaits) {
      const promised = known.promisedBy(awaiting.argument, within);
      if (promised === null) continue;
      const found = look(whole, within, awaiting, promised, cuts);
      if (found === null) continue;
      if ("reason" in found) uncut.push({ awaiting, ...found });
      else cuts.push(found);
    }
  }
  return { cuts, uncut };
}

/** `null` if nothing follows that could be a continuation. */
function look(
  whole: WholeProgram,
  within: Node,
  awaiting: Awaiting,
  promised: Promised,
  others: readonly AwaitCut[],
): AwaitCut | AwaitRefusal | null {
  if (!isFunction(within)) return refusals.topLevel;
  const { body } = within;
  if (body?.type !== "BlockStatement")
    return plain(body ?? within) === awaiting ? null : refusals.noStatements;
  const at = body.body.findIndex((each) => isInside(awaiting, each));
  const statement = body.body[at];
  if (statement === undefined) return refusals.underCondition; // in a parameter's default
  const following = body.body.slice(at + 1).filter(({ type }) => type !== "EmptyStatement");
  const takes = takesOf(whole, statement, awaiting);
  const isLast = following.length === 0 && (takes.kind !== "value" || isReturned(statement, awaiting));
  if (isLast) return null;
  return (
    whyNotFirst({ whole, within, awaiting }, statement) ??
    whyNotWhole(whole, within, statement, takes, following, awaiting) ??
    (others.some((each) => each.statement === statement) ? refusals.twice : null) ?? {
      within,
      body,
      statement,
      awaiting,
      promised,
      takes,
    }
  );
}

function takesOf(whole: WholeProgram, statement: Node, awaiting: Awaiting): AwaitCut["takes"] {
  if (statement.type === "ExpressionStatement" && plain(statement.expression) === awaiting)
    return { kind: "nothing" };
  if (statement.type !== "VariableDeclaration" || statement.declarations.length > 1) return { kind: "value" };
  const [declarator] = statement.declarations;
  if (declarator?.init !== awaiting) return { kind: "value" };
  const variables = namesIn(whole, declarator.id);
  // A parameter can be written, and a function of the same name would take its place.
  const isPlain = variables.every(
    (each) => each.defs.length === 1 && !(statement.kind === "const" && isReassigned(each)),
  );
  return isPlain ? { kind: "pattern", pattern: declarator.id } : { kind: "value" };
}

function namesIn(whole: WholeProgram, pattern: Node): Variable[] {
  const module = whole.engine.moduleOf(pattern);
  const found: Variable[] = [];
  walk(pattern, (node) => {
    const variable = node.type === "Identifier" ? module.variable(node) : null;
    if (variable?.identifiers.some((each) => (each as unknown) === node)) found.push(variable);
    return undefined;
  });
  return found;
}

function isReturned(statement: Node, awaiting: Awaiting): boolean {
  return (
    statement.type === "ReturnStatement" &&
    statement.argument != null &&
    plain(statement.argument) === awaiting
  );
}

/** What keeps a function from being two. */
function whyNotWhole(
  whole: WholeProgram,
  within: FunctionNode,
  statement: Node,
  takes: AwaitCut["takes"],
  following: readonly Node[],
  awaiting: Awaiting,
): AwaitRefusal | null {
  if (within.generator) return refusals.generator;
  const [first] = following;
  const text = first?.type === "ExpressionStatement" ? first.expression : null;
  if (takes.kind !== "value" && text?.type === "Literal" && typeof text.value === "string")
    return refusals.directive;
  return (
    ofWholeFunction(within) ??
    ofCall(takes.kind === "nothing" ? following : [statement, ...following], awaiting.argument) ??
    hoisted(whole, within, statement, awaiting.argument)
  );
}

/** What holds for the function from its beginning to its end. */
function ofWholeFunction(within: FunctionNode): AwaitRefusal | null {
  let found: AwaitRefusal | null = null;
  walk(within, (node) => {
    if (node.type === "Identifier" && node.name === "eval") found ??= refusals.evaluates;
    if (node.type === "WithStatement") found ??= refusals.evaluates;
    return undefined;
  });
  const body = within.body?.type === "BlockStatement" ? within.body.body : [];
  const uses = body.some((each) => each.type === "VariableDeclaration" && /using/.test(each.kind));
  return found ?? (uses ? refusals.using : null) ?? ofCall(body, null, new Set(["arguments"]));
}

/** `this`, `arguments` and private names mean something only inside of the function or class that they are written in. */
function ofCall(
  nodes: readonly Node[],
  except: Node | null,
  only: ReadonlySet<string> | null = null,
): AwaitRefusal | null {
  let found: string | null = null;
  const look = (root: Node, isOwn: boolean, classes: number) =>
    walk(root, (node) => {
      if (node === except) return false;
      if (node !== root && isFunction(node) && node.type !== "ArrowFunctionExpression") {
        look(node, false, classes);
        return false;
      }
      if (node !== root && node.type === "ClassBody") {
        look(node, isOwn, classes + 1);
        return false;
      }
      const name = nameOf(node, isOwn, classes);
      if (name !== null && only?.has(name) !== false) found ??= name;
      return undefined;
    });
  for (const node of nodes) look(node, true, 0);
  return found === null ? null : belongsToCall(found);
}

function nameOf(node: Node, isOwn: boolean, classes: number): string | null {
  if (node.type === "PrivateIdentifier") return classes === 0 ? `#${node.name}` : null;
  if (!isOwn) return null;
  if (node.type === "ThisExpression") return "this";
  if (node.type === "Super") return "super";
  if (node.type === "MetaProperty" && node.meta.name === "new") return "new.target";
  if (node.type !== "Identifier" || node.name !== "arguments") return null;
  return node.parent?.type === "MemberExpression" && node.parent.property === node && !node.parent.computed
    ? null
    : "arguments";
}

/** What is declared after the cut must not be used before it: functions and `var` are there from the beginning. */
function hoisted(
  whole: WholeProgram,
  within: FunctionNode,
  statement: Node,
  awaited: Node,
): AwaitRefusal | null {
  const module = whole.engine.moduleOf(within);
  const isBefore = (node: Node) =>
    isInside(node, awaited) || (isInside(node, within) && node.start < statement.start);
  const inBlocks = new Set<string>();
  walk(within, (node) => {
    if (node !== within && node.type === "FunctionDeclaration" && node.start >= statement.end && node.id)
      inBlocks.add(node.id.name);
    return node === within || !isFunction(node);
  });
  let found: string | null = null;
  walk(within, (node) => {
    if (node.type !== "Identifier" || !isBefore(node)) return undefined;
    const variable = module.variable(node);
    if (variable === null && inBlocks.has(node.name)) found ??= node.name;
    const declared = variable?.defs.map((each) => each.name as unknown as Node) ?? [];
    if ((variable?.scope.variableScope.block as unknown) !== within) return undefined;
    if (declared.some((each) => isInside(each, within) && !isBefore(each))) found ??= node.name;
    return undefined;
  });
  return found === null ? null : usedBefore(found);
}
