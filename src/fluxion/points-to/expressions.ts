import { MUTATING } from "../callees/index.js";
import {
  type FunctionNode,
  forEachChild,
  isOwnPlace,
  keyOf,
  type Node,
  plain,
  type Variable,
} from "../source/index.js";
import { evaluateCall, evaluateNew, isMissing, loadsLate, moduleNamed } from "./calls.js";
import { takenAlong } from "./data-methods.js";
import type { Engine } from "./engine.js";
import { contentsOf, iterated, memberOf } from "./members.js";
import { bind } from "./patterns.js";
import { passOn } from "./receivers.js";
import {
  type AllocationSite,
  alone,
  type FunctionThing,
  NONE,
  thingsOf,
  union,
  type ValueSet,
} from "./things.js";
import { newTarget, superValue, thisValue } from "./this.js";
import { read } from "./variables.js";

/** What an expression may give; for a statement, looks at what is in it. What is frequent comes first. */
export function evaluate(engine: Engine, node: Node): ValueSet {
  switch (node.type) {
    case "Identifier":
      return read(engine, node);
    case "CallExpression":
      return evaluateCall(engine, node);
    case "MemberExpression":
      return memberValue(engine, node);
    case "Literal":
      return "regex" in node ? alone(engine.site(node, null, /[gy]/.test(node.regex.flags))) : NONE;
    case "ExpressionStatement":
      evaluate(engine, node.expression);
      return NONE;
    case "BlockStatement":
      evaluateAll(engine, node.body);
      return NONE;
    case "VariableDeclaration":
      evaluateAll(engine, node.declarations);
      return NONE;
    case "VariableDeclarator":
      if (node.init !== null) bind(engine, node.id, evaluate(engine, node.init));
      return NONE;
    case "FunctionExpression":
    case "ArrowFunctionExpression":
    case "FunctionDeclaration":
      return functionValue(engine, node);
    case "ThisExpression":
      return thisValue(engine, node);
    case "NewExpression":
      return evaluateNew(engine, node);
    case "AssignmentExpression":
      return assignment(engine, node);
    case "UpdateExpression":
      bind(engine, node.argument, NONE);
      evaluate(engine, node.argument);
      return NONE;
    case "UnaryExpression":
      if (node.operator === "delete" && node.argument.type === "MemberExpression")
        bind(engine, node.argument, NONE);
      evaluate(engine, node.argument);
      return NONE;
    case "BinaryExpression":
      comparison(engine, node);
      return NONE;
    case "TemplateLiteral":
      evaluateAll(engine, node.expressions);
      return NONE;
    case "LogicalExpression": {
      const left = evaluate(engine, node.left);
      const right = evaluate(engine, node.right);
      return node.operator === "&&" ? right : either(left, right); // no object is false
    }
    case "ConditionalExpression":
      evaluate(engine, node.test);
      return either(evaluate(engine, node.consequent), evaluate(engine, node.alternate));
    case "SequenceExpression":
      return node.expressions.map((each) => evaluate(engine, each)).at(-1) ?? NONE;
    case "AwaitExpression":
      engine.current.waits = true;
      return awaited(engine, evaluate(engine, node.argument));
    case "YieldExpression":
      if (node.argument !== null) yielded(engine, node, node.argument);
      return alone(engine.data("unknown"));
    case "ObjectExpression":
      return objectValue(engine, node);
    case "ArrayExpression":
      return arrayValue(engine, node);
    case "SpreadElement":
      return iterated(engine, evaluate(engine, node.argument), node.argument);
    case "TaggedTemplateExpression":
      return tagged(engine, node);
    case "ClassDeclaration":
    case "ClassExpression":
      return classValue(engine, node);
    case "ImportExpression":
      return imported(engine, node);
    case "MetaProperty":
      if (node.meta.name === "new") return newTarget(engine, node);
      if (isOwnPlace(node)) return NONE;
      engine.fact("HW-7007", node, "it uses import.meta", "read it once in the file and use the value");
      return NONE;
    case "Super":
      return thisValue(engine, node); // what is written to it is written to `this`
    default: {
      const inner = plain(node);
      return inner === node ? statement(engine, node) : evaluate(engine, inner);
    }
  }
}

function evaluateAll(engine: Engine, nodes: readonly Node[]): void {
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    if (node !== undefined) evaluate(engine, node);
  }
}

/** A copy of an object of the file is not that object. */
function comparison(engine: Engine, node: Node & { type: "BinaryExpression" }): void {
  const left = evaluate(engine, node.left);
  const right = evaluate(engine, node.right);
  if (left.size === 0 || right.size === 0 || !/^[!=]==?$/.test(node.operator)) return;
  if ((isCopy(left) && isOfFile(right)) || (isCopy(right) && isOfFile(left))) {
    const reason =
      "it asks whether something that it was given is the same object as one of the file, and a copy is not";
    engine.fact("HW-7005", node, reason, "compare a name or a number in it");
  }
}

