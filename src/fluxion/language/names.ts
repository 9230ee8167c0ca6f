import { isFunction, type Node, parseSync, walk } from "../source/index.js";

/** A stream in the code of a fluxion, where the program had a function. */
export const PLACEHOLDER = /(>>|->)\s*([A-Za-z_$][\w$]*)/g;

export interface Bound {
  /** The variables of the program itself. */
  readonly top: ReadonlySet<string>;
  /** With those of functions and blocks. */
  readonly all: ReadonlySet<string>;
}

/** The names that the code of a fluxion declares. */
export function boundIn(code: string): Bound {
  const text = code.replaceAll(PLACEHOLDER, "null");
  // A fluxion other than main is an expression, whose name is local.
  const parsed = parseSync("fluxion.js", text, { sourceType: "commonjs", astType: "ts" });
  const { program } = parsed.errors.length === 0 ? parsed : parseSync("fluxion.js", `(${text})`);
  const top = new Set<string>();
  const all = new Set<string>();
  walk(program, (node) => {
    for (const name of declaredBy(node)) all.add(name);
    return undefined;
  });
  for (const statement of program.body) for (const name of declaredBy(statement)) top.add(name);
  return { top, all };
}

function declaredBy(node: Node): string[] {
  if (node.type === "VariableDeclaration") return node.declarations.flatMap(({ id }) => namesIn(id));
  if (node.type === "CatchClause") return node.param === null ? [] : namesIn(node.param);
  const own = isFunction(node) ? node.params.flatMap((each) => namesIn(each)) : [];
  const isNamed = node.type === "FunctionDeclaration" || node.type === "ClassDeclaration";
  return isNamed && node.id ? [node.id.name, ...own] : own;
}

function namesIn(pattern: Node): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((each) => namesIn(each.type === "Property" ? each.value : each));
    case "ArrayPattern":
      return pattern.elements.flatMap((each) => (each === null ? [] : namesIn(each)));
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    default:
      return [];
  }
}
