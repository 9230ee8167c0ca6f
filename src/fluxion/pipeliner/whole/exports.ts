import { nameOf } from "../../points-to/index.js";
import { keyOf, type Node, plain, type SourceModule, written } from "../../source/index.js";

/** What a file exports under which name: the expression, or the name of the variable. `null` is `module.exports = …`. */
export function exportsOf(module: SourceModule): Map<string | null, Node> {
  const found = new Map<string | null, Node>();
  for (const statement of module.syntax.body) {
    switch (statement.type) {
      case "ExportNamedDeclaration":
        if (statement.source !== null) break;
        for (const id of declaredBy(statement.declaration))
          if (id.type === "Identifier") found.set(id.name, id);
        for (const { local, exported } of statement.specifiers) found.set(nameOf(exported), local);
        break;
      case "ExportDefaultDeclaration":
        found.set("default", (statement.declaration as { id?: Node | null }).id ?? statement.declaration);
        break;
      case "ExpressionStatement":
        commonjs(plain(statement.expression), found);
        break;
      default:
    }
  }
  return found;
}

function declaredBy(declaration: Node | null): Node[] {
  if (declaration?.type === "VariableDeclaration") return declaration.declarations.map(({ id }) => id);
  const id = (declaration as { id?: Node | null } | null)?.id;
  return id ? [id] : [];
}

function commonjs(node: Node, found: Map<string | null, Node>): void {
  if (node.type !== "AssignmentExpression" || node.operator !== "=" || node.left.type !== "MemberExpression")
    return;
  const { left } = node;
  const key = keyOf(left, left.property);
  const right = plain(node.right);
  if (isModule(left.object) && key === "exports") {
    found.set(null, right);
    if (right.type !== "ObjectExpression") return;
    for (const property of right.properties) {
      const name = property.type === "Property" ? keyOf(property, property.key) : null;
      if (name !== null && property.type === "Property" && !property.method) found.set(name, property.value);
    }
  } else if (isExports(left.object) && key !== null && !key.startsWith("@@")) {
    found.set(key, right);
  }
}

function isExports(node: Node): boolean {
  return (
    (node.type === "Identifier" && node.name === "exports") ||
    (node.type === "MemberExpression" && isModule(node.object) && keyOf(node, node.property) === "exports")
  );
}

function isModule(node: Node): boolean {
  return node.type === "Identifier" && node.name === "module";
}

const UNCLEAR = new WeakMap<SourceModule, ReadonlySet<string | null>>();

/**
 * Whether something is exported in a place of which it is not clear whether and when it runs: in a condition, a loop or a
 * function, or by other code. Of those at the top level of the file, the last one counts.
 */
export function isUnclear(module: SourceModule, name: string | null): boolean {
  const unclear = UNCLEAR.get(module) ?? unclearIn(module);
  UNCLEAR.set(module, unclear);
  return unclear.has(null) || unclear.has(name) || (name === null && unclear.size > 0);
}

function unclearIn(module: SourceModule): Set<string | null> {
  const found = new Set<string | null>();
  if (module.format !== "commonjs") return found;
  for (const body of module.bodies) {
    const { acts, names } = module.inside(body);
    for (const act of acts) {
      const key = act.type === "AssignmentExpression" ? writtenBy(act) : describedBy(act);
      if (key !== undefined) found.add(key);
    }
    if (names.some(isAlias)) found.add(null);
  }
  return found;
}

/** The name that an assignment exports, if it is not clear when; null for all of them. */
function writtenBy(node: Node & { type: "AssignmentExpression" }): string | null | undefined {
  const { left } = node;
  if (left.type !== "MemberExpression") return undefined;
  const key = keyOf(left, left.property);
  if (isExports(left)) return isPlainStatement(node) ? undefined : null;
  if (!isExports(left.object)) return undefined;
  return key !== null && isPlainStatement(node) ? undefined : key;
}

/** `exports.a = …;`, or one of several in a row: `const a = exports.a = …;`. */
function isPlainStatement(node: Node): boolean {
  let outer = node.parent;
  while (outer && (plain(outer) !== outer || /^AssignmentExpression$|^Variable/.test(outer.type)))
    outer = outer.parent;
  if (outer?.type === "ExpressionStatement") outer = outer.parent;
  return outer?.type === "Program";
}

/** `Object.defineProperty(exports, "a", …)`, or exports that are passed on. */
function describedBy(node: Node & { type: "CallExpression" }): string | null | undefined {
  if (!node.arguments.some(isExports)) return undefined;
  const [, second] = node.arguments;
  if (written(node.callee) === "__exportStar") return undefined; // leaves alone what is there
  if (written(node.callee) !== "Object.defineProperty") return null;
  return second?.type === "Literal" && typeof second.value === "string" ? second.value : null;
}

/** `const self = module.exports;` */
function isAlias(node: Node): boolean {
  const whole = node.parent !== null && node.parent !== undefined && isModule(node) ? node.parent : node;
  const outer = whole.parent;
  return isExports(whole) && outer?.type === "VariableDeclarator" && outer.init === whole;
}