function isCopy(value: ValueSet): boolean {
  return thingsOf(value).some(
    (each) => each.kind === "data" && (each.owner === "input" || each.owner === "given"),
  );
}

function isOfFile(value: ValueSet): boolean {
  return thingsOf(value).some(
    (each) => (each.kind === "site" && each.shared) || (each.kind === "data" && each.owner === "loaded"),
  );
}

function statement(engine: Engine, node: Node): ValueSet {
  switch (node.type) {
    case "ReturnStatement":
      if (node.argument !== null) engine.giveBack(engine.current.body, evaluate(engine, node.argument));
      return NONE;
    case "ForOfStatement":
    case "ForInStatement": {
      engine.current.busy = true;
      if (node.type === "ForOfStatement" && node.await) engine.current.waits = true;
      const over = evaluate(engine, node.right);
      const each = node.type === "ForOfStatement" ? iterated(engine, over, node.right) : NONE;
      const { left } = node;
      if (left.type === "VariableDeclaration") {
        for (const { id } of left.declarations) bind(engine, id, each);
      } else {
        bind(engine, left, each);
      }
      evaluate(engine, node.body);
      return NONE;
    }
    case "ForStatement":
    case "WhileStatement":
    case "DoWhileStatement":
      engine.current.busy = true;
      break;
    case "ThrowStatement":
      // A catch clause, here or elsewhere, has it under another name.
      passOn(engine, evaluate(engine, node.argument), node, "throws");
      return NONE;
    case "CatchClause":
      if (node.param !== null) bind(engine, node.param, alone(engine.data("given", node)));
      evaluate(engine, node.body);
      return NONE;
    case "WithStatement":
      engine.fact("HW-7007", node, "it uses `with`", "name the object");
      break;
    case "ImportDeclaration":
      importNames(engine, node);
      return NONE;
    case "ExportNamedDeclaration":
      exportNames(engine, node);
      return NONE;
    case "ExportDefaultDeclaration":
      engine.put(engine.namespace(engine.module), "default", evaluate(engine, node.declaration));
      return NONE;
    case "Property":
    case "TemplateElement":
    case "PrivateIdentifier":
      return NONE;
    default:
      if (node.type.startsWith("TS")) return NONE;
  }
  forEachChild(node, evaluateChild, engine);
  return NONE;
}

function evaluateChild(node: Node, engine: Engine): void {
  evaluate(engine, node);
}

/** A promise stands for what it resolves to. */
function awaited(engine: Engine, value: ValueSet): ValueSet {
  const promises = thingsOf(value).filter(
    (each) => each.kind === "site" && each.madeBy === null && /^(Call|New)Expression$/.test(each.node.type),
  );
  return promises.length === 0 ? value : union(value, contentsOf(engine, new Set(promises)));
}

function yielded(engine: Engine, node: Node & { type: "YieldExpression" }, argument: Node): void {
  const value = evaluate(engine, argument);
  engine.giveBack(engine.current.body, node.delegate ? iterated(engine, value, argument) : value);
}

function either(a: ValueSet, b: ValueSet): ValueSet {
  return a.size === 0 ? b : b.size === 0 ? a : union(a, b);
}

function functionValue(engine: Engine, node: FunctionNode): ValueSet {
  const made: ValueSet = alone(engine.function(node));
  if (node.id) {
    const variable = engine.module.variable(node.id);
    if (variable) engine.assign(variable, made);
    if (variable && engine.module.blockFunctions.has(variable.name)) assignOutside(engine, variable, made);
  }
  return made;
}

/** A function of a block is given to the variable of that name around the block, too, when the block runs. */
function assignOutside(engine: Engine, { name, scope }: Variable, made: ValueSet): void {
  const { variableScope } = scope;
  for (let outer = scope.upper; outer && scope !== variableScope; outer = outer.upper) {
    const variable = outer.set.get(name);
    if (variable) engine.assign(variable, made);
    if (outer === variableScope) return;
  }
}

function memberValue(engine: Engine, node: Node & { type: "MemberExpression" }): ValueSet {
  if (node.object.type === "Super") return superValue(engine, node);
  const object = evaluate(engine, node.object);
  if (node.computed) evaluate(engine, node.property);
  const key = keyOf(node, node.property);
  if (key !== null && MUTATING.has(key)) takenAlong(engine, object, key, node);
  return memberOf(engine, object, key, node);
}

function assignment(engine: Engine, node: Node & { type: "AssignmentExpression" }): ValueSet {
  const right = evaluate(engine, node.right);
  const keeps = node.operator === "=" || /^(\?\?|\|\||&&)=$/.test(node.operator);
  const value = keeps ? right : NONE;
  let before: ValueSet = NONE;
  if (node.operator !== "=" && node.left.type !== "ObjectPattern" && node.left.type !== "ArrayPattern") {
    before = evaluate(engine, node.left);
  }
  bind(engine, node.left, value);
  return keeps ? either(before, value) : NONE;
}

