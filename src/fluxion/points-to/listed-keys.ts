import {
  around,
  isFunction,
  keyOf,
  type Node,
  plain,
  type SourceModule,
  type Variable,
} from "../source/index.js";
import { isReassigned } from "./variables.js";

type Member = Node & { type: "MemberExpression" };

/**
 * The names that a computed key has, one after the other: `for (const [verb, path, handler] of ROUTES) app[verb](path, handler)`, also
 * with objects and `forEach`. Only if all of them are written in a list of the file that is used for nothing else.
 */
export function listedKeys(module: SourceModule, key: Node): readonly string[] | null {
  const variable = key.type === "Identifier" ? module.variable(key) : null;
  const [definition, ...others] = variable?.defs ?? [];
  if (!variable || definition === undefined || others.length > 0 || isReassigned(variable)) return null;
  const name = definition.name as unknown as Node;
  const pattern = patternAround(name);
  const list = pattern === null ? null : listOf(pattern);
  const rows = list === null ? null : rowsOf(module, list);
  const place = pattern === null ? null : placeIn(pattern, name);
  if (rows === null || place === null) return null;
  const keys = rows.map((row) => textAt(row, place));
  return keys.every((each) => each !== null && each !== "param") ? (keys as string[]) : null;
}

/** The pattern that a variable is declared in. */
function patternAround(name: Node): Node | null {
  const outer = name.parent?.type === "Property" ? name.parent.parent : name.parent;
  return outer?.type === "ArrayPattern" || outer?.type === "ObjectPattern" ? outer : null;
}

/** The list whose items a pattern takes apart. */
function listOf(pattern: Node): Node | null {
  const { parent } = pattern;
  if (parent?.type === "VariableDeclarator" && parent.init === null) {
    const loop = parent.parent?.parent;
    return loop?.type === "ForOfStatement" && loop.left === parent.parent ? plain(loop.right) : null;
  }
  if (!isFunction(parent) || parent.params[0] !== pattern) return null;
  const call = around(parent);
  const callee = call?.type === "CallExpression" && call.arguments[0] === parent ? plain(call.callee) : null;
  if (callee?.type !== "MemberExpression" || keyOf(callee, callee.property) !== "forEach") return null;
  return plain(callee.object);
}

function rowsOf(module: SourceModule, list: Node): readonly Node[] | null {
  const array = list.type === "Identifier" ? constantOf(module.variable(list)) : list;
  if (array?.type !== "ArrayExpression") return null;
  return array.elements.every((each) => each !== null && each.type !== "SpreadElement")
    ? array.elements.map((each) => plain(each as Node))
    : null;
}

/** What a constant holds that is gone through and used for nothing else. */
function constantOf(variable: Variable | null | undefined): Node | null {
  const [definition, ...others] = variable?.defs ?? [];
  const declared = definition?.node as unknown as Node | undefined;
  if (!variable || others.length > 0 || declared?.type !== "VariableDeclarator" || declared.init === null)
    return null;
  if (declared.parent?.parent?.type === "ExportNamedDeclaration") return null;
  const isGoneThrough = variable.references.every(({ identifier, init }) => {
    const use = identifier as unknown as Node;
    const outer = around(use);
    if (init === true) return true;
    if (outer?.type === "ForOfStatement") return plain(outer.right) === use && takesApart(outer.left);
    const call = outer?.type === "MemberExpression" && outer.object === use ? around(outer) : null;
    if (call?.type !== "CallExpression" || keyOf(outer as Member, (outer as Member).property) !== "forEach")
      return false;
    const [given] = call.arguments;
    return (
      isFunction(given) &&
      given.type === "ArrowFunctionExpression" &&
      given.params.length === 1 &&
      isPattern(given.params[0])
    );
  });
  return isGoneThrough ? plain(declared.init) : null;
}

/** Then the items themselves are in no variable, where code could change them. */
function takesApart(left: Node): boolean {
  return left.type === "VariableDeclaration" && left.declarations.every(({ id }) => isPattern(id));
}

function isPattern(node: Node | undefined): boolean {
  return node?.type === "ArrayPattern" || node?.type === "ObjectPattern";
}

/** The number or the name of an item that a pattern takes. */
function placeIn(pattern: Node, name: Node): string | null {
  if (pattern.type === "ArrayPattern") return String(pattern.elements.indexOf(name as never));
  const property = name.parent;
  return property?.type === "Property" ? keyOf(property, property.key) : null;
}

function textAt(row: Node, place: string): string | null {
  if (row.type === "ArrayExpression") {
    if (row.elements.some((each) => each?.type === "SpreadElement")) return null;
    return textOf(row.elements[Number(place)]);
  }
  if (row.type !== "ObjectExpression") return null;
  let found: string | null = null;
  for (const each of row.properties) {
    if (each.type !== "Property" || each.kind !== "init") return null;
    const key = keyOf(each, each.key);
    if (key === null || key === "__proto__") return null;
    if (key === place) found = textOf(each.value);
  }
  return found;
}

function textOf(node: Node | null | undefined): string | null {
  const value = node ? plain(node) : null;
  return value?.type === "Literal" && typeof value.value === "string" ? value.value : null;
}
