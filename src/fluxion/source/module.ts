import type { Reference, Scope, Variable } from "@typescript-eslint/scope-manager";
import type { Comment } from "oxc-parser";
import { HeadwaterError, invariant } from "../../errors.js";
import { requirePackage } from "../../packages.js";
import type { Place } from "../pipeline.js";
import {
  type CallExpression,
  type FunctionNode,
  forEachChild,
  isFunction,
  isOwnPlace,
  type Node,
  type ProgramSyntax,
  parseSync,
  requiredBy,
  visitorKeys,
} from "./syntax.js";

type ScopeManager = typeof import("@typescript-eslint/scope-manager");

export type { Variable } from "@typescript-eslint/scope-manager";

export type ModuleFormat = "commonjs" | "module";

/** Words for the compiler in a comment before a call or a function: `headwater: heavy`. */
export type Remark = "start" | "post" | "pure" | "heavy" | "stay";
const NO_REMARKS: readonly Remark[] = [];
const REMARKS: readonly Remark[] = ["start", "post", "pure", "heavy", "stay"];

/** What stands in a function, or in a file outside of functions, but not in the functions inside of it. */
export interface Inside {
  readonly functions: FunctionNode[];
  readonly names: (Node & { type: "Identifier" })[];
  readonly acts: (CallExpression | (Node & { type: "AssignmentExpression" }))[];
  /** Where it says `this`. */
  readonly selves: Node[];
  /** What it throws. */
  readonly throws: Node[];
  readonly awaits: (Node & { type: "AwaitExpression" })[];
  /** Does it await anything? */
  waits: boolean;
}

/** `import`, `export … from`, `require("…")`: where it stands, and what is written there. */
export interface Load {
  readonly node: Node;
  readonly specifier: string;
}

const TYPES =
  /^(decorators|typeAnnotation|typeArguments|typeParameters|returnType|superTypeArguments|implements)$/;

/** What is below nodes in a file without types: looking for types in vain takes its time. */
const UNTYPED_KEYS = Object.fromEntries(
  Object.entries(visitorKeys).map(([type, keys]) => [type, keys.filter((key) => !TYPES.test(key))]),
);

/** Asked for all the time, so it is kept with the name. */
const MEANING = Symbol("meaning");

interface Meaning {
  readonly module: SourceModule;
  variable: Variable | null | undefined;
  reference: Reference | undefined;
}

interface Named {
  readonly type: string;
  [MEANING]?: Meaning;
}

/** One file of a program: its text, its syntax, and which name means which variable. */
export class SourceModule {
  readonly syntax: ProgramSyntax;
  /** The variables that are declared in the file itself, outside of functions. */
  readonly top: Scope;
  /** What loads other files or packages, in the order of the text. */
  readonly loads: Load[] = [];
  /** All functions, in the order of the text. */
  readonly functions: FunctionNode[] = [];
  /** Names of functions that are declared in blocks: in sloppy code, running the block writes a variable outside of it. */
  readonly blockFunctions = new Set<string>();
  /** `import.meta.url` and the like, which are written into the files of workers. */
  readonly metas: (Node & { type: "MemberExpression" })[] = [];
  /** Texts that go on in the next line. */
  readonly texts: Node[] = [];
  /** Own files that it imports: what is written, and the file that it means. */
  readonly imports = new Map<string, string>();
  readonly #inside = new Map<FunctionNode | ProgramSyntax, Inside>();
  readonly #remarks = new Map<number, Remark[]>();
  readonly #comments: readonly Comment[];
  readonly #lines: number[] = [0];

  /** Whether some function may look at its `arguments`. */
  readonly saysArguments: boolean;

  constructor(
    readonly path: string,
    readonly text: string,
    readonly format: ModuleFormat,
  ) {
    // Syntax with types takes longer to read, so it is used only for files with types.
    const isTyped = /\.[cm]?ts$/.test(path);
    const parsed = parseSync(path, text, {
      astType: isTyped ? "ts" : "js",
      sourceType: format === "module" ? "module" : "commonjs",
    });
    const wrong = parsed.errors.find(({ severity }) => severity === "Error");
    for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) this.#lines.push(i + 1);
    if (wrong !== undefined) {
      const { line, column } = this.place({ start: wrong.labels[0]?.start ?? 0, end: 0 });
      throw new HeadwaterError("HW-7001", `${path}:${line}:${column}: ${wrong.message}`);
    }
    this.syntax = parsed.program;
    this.saysArguments = /\barguments\b/.test(text);
    // With types, a file begins where its code does. Without them, with the comments before it.
    if (!isTyped) this.syntax.start = this.syntax.body[0]?.start ?? this.syntax.end;
    this.#comments = parsed.comments;
    forEachChild(this.syntax, this.#prepare, this.inside(this.syntax));
    const { analyze } = requirePackage<ScopeManager>("@typescript-eslint/scope-manager");
    const manager = analyze(this.syntax as unknown as Parameters<typeof analyze>[0], {
      sourceType: format === "module" ? "module" : "script",
      globalReturn: format === "commonjs",
      lib: [],
      ...(isTyped ? {} : { childVisitorKeys: UNTYPED_KEYS }),
    });
    const top = manager.scopes[1];
    invariant(top !== undefined, "a file has a scope of its own");
    this.top = top;
    for (const scope of manager.scopes) {
      for (const reference of scope.references) {
        const meaning = this.#meaningOf(reference.identifier);
        meaning.reference = reference;
        if (reference.isValueReference) meaning.variable = outward(reference.resolved);
      }
      for (const variable of scope.variables) {
        for (const each of variable.identifiers) this.#meaningOf(each).variable = outward(variable);
      }
    }
    this.#readRemarks();
  }

