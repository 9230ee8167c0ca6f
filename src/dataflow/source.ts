import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import type { SourcePosition } from "../analysis/index.js";
import { HeadwaterError } from "../errors.js";
import { importPackage } from "../packages.js";

/** A node of the syntax tree. What else it has depends on its type. */
export interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** What a program's own files say of one of its classes. */
export interface ClassSource {
  readonly name: string;
  /** By name, `#private` ones too: the functions of its methods. */
  readonly methods: ReadonlyMap<string, Syntax>;
  readonly file: SourceFile;
}

export class SourceFile {
  readonly #lineStarts: number[] = [0];

  constructor(
    readonly path: string,
    readonly syntax: Syntax,
    text: string,
  ) {
    for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) this.#lineStarts.push(i + 1);
  }

  place({ start }: Syntax): SourcePosition {
    const line = this.#lineStarts.findLastIndex((at) => at <= start);
    const source = relative(process.cwd(), this.path);
    return { source, line: line + 1, column: start - (this.#lineStarts[line] ?? 0) + 1 };
  }
}

/** What the files of a program say: its own one and the files that it imports by a relative path. */
export interface ProgramSource {
  readonly classes: ReadonlyMap<string, ClassSource>;
  /** The functions of `export const api = expose(…)` in the program's own file; `null` if they cannot be read. */
  readonly api: { readonly functions: readonly Syntax[]; readonly file: SourceFile } | null;
}

export async function readProgramSource(file: string): Promise<ProgramSource> {
  const classes = new Map<string, ClassSource>();
  let api: ProgramSource["api"] = null;
  const seen = new Set<string>();
  const waiting = [resolve(file)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const source = await readSource(path);
    if (source === null) continue;
    if (seen.size === 1) api = apiIn(source);
    for (const each of classesIn(source)) classes.set(each.name, each);
    waiting.push(...importsOf(source));
  }
  return { classes, api };
}

/** The one call of `expose` with its functions written out. */
function apiIn(file: SourceFile): ProgramSource["api"] {
  const found: (Syntax | null)[] = [];
  visit(file.syntax, (node) => {
    const callee = node.type === "CallExpression" ? (node.callee as Syntax) : null;
    if (callee?.type !== "Identifier" || callee.name !== "expose") return;
    const entries = (node.arguments as Syntax[])[1];
    if (entries?.type !== "ObjectExpression") found.push(null);
    else for (const entry of entries.properties as Syntax[]) found.push(functionOf(entry));
  });
  const functions = found.filter((each) => each !== null);
  return found.length > 0 && functions.length === found.length ? { functions, file } : null;
}

/** `name: (root) => …`, or `name: { check, request: (root) => … }`. */
function functionOf(entry: Syntax): Syntax | null {
  const value = entry.value as Syntax | undefined;
  if (value?.type === "ArrowFunctionExpression" || value?.type === "FunctionExpression") return value;
  if (value?.type !== "ObjectExpression") return null;
  const request = (value.properties as Syntax[]).find(
    (each) => each.type === "Property" && nameIn(each.key as Syntax) === "request",
  );
  return request === undefined ? null : functionOf(request);
}

async function readSource(path: string): Promise<SourceFile | null> {
  for (const each of [path.replace(/\.(m?)js$/, ".$1ts"), path]) {
    const text = await readFile(each, "utf8").catch(() => null);
    if (text === null) continue;
    const { parseSync } = await importPackage(() => import("oxc-parser"));
    const { program, errors } = parseSync(each, text, { astType: "ts", sourceType: "module" });
    if (errors.length > 0)
      throw new HeadwaterError("HW-2002", `${each} cannot be read: ${errors[0]?.message}`);
    return new SourceFile(each, program as unknown as Syntax, text);
  }
  return null;
}

function importsOf({ path, syntax }: SourceFile): string[] {
  const found: string[] = [];
  for (const statement of syntax.body as Syntax[]) {
    const { source } = statement as { source?: { value?: unknown } | null };
    if (typeof source?.value === "string" && source.value.startsWith("."))
      found.push(resolve(dirname(path), source.value));
  }
  return found;
}

function classesIn(file: SourceFile): ClassSource[] {
  const found: ClassSource[] = [];
  visit(file.syntax, (node) => {
    if (node.type !== "ClassDeclaration" && node.type !== "ClassExpression") return;
    const { id, body } = node as unknown as { id: { name: string } | null; body: { body: Syntax[] } };
    if (id === null) return;
    const methods = new Map<string, Syntax>();
    for (const member of body.body)
      if (member.type === "MethodDefinition")
        methods.set(nameIn(member.key as Syntax), member.value as Syntax);
    found.push({ name: id.name, methods, file });
  });
  return found;
}

/** The name of a property; `#` stands before private ones. */
export function nameIn(key: Syntax): string {
  return key.type === "PrivateIdentifier" ? `#${String(key.name)}` : String(key.name ?? key.value ?? "");
}

/** Every node, with the one around it. */
export function visit(
  node: Syntax,
  see: (node: Syntax, parent: Syntax | null) => void,
  parent: Syntax | null = null,
): void {
  see(node, parent);
  for (const value of Object.values(node))
    for (const each of Array.isArray(value) ? value : [value])
      if (typeof each === "object" && each !== null && typeof (each as Syntax).type === "string")
        visit(each as Syntax, see, node);
}

const TRANSPARENT = new Set([
  "AwaitExpression",
  "TSAsExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "ParenthesizedExpression",
  "ChainExpression",
]);

/** What an expression is without `await`, parentheses and types. */
export function bare(node: Syntax): Syntax {
  return TRANSPARENT.has(node.type) ? bare((node.argument ?? node.expression) as Syntax) : node;
}

export function isTransparent({ type }: Syntax): boolean {
  return TRANSPARENT.has(type);
}
