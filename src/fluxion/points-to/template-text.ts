import { dirname, isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type CallExpression, keyOf, type Node, plain, type SourceModule } from "../source/index.js";
import type { Engine } from "./engine.js";
import { evaluate } from "./expressions.js";
import { isOfFile, isReassigned } from "./variables.js";

/** The text of an expression that is only that: written there, in a constant, or in a file that is read while the program is loaded. */
export function textOf(engine: Engine, module: SourceModule, node: Node): string | null {
  const inner = constantOf(module, node);
  if (inner === null) return null;
  const written = writtenText(inner);
  if (written !== null) return written;
  const path = inner.type === "CallExpression" ? readBy(engine, module, inner) : null;
  return path === null ? null : engine.options.program.textAt(path);
}

/** What a name stands for, if it is given a value once. */
function constantOf(module: SourceModule, node: Node): Node | null {
  const inner = plain(node);
  const variable = inner.type === "Identifier" ? module.variable(inner) : null;
  if (inner.type !== "Identifier") return inner;
  const [definition, ...others] = variable?.defs ?? [];
  const declared = definition?.node as unknown as Node | undefined;
  if (!variable || others.length > 0 || isReassigned(variable)) return null;
  if (declared?.type !== "VariableDeclarator" || declared.init === null || declared.id.type !== "Identifier")
    return null;
  const init = plain(declared.init);
  if (init.type === "Identifier") return null;
  // A file may be another one when a function reads it again.
  return init.type === "CallExpression" && !isOfFile(variable) ? null : init;
}

function writtenText(node: Node): string | null {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral" || node.expressions.length > 0) return null;
  return node.quasis[0]?.value.cooked ?? null;
}

/** `readFileSync(path.join(__dirname, "page.pug"), "utf8")`: the file, if the text tells which. */
function readBy(engine: Engine, module: SourceModule, call: CallExpression): string | null {
  const [path, encoding] = call.arguments;
  if (!isCallOf(engine, module, call, /^(?:fs|fs-extra)\.readFileSync$/) || path === undefined) return null;
  if (encoding?.type !== "Literal" || !/^utf-?8$/i.test(String(encoding.value))) return null;
  const file = pathOf(engine, module, path);
  return file !== null && isAbsolute(file) ? file : null;
}

function isCallOf(engine: Engine, module: SourceModule, { callee }: { callee: Node }, name: RegExp): boolean {
  const things = [...engine.at(module.syntax, () => evaluate(engine, callee))];
  return (
    things.length > 0 &&
    things.every((each) => each.kind === "library" && name.test(`${each.library}${each.path}`))
  );
}

/** A path that follows from the place of the file alone. */
function pathOf(engine: Engine, module: SourceModule, node: Node): string | null {
  const inner = plain(node);
  const text = writtenText(inner);
  if (text !== null) return text;
  switch (inner.type) {
    case "Identifier":
      if (inner.name === "__dirname" && module.variable(inner) === null) return dirname(module.path);
      return throughConstant(engine, module, inner);
    case "MemberExpression":
      return isMeta(inner, "dirname") ? dirname(module.path) : null;
    case "BinaryExpression":
      return inner.operator === "+" ? joined(engine, module, [inner.left, inner.right]) : null;
    case "TemplateLiteral":
      return joined(
        engine,
        module,
        inner.quasis.flatMap((quasi, i) => [quasi, ...inner.expressions.slice(i, i + 1)]),
      );
    case "NewExpression":
      return addressOf(module, inner);
    case "CallExpression": {
      if (isCallOf(engine, module, inner, /^url\.fileURLToPath$/))
        return inner.arguments[0] === undefined ? null : pathOf(engine, module, inner.arguments[0]);
      if (!isCallOf(engine, module, inner, /^path\.(?:posix\.)?(?:join|resolve)$/)) return null;
      const [from = null, ...parts] = inner.arguments.map((each) => pathOf(engine, module, each));
      if (from === null || !isAbsolute(from)) return null;
      return parts.every((each) => each !== null && !isAbsolute(each))
        ? resolve(from, ...(parts as string[]))
        : null;
    }
    default:
      return null;
  }
}

function throughConstant(engine: Engine, module: SourceModule, node: Node): string | null {
  const inner = constantOf(module, node);
  return inner === null ? null : pathOf(engine, module, inner);
}

function joined(engine: Engine, module: SourceModule, parts: readonly Node[]): string | null {
  let text = "";
  for (const each of parts) {
    const part = each.type === "TemplateElement" ? each.value.cooked : pathOf(engine, module, each);
    if (part === null) return null;
    text += part;
  }
  return text;
}

/** `new URL("./page.pug", import.meta.url)` */
function addressOf(module: SourceModule, node: Node & { type: "NewExpression" }): string | null {
  const [name, base] = node.arguments;
  const text = name === undefined ? null : writtenText(plain(name));
  const isUrl = node.callee.type === "Identifier" && node.callee.name === "URL";
  if (!isUrl || module.variable(node.callee as Node & { type: "Identifier" }) !== null) return null;
  if (text === null || base === undefined || !isMeta(plain(base), "url")) return null;
  const address = new URL(text, pathToFileURL(module.path));
  return address.protocol === "file:" ? fileURLToPath(address) : null;
}

function isMeta(node: Node, key: string): boolean {
  return (
    node.type === "MemberExpression" &&
    node.object.type === "MetaProperty" &&
    keyOf(node, node.property) === key
  );
}