  /** The variable that a name means; `null` for a global, `undefined` if the node is no use of a variable. */
  variable(identifier: Named): Variable | null | undefined {
    const meaning = identifier[MEANING];
    return meaning?.module === this ? meaning.variable : undefined; // names of other files mean nothing here
  }

  reference(identifier: Named): Reference | undefined {
    const meaning = identifier[MEANING];
    return meaning?.module === this ? meaning.reference : undefined;
  }

  #meaningOf(identifier: Named): Meaning {
    return (identifier[MEANING] ??= { module: this, variable: undefined, reference: undefined });
  }

  place({ start, end }: { start: number; end: number }): Place {
    let low = 0;
    let high = this.#lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lines[middle] ?? 0) <= start) low = middle;
      else high = middle - 1;
    }
    return { file: this.path, line: low + 1, column: start - (this.#lines[low] ?? 0) + 1, start, end };
  }

  inside(body: FunctionNode | ProgramSyntax): Inside {
    const known = this.#inside.get(body);
    if (known !== undefined) return known;
    const inside: Inside = {
      functions: [],
      names: [],
      acts: [],
      selves: [],
      throws: [],
      awaits: [],
      waits: false,
    };
    this.#inside.set(body, inside);
    return inside;
  }

  /** The file itself and all functions in it. */
  get bodies(): readonly (FunctionNode | ProgramSyntax)[] {
    return [this.syntax, ...this.functions];
  }

  /** What a comment directly before a node asks for. */
  remarks(node: Node): readonly Remark[] {
    return this.#remarks.size === 0 ? NO_REMARKS : (this.#remarks.get(node.start) ?? NO_REMARKS);
  }

  /** Goes through all that is below the file, once. */
  readonly #prepare = (node: Node, inside: Inside, parent: Node): void => {
    node.parent = parent;
    let within = inside;
    switch (node.type) {
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        inside.functions.push(node);
        this.functions.push(node);
        if (node.type === "FunctionDeclaration") this.#noteBlockFunction(node, parent);
        if (node.body !== null) withRange(node.body);
        for (const each of node.params) each.decorators ??= [];
        within = this.inside(node);
        break;
      case "ClassDeclaration":
      case "ClassExpression":
        node.implements ??= [];
        break;
      case "Identifier":
        inside.names.push(withRange(node));
        break;
      case "CallExpression":
        inside.acts.push(node);
        this.#noteLoad(node, requiredBy(node));
        break;
      case "AssignmentExpression":
        inside.acts.push(node);
        break;
      case "ThisExpression":
        inside.selves.push(node);
        break;
      case "ThrowStatement":
        inside.throws.push(node.argument);
        break;
      case "MetaProperty":
        if (isOwnPlace(node)) this.metas.push(parent as Node & { type: "MemberExpression" });
        break;
      case "AwaitExpression":
        inside.awaits.push(node);
        inside.waits = true;
        break;
      case "ForOfStatement":
        if (node.await) inside.waits = true;
        break;
      case "ImportDeclaration":
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration":
      case "ImportExpression":
        this.#noteLoad(node, textOf(node.source));
        break;
      case "Literal":
      case "TemplateElement":
        if (this.#isOverLines(node)) this.texts.push(node);
        break;
      default:
    }
    forEachChild(node, this.#prepare, within);
  };

  #noteBlockFunction({ id }: FunctionNode, { type, parent }: Node): void {
    const isOutside =
      type === "Program" || type.startsWith("Export") || (type === "BlockStatement" && isFunction(parent));
    if (!isOutside && id && this.format === "commonjs") this.blockFunctions.add(id.name);
  }

  #noteLoad(node: Node, specifier: string | null): void {
    if (specifier !== null) this.loads.push({ node, specifier });
  }

  #isOverLines(node: Node): boolean {
    if (node.type === "Literal" && typeof node.value !== "string") return false;
    const end = this.text.indexOf("\n", node.start);
    return end >= 0 && end < node.end;
  }

  #readRemarks(): void {
    for (const { value, end } of this.#comments) {
      const words = /^\s*headwater:\s*([\w\s,]+?)\s*$/.exec(value)?.[1]?.split(/[\s,]+/) ?? [];
      const remarks = REMARKS.filter((each) => words.includes(each));
      if (remarks.length === 0) continue;
      const behind = end + (/^\s*/.exec(this.text.slice(end, end + 200))?.[0].length ?? 0);
      this.#remarks.set(behind, remarks);
    }
  }
}

function textOf(node: Node | null): string | null {
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : null;
}

/** The scope manager asks where names and bodies of functions are, and of nothing else. */
function withRange<N extends Node>(node: N): N {
  node.range = [node.start, node.end];
  return node;
}

/** A class has its name inside of it and around it; the one around it is meant. */
function outward<V extends Variable | null>(variable: V): V | Variable {
  if (variable === null || String(variable.scope.type) !== "class") return variable;
  const outer = variable.scope.upper?.set.get(variable.name);
  return outer?.defs[0]?.node === variable.defs[0]?.node && outer !== undefined ? outer : variable;
}