function objectValue(engine: Engine, node: Node & { type: "ObjectExpression" }): ValueSet {
  const site = engine.site(node);
  for (const property of node.properties) {
    if (property.type === "SpreadElement") {
      engine.put(site, null, evaluate(engine, property));
      continue;
    }
    if (property.computed) evaluate(engine, property.key);
    const value = evaluate(engine, property.value);
    const key = keyOf(property, property.key);
    engine.put(site, key, value);
    if (property.kind !== "init") {
      for (const each of thingsOf(value)) if (each.kind === "function") accessor(engine, site, key, each);
      engine.fact("HW-7006", property, "it makes an object with a getter or a setter", "use a plain field");
    }
  }
  return alone(site);
}

/** Getters give what is behind the key, and setters are given it. */
export function accessor(
  engine: Engine,
  of: AllocationSite,
  key: string | null,
  { node }: FunctionThing,
): void {
  const held = key === null ? engine.inside(of).rest : (engine.inside(of).fields.get(key) ?? NONE);
  engine.give(node, [union(held)], alone(of));
  engine.put(of, key, engine.returned(node));
}

function arrayValue(engine: Engine, node: Node & { type: "ArrayExpression" }): ValueSet {
  const site = engine.site(node);
  for (const element of node.elements)
    if (element !== null) engine.put(site, null, evaluate(engine, element));
  return alone(site);
}

function tagged(engine: Engine, node: Node & { type: "TaggedTemplateExpression" }): ValueSet {
  const values = node.quasi.expressions.map((each) => evaluate(engine, each));
  const tags = evaluate(engine, node.tag);
  const results: ValueSet[] = [];
  for (const tag of tags) {
    if (tag.kind === "function") results.push(engine.call(tag.node, node, [NONE, ...values], NONE));
    else if (tag.kind !== "builtin" || tag.path !== "String.raw") {
      engine.unknown(node, "nothing is known of the template's tag", "use a function of the program");
      for (const each of values) engine.escape(each, node);
    }
  }
  return results.reduce(either, NONE);
}

function classValue(engine: Engine, node: Node & { type: "ClassDeclaration" | "ClassExpression" }): ValueSet {
  const made = engine.class(node);
  if (node.superClass !== null) evaluate(engine, node.superClass);
  if (node.id !== null) {
    const variable = engine.module.variable(node.id);
    if (variable) engine.assign(variable, alone(made));
  }
  for (const member of node.body.body) {
    if ("computed" in member && member.computed) evaluate(engine, member.key);
    if (member.type === "PropertyDefinition" && member.static && member.value !== null)
      engine.put(made, keyOf(member, member.key), evaluate(engine, member.value));
    if (member.type === "StaticBlock") {
      engine.fact("HW-7007", member, "its class has a static block", "use static fields");
      evaluateAll(engine, member.body);
    }
  }
  return alone(made);
}

function imported(engine: Engine, node: Node & { type: "ImportExpression" }): ValueSet {
  const { source } = node;
  if (source.type === "Literal" && typeof source.value === "string") {
    if (isMissing(engine, source.value)) loadsLate(engine, node);
    return moduleNamed(engine, source.value);
  }
  engine.unknown(node, "what it imports is only known when it runs", "import it by its name");
  return alone(engine.data("unknown"));
}

function importNames(engine: Engine, node: Node & { type: "ImportDeclaration" }): void {
  if (node.importKind === "type") return;
  const all = moduleNamed(engine, node.source.value);
  for (const specifier of node.specifiers) {
    const variable = engine.module.variable(specifier.local);
    if (!variable) continue;
    if (specifier.type === "ImportNamespaceSpecifier") {
      engine.assign(variable, all);
    } else {
      const name = specifier.type === "ImportDefaultSpecifier" ? "default" : nameOf(specifier.imported);
      engine.assign(variable, memberOf(engine, all, name, specifier));
    }
  }
}

function exportNames(engine: Engine, node: Node & { type: "ExportNamedDeclaration" }): void {
  const namespace = engine.namespace(engine.module);
  if (node.declaration) {
    evaluate(engine, node.declaration);
    const names =
      node.declaration.type === "VariableDeclaration"
        ? node.declaration.declarations.map(({ id }) => id)
        : [(node.declaration as { id?: Node | null }).id];
    for (const id of names) {
      const variable = id && engine.module.variable(id);
      if (id?.type === "Identifier" && variable) engine.put(namespace, id.name, engine.of(variable));
    }
  }
  for (const specifier of node.specifiers) {
    const from =
      node.source === null
        ? evaluate(engine, specifier.local)
        : memberOf(engine, moduleNamed(engine, node.source.value), nameOf(specifier.local), specifier);
    engine.put(namespace, nameOf(specifier.exported), from);
  }
}

export function nameOf(node: Node): string {
  return node.type === "Identifier" ? node.name : node.type === "Literal" ? String(node.value) : "";
}
