import type { ArrowFunctionExpression, Expression, Function as FunctionSyntax, Node } from "oxc-parser";
import { importPackage } from "../../packages.js";

export const { parseSync, visitorKeys } = await importPackage(() => import("oxc-parser"));

export type {
  CallExpression,
  Expression,
  Node,
  Program as ProgramSyntax,
} from "oxc-parser";

const NO_KEYS: readonly string[] = [];

export type FunctionNode = FunctionSyntax | ArrowFunctionExpression;

export function isFunction(node: Node | null | undefined): node is FunctionNode {
  if (node === null || node === undefined) return false;
  const { type } = node;
  return (
    type === "FunctionExpression" || type === "ArrowFunctionExpression" || type === "FunctionDeclaration"
  );
}

/**
 * The nodes directly below one, in the order of the text. What `visit` needs to know is passed along: there are very many
 * nodes, and a compiler mostly runs once, before Node has optimised anything.
 */
export function forEachChild<Known>(
  node: Node,
  visit: (child: Node, known: Known, parent: Node) => void,
  known: Known,
): void {
  const keys = visitorKeys[node.type] ?? NO_KEYS;
  for (let i = 0; i < keys.length; i++) {
    const value = (node as unknown as Record<string, unknown>)[keys[i] ?? ""];
    if (value === null || typeof value !== "object") continue;
    if (Array.isArray(value)) {
      for (let j = 0; j < value.length; j++) {
        const each: unknown = value[j];
        if (each !== null && typeof each === "object") visit(each as Node, known, node);
      }
    } else {
      visit(value as Node, known, node);
    }
  }
}

/** Every node below one, in the order of the text; `enter` returns false to leave out what is below a node. */
export function walk(node: Node, enter: (node: Node) => boolean | undefined): void {
  if (enter(node) === false) return;
  forEachChild(node, walk, enter);
}

/** What an expression is without parentheses and words about types. */
export function plain(node: Expression | Node): Node {
  let inner: Node = node;
  for (;;) {
    switch (inner.type) {
      case "ParenthesizedExpression":
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "TSNonNullExpression":
      case "TSTypeAssertion":
      case "TSInstantiationExpression":
      case "ChainExpression":
        inner = inner.expression;
        break;
      default:
        return inner;
    }
  }
}

/** The node around one, apart from parentheses and words about types. */
export function around(node: Node): Node | null {
  let outer = node.parent ?? null;
  while (outer !== null && plain(outer) !== outer) outer = outer.parent ?? null;
  return outer;
}

export function enclosingFunction(node: Node): FunctionNode | null {
  for (let outer = node.parent; outer; outer = outer.parent) if (isFunction(outer)) return outer;
  return null;
}

export function isInside(node: Node, outer: Node): boolean {
  return node.start >= outer.start && node.end <= outer.end;
}

/** The name of a property as it is written, if it is: `a.b`, `a["b"]`, `{ b }`; `@@b` for `a[Symbol.b]`. */
export function keyOf(node: { computed: boolean }, key: Node): string | null {
  if (!node.computed && key.type === "Identifier") return key.name;
  if (key.type === "PrivateIdentifier") return `#${key.name}`;
  if (key.type === "Literal" && (typeof key.value === "string" || typeof key.value === "number")) {
    return String(key.value);
  }
  const isSymbol =
    key.type === "MemberExpression" && key.object.type === "Identifier" && key.object.name === "Symbol";
  return isSymbol && key.property.type === "Identifier" && !key.computed ? `@@${key.property.name}` : null;
}

/** The `import.meta` of `import.meta.url` and the like: where a file lies. */
export function isOwnPlace({ parent }: Node & { type: "MetaProperty" }): boolean {
  if (parent?.type !== "MemberExpression") return false;
  return /^(url|filename|dirname)$/.test(keyOf(parent, parent.property) ?? "");
}

/** `require("x")` with a text that is written there. */
export function requiredBy(node: Node): string | null {
  const call = plain(node);
  if (call.type !== "CallExpression" || call.callee.type !== "Identifier" || call.callee.name !== "require") {
    return null;
  }
  const [first] = call.arguments;
  return first?.type === "Literal" && typeof first.value === "string" ? first.value : null;
}

/** `a.b.c` as it is written, for people. */
export function written(node: Node): string {
  const inner = plain(node);
  switch (inner.type) {
    case "Identifier":
      return inner.name;
    case "ThisExpression":
      return "this";
    case "MemberExpression": {
      const key = keyOf(inner, inner.property);
      return key === null ? `${written(inner.object)}[…]` : `${written(inner.object)}.${key}`;
    }
    case "CallExpression": {
      const specifier = requiredBy(inner);
      return specifier === null ? `${written(inner.callee)}()` : `require("${specifier}")`;
    }
    case "NewExpression":
      return `new ${written(inner.callee)}()`;
    case "Literal":
      return JSON.stringify(inner.value);
    default:
      return "…";
  }
}
