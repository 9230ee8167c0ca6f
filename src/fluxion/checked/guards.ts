import type { Scope, Variable } from "@typescript-eslint/scope-manager";
import type { default as MagicString } from "magic-string";
import { importPackage } from "../../packages.js";
import { type FunctionNode, isFunction, type Node, plain, SourceModule, walk } from "../source/index.js";
import { GUARDS } from "./watch.js";

const { default: Text } = await importPackage(() => import("magic-string"));

/**
 * Puts guards into the text of a file, for threads that watch what calls do: before each write to a variable of a function around, or to an
 * object that is not plainly new. What runs only while the file is loaded needs none. Lines stay where they are.
 */
export function withGuards(path: string, text: string, format: SourceModule["format"]): string {
  return new Guarding(new SourceModule(path, text, format)).code();
}

/** Functions have variables of their own, and so have the parts of classes that are run like functions. */
const OF_FUNCTIONS = new Set([
  "function",
  "module",
  "global",
  "class-field-initializer",
  "class-static-block",
]);
const LOGICAL: Readonly<Record<string, string>> = { "??=": "??", "||=": "||", "&&=": "&&" };

class Guarding {
  readonly #text: MagicString;
  /** Functions whose runs are told apart, as functions inside of them write to their variables. */
  readonly #numbered = new Map<FunctionNode, string>();
  readonly #starts = new Map<FunctionNode, string>();
  #names = 0;

  constructor(readonly module: SourceModule) {
    this.#text = new Text(module.text);
  }

  code(): string {
    const { syntax } = this.module;
    walk(syntax, (node) => this.#visit(node));
    for (const [node, name] of this.#numbered)
      this.#starts.set(node, `const ${name} = $hw.call;${this.#starts.get(node) ?? ""}`);
    for (const [node, start] of this.#starts) this.#atStart(node, start);
    const first = syntax.body.find((each) => !("directive" in each) || each.directive == null);
    const named = `const $hw = ${GUARDS};`;
    if (first === undefined) return this.module.text;
    return this.#text.appendLeft(first.start, named).toString();
  }

  #visit(node: Node): undefined {
    switch (node.type) {
      case "WithStatement":
        throw new SyntaxError(`${this.#at(node)}: it says \`with\``);
      case "AssignmentExpression":
        this.#assignment(node);
        break;
      case "UpdateExpression":
        this.#writes(node, [node.argument]);
        break;
      case "UnaryExpression":
        if (node.operator === "delete") this.#writes(node, [node.argument]);
        break;
      case "ForInStatement":
      case "ForOfStatement":
        if (node.left.type !== "VariableDeclaration") this.#writes(node.right, [node.left]);
        break;
      case "ImportExpression":
        this.#before(node, ["$hw.loads()"]);
        break;
      case "CallExpression":
        if (node.callee.type === "Identifier" && node.callee.name === "eval")
          this.#before(node, ["$hw.makes()"]);
        break;
      case "ObjectExpression":
        if (node.properties.some(isPrototype)) this.#wrap(node, "$hw.made(", ")");
        break;
      case "ClassDeclaration":
      case "ClassExpression":
        this.#fields(node);
        break;
      default:
        if (isFunction(node) && node.async) this.#async(node);
    }
    return undefined;
  }

  #at(node: Node): string {
    const { file, line } = this.module.place(node);
    return `${file}:${line}`;
  }

  /** `a ??= b` writes only sometimes. */
  #assignment(node: Node & { type: "AssignmentExpression" }): void {
    const { left, right } = node;
    const operator = LOGICAL[node.operator];
    if (operator === undefined) return this.#writes(node, [left]);
    const of = left.type === "MemberExpression" ? left.object : null;
    const isSimple =
      left.type === "Identifier" ||
      (left.type === "MemberExpression" &&
        !left.computed &&
        (of?.type === "Identifier" || of?.type === "ThisExpression"));
    if (!isSimple) return this.#writes(node, [left]);
    if (this.#isLoading(node)) return;
    const name = this.module.text.slice(left.start, left.end);
    const guard =
      left.type === "Identifier"
        ? this.#guardOf(left)
        : `$hw.write(${this.module.text.slice(of?.start ?? 0, of?.end ?? 0)})`;
    if (guard === null) return;
    this.#text.appendLeft(node.start, "(");
    this.#text.overwrite(left.end, right.start, ` ${operator} (${guard}, ${name} = `);
    this.#text.prependRight(right.end, "))");
  }

  /** Before `node` writes to these. */
  #writes(node: Node, targets: readonly (Node | null)[]): void {
    if (this.#isLoading(node)) return;
    const guards: string[] = [];
    for (const target of targets) this.#target(target, guards);
    if (guards.length > 0) this.#before(node, [...new Set(guards)]);
  }

  #target(pattern: Node | null, guards: string[]): void {
    const target = pattern === null ? null : plain(pattern);
    switch (target?.type) {
      case "Identifier": {
        const guard = this.#guardOf(target);
        if (guard !== null) guards.push(guard);
        break;
      }
      case "MemberExpression":
        if (target.object.type === "Super") guards.push("$hw.write(this)");
        else if (!this.#isNew(target.object)) {
          const isIndex =
            !target.computed && target.property.type === "Identifier" && target.property.name === "lastIndex";
          this.#wrap(target.object, isIndex ? "$hw.index(" : "$hw.write(", ")");
        }
        break;
      case "ArrayPattern":
        for (const each of target.elements) this.#target(each, guards);
        break;
      case "ObjectPattern":
        for (const each of target.properties)
          this.#target(each.type === "RestElement" ? each.argument : each.value, guards);
        break;
      case "AssignmentPattern":
        this.#target(target.left, guards);
        break;
      case "RestElement":
        this.#target(target.argument, guards);
        break;
      default:
    }
  }

