import {
  type Body,
  type BodyFacts,
  type Engine,
  evaluate,
  type Hazard,
  isOfFile,
} from "../../points-to/index.js";
import {
  around,
  type CallExpression,
  isFunction,
  keyOf,
  type Node,
  plain,
  walk,
  written,
} from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";

/**
 * Promises that are not awaited. A stage is over when it returns; what it has begun by then and does not wait for would go on
 * in the worker, where it can have no effect any more, and an error of it would end the thread instead of the process.
 */
export function unawaitedFacts(engine: Engine, bodies: readonly BodyFacts[]): Hazard[] {
  const giving = givingPromises(engine, bodies);
  const hasEffectsInside = bodies.slice(1).some(({ effects }) => effects.length > 0);
  return bodies.flatMap((facts) =>
    promisesIn(engine, facts, giving).flatMap((node): Hazard[] => {
      const leaves = hasEffectsInside && leavesOthers(node);
      if (isAwaited(node) && !leaves) return [];
      const reason = leaves
        ? "it waits for the first of several promises, and the others may go on when the stage has ended"
        : "the promise that is made here is not awaited, and it may go on when the stage has ended";
      const advice = "`await` it, or return it";
      return [{ code: "HW-7010", node, module: facts.module, reason, advice }];
    }),
  );
}

/**
 * Does a call leave a promise alone? If it fails, that ends the process, whatever else is under way; so only what is caught
 * may be begun before something that is done elsewhere.
 */
export function isLeftAlone(
  whole: WholeProgram,
  facts: BodyFacts,
  act: CallExpression,
  chain: Node,
): boolean {
  const all = [...whole.engine.bodies.values()];
  const giving = GIVING.get(whole) ?? givingPromises(whole.engine, all);
  GIVING.set(whole, giving);
  if (!isPromise(whole.engine, facts, act, giving) || isAwaited(chain)) return false;
  if (isOfOutside(whole, facts, chain)) return false;
  const callee = chain.type === "CallExpression" ? plain(chain.callee) : null;
  return callee?.type !== "MemberExpression" || keyOf(callee, callee.property) !== "catch";
}

/** `fs.promises.readFile(…).then(…)`: what follows comes whenever the outside is ready. */
function isOfOutside({ engine, knowledge }: WholeProgram, { body }: BodyFacts, chain: Node): boolean {
  let root = chain;
  for (;;) {
    const callee = root.type === "CallExpression" ? plain(root.callee) : null;
    if (callee?.type !== "MemberExpression" || !CHAINING.test(keyOf(callee, callee.property) ?? "")) break;
    root = plain(callee.object);
  }
  if (root.type !== "CallExpression") return false;
  const { callee } = root;
  return [...engine.at(body, () => evaluate(engine, callee))].some((thing) => {
    if (thing.kind === "builtin") return thing.path === "fetch";
    if (thing.kind !== "library") return false;
    return (
      knowledge.says("post", thing.library, thing.path) || knowledge.says("later", thing.library, thing.path)
    );
  });
}

const GIVING = new WeakMap<WholeProgram, Set<Body>>();

const CHAINING = /^(then|catch|finally)$/;

/** Functions that are not asynchronous themselves, but give back a promise that they have made. */
function givingPromises(engine: Engine, bodies: readonly BodyFacts[]): Set<Body> {
  const giving = new Set<Body>();
  for (let before = -1; before < giving.size; ) {
    before = giving.size;
    for (const facts of bodies) {
      if (giving.has(facts.body)) continue;
      if (promisesIn(engine, facts, giving).some((node) => isReturned(node))) giving.add(facts.body);
    }
  }
  return giving;
}

/** Where a body makes a promise, or gets one from a function of the program. */
function promisesIn(engine: Engine, facts: BodyFacts, giving: ReadonlySet<Body>): Node[] {
  const { body } = facts;
  const found: Node[] = [];
  walk(body, (node) => {
    if (node !== body && isFunction(node)) return false;
    if (isPromise(engine, facts, node, giving)) found.push(node);
    return undefined;
  });
  return found;
}

