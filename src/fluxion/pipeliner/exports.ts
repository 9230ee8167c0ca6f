import type { SourceModule } from "../source/module.js";
import { keyOf, type Node, plain } from "../source/syntax.js";
import { nameOf } from "../values/expressions.js";

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
  const isExports = (each: Node) =>
    (each.type === "Identifier" && each.name === "exports") ||
    (each.type === "MemberExpression" && isModule(each.object) && keyOf(each, each.property) === "exports");
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

function isModule(node: Node): boolean {
  return node.type === "Identifier" && node.name === "module";
}