  /** What is to be asked before a variable is written, if anything. */
  #guardOf(identifier: Node & { type: "Identifier" }): string | null {
    const variable = this.module.variable(identifier);
    const from = this.module.reference(identifier)?.from;
    if (!variable || from === undefined) return "$hw.outer()";
    const owner = functionOf(variable.scope);
    if (owner === functionOf(from)) return null;
    const block = owner.block as unknown as Node;
    if (owner === this.module.top || !isFunction(block) || block.body?.type !== "BlockStatement")
      return "$hw.outer()";
    const known = this.#numbered.get(block) ?? this.#name();
    this.#numbered.set(block, known);
    return `$hw.captured(${known})`;
  }

  #name(): string {
    this.#names += 1;
    return `$hw${this.#names}`;
  }

  /** `const found = []`: whatever is in there, it is new. */
  #isNew(object: Node): boolean {
    const identifier = plain(object);
    if (identifier.type !== "Identifier") return false;
    const variable = this.module.variable(identifier);
    const from = this.module.reference(identifier)?.from;
    if (!variable || from === undefined || functionOf(variable.scope) !== functionOf(from)) return false;
    return isMadeOnce(variable);
  }

  /** Outside of functions: it runs once, while the file is loaded. */
  #isLoading(node: Node): boolean {
    for (let outer = node.parent; outer; outer = outer.parent) {
      if (isFunction(outer) || outer.type === "PropertyDefinition" || outer.type === "StaticBlock")
        return false;
    }
    return true;
  }

  /** A class above may give any object as the new one, and fields are written to that. */
  #fields(node: Node & { type: "ClassDeclaration" | "ClassExpression" }): void {
    const hasFields = node.body.body.some(
      ({ type, ...each }) => /^(Property|AccessorProp)/.test(type) && !("static" in each && each.static),
    );
    if (node.superClass === null || !hasFields) return;
    this.#text.appendLeft(node.body.start + 1, `#${this.#name().slice(1)} = $hw.write(this);`);
  }

  #async(node: FunctionNode): void {
    const { body } = node;
    if (body === null) return;
    if (body.type === "BlockStatement") this.#starts.set(node, "$hw.later();");
    else this.#before(body, ["$hw.later()"]);
  }

  #atStart({ body }: FunctionNode, text: string): void {
    if (body?.type !== "BlockStatement") return;
    const directive = body.body.findLast((each) => "directive" in each && each.directive != null);
    this.#text.appendLeft(directive?.end ?? body.start + 1, directive === undefined ? text : `;${text}`);
  }

  #before(node: Node, guards: readonly string[]): void {
    this.#wrap(node, `(${guards.join(", ")}, `, ")");
  }

  #wrap(node: Node, before: string, after: string): void {
    this.#text.appendLeft(node.start, before);
    this.#text.prependRight(node.end, after);
  }
}

function functionOf(scope: Scope): Scope {
  let at = scope;
  while (!OF_FUNCTIONS.has(String(at.type)) && at.upper !== null) at = at.upper;
  return at;
}

function isMadeOnce(variable: Variable): boolean {
  const [definition, other] = variable.defs;
  const node = definition?.node as unknown as Node | undefined;
  if (other !== undefined || node?.type !== "VariableDeclarator" || node.init === null) return false;
  if (!/^(Object|Array|Function|ArrowFunction|Class)Expression$/.test(plain(node.init).type)) return false;
  return variable.references.every((each) => !each.isWrite() || each.init === true);
}

/** `{ __proto__: null }` */
function isPrototype(property: Node): boolean {
  if (property.type !== "Property" || property.computed || property.shorthand || property.method)
    return false;
  const { key } = property;
  return (
    (key.type === "Identifier" && key.name === "__proto__") ||
    (key.type === "Literal" && key.value === "__proto__")
  );
}