function isPromise(engine: Engine, facts: BodyFacts, node: Node, giving: ReadonlySet<Body>): boolean {
  if (node.type === "ImportExpression") return true;
  if (node.type === "NewExpression") return written(node.callee) === "Promise";
  if (node.type !== "CallExpression") return false;
  const callee = plain(node.callee);
  if (callee.type === "MemberExpression") {
    if (CHAINING.test(keyOf(callee, callee.property) ?? "")) return true;
    if (callee.object.type === "Identifier" && callee.object.name === "Promise") return true;
  }
  const targets = [...(facts.calls.get(node) ?? [])];
  if (targets.some((each) => (each.async && !each.generator) || giving.has(each))) return true;
  return isOfLibrary(engine, facts, callee) && !node.arguments.some((each) => isFunction(plain(each)));
}

/** `bcrypt.hash(…)`: a function of a library that goes on later by itself. */
function isOfLibrary(engine: Engine, { body, module }: BodyFacts, callee: Node): boolean {
  let root = callee;
  while (root.type === "MemberExpression") root = plain(root.object);
  const variable = root.type === "Identifier" ? module.variable(root) : null;
  if (!variable || !isOfFile(variable)) return false;
  return [...engine.at(body, () => evaluate(engine, callee))].some(
    (thing) => thing.kind === "library" && engine.options.knowledge.says("later", thing.library, thing.path),
  );
}

/** Does the function that a promise is made in wait for it, or hand it on to its caller? */
export function isAwaited(node: Node): boolean {
  const outer = around(node);
  switch (outer?.type) {
    case "AwaitExpression":
    case "ReturnStatement":
      return true;
    case "ArrowFunctionExpression":
      return plain(outer.body) === plain(node);
    case "ConditionalExpression":
    case "LogicalExpression":
    case "SpreadElement":
    case "ArrayExpression":
      return isAwaited(outer);
    case "VariableDeclarator":
      return isAwaitedLater(outer);
    case "CallExpression":
      return (
        outer.callee !== node && /^Promise\.(all|allSettled|any|race|resolve)$/.test(written(outer.callee))
      );
    case "MemberExpression":
      return (
        CHAINING.test(keyOf(outer, outer.property) ?? "") &&
        around(outer)?.type === "CallExpression" &&
        plain(outer.object) === plain(node)
      );
    default:
      return false;
  }
}

/** `const page = render(x); …; await page;`: waited for by one of the statements that surely follow. */
function isAwaitedLater({ id, parent }: Node & { type: "VariableDeclarator" }): boolean {
  const declaration = parent;
  const block = declaration?.parent;
  if (declaration?.type !== "VariableDeclaration" || declaration.kind !== "const") return false;
  if (id.type !== "Identifier" || (block?.type !== "BlockStatement" && block?.type !== "Program"))
    return false;
  const body: readonly Node[] = block.body;
  for (const statement of body.slice(body.indexOf(declaration) + 1)) {
    let [isThere, leaves] = [
      false,
      !/^(Expression|Return)Statement$|^VariableDeclaration$/.test(statement.type),
    ];
    walk(statement, (node) => {
      if (isFunction(node)) return false;
      isThere ||= node.type === "AwaitExpression" && written(node.argument) === id.name;
      leaves ||= /^(Conditional|Logical|Yield)Expression$/.test(node.type);
      return undefined;
    });
    if (isThere || leaves) return isThere && !leaves;
    if (statement.type === "ReturnStatement") return false;
  }
  return false;
}

function isReturned(node: Node): boolean {
  const outer = around(node);
  if (outer?.type === "ReturnStatement") return true;
  if (outer?.type === "ArrowFunctionExpression") return plain(outer.body) === plain(node);
  return /^(Conditional|Logical)Expression$/.test(outer?.type ?? "") && outer !== null && isReturned(outer);
}

/** `Promise.all` and the like are over when one has failed or is there; the others go on. */
function leavesOthers(node: Node): boolean {
  return node.type === "CallExpression" && /^Promise\.(all|any|race)$/.test(written(node.callee));
}
