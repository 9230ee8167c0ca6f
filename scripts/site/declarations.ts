import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";

/** What a declaration file exports, through the files that it exports from. */

export interface Exported {
  readonly name: string;
  /** The same for one declaration that is exported from several places. */
  readonly id: string;
  readonly kind: "function" | "class" | "value" | "type";
  readonly comment: string;
  readonly code: string;
}

interface Declared extends Omit<Exported, "name" | "id"> {
  readonly name: string;
}

interface Source {
  /** The first comment of the file, if it is about the file. */
  readonly about: string;
  readonly declared: ReadonlyMap<string, readonly Declared[]>;
  /** Exported name, and where it comes from: a name of this file, or of another one. */
  readonly exports: readonly {
    readonly name: string;
    readonly local: string;
    readonly from: string | null;
  }[];
  readonly imports: ReadonlyMap<string, { readonly name: string; readonly from: string }>;
}

/** What is read of the syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly id?: Named;
  readonly body?: { readonly body?: readonly Node[] };
  readonly declarations?: readonly { readonly id: Named }[];
  readonly declaration?: (Node & Partial<Named>) | null;
  readonly source?: { readonly value: string } | null;
  readonly specifiers?: readonly {
    readonly local: Named;
    readonly imported?: Named;
    readonly exported?: Named;
  }[];
}

interface Named {
  readonly name: string;
}

const sources = new Map<string, Source>();

export function declarationsIn(file: string): { about: string; exported: readonly Exported[] } {
  const { about, exports } = sourceOf(file);
  const names = [...new Set(exports.map(({ name }) => name))].sort((a, b) => a.localeCompare(b, "en"));
  const exported = names.flatMap((name) => {
    const found = resolve(file, name);
    if (found.length === 0) throw new Error(`${file} exports ${name}, which has no declaration`);
    const [{ id, kind }] = found as [Exported];
    const comment = found.find((each) => each.comment !== "")?.comment ?? "";
    return [{ name, id, kind, comment, code: found.map(({ code }) => code).join("\n") }];
  });
  return { about, exported };
}

function resolve(file: string, exportedName: string): Exported[] {
  const { declared, exports, imports } = sourceOf(file);
  for (const { name, local, from } of exports) {
    if (name !== exportedName) continue;
    if (from !== null) return resolve(from, local);
    const own = declared.get(local);
    if (own !== undefined)
      return own.map((each) => ({ ...each, name: exportedName, id: `${file}:${local}` }));
    const source = imports.get(local);
    if (source !== undefined) return resolve(source.from, source.name);
  }
  return [];
}

function sourceOf(file: string): Source {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, text);
  const declared = new Map<string, Declared[]>();
  const exports: { name: string; local: string; from: string | null }[] = [];
  const imports = new Map<string, { name: string; from: string }>();
  const other = (source: Node["source"]) =>
    join(dirname(file), source?.value.replace(/\.js$/, ".d.ts") ?? "");
  const commentBefore = (start: number) => {
    const before = comments.findLast(({ end }) => end <= start);
    return before?.value.startsWith("*") && text.slice(before.end, start).trim() === ""
      ? proseOf(before.value)
      : "";
  };
  /** Without members that are marked as internal. */
  const textOf = (node: Node, start: number) => {
    let code = text.slice(start, node.end);
    const members = Array.isArray(node.body?.body) ? node.body.body : [];
    for (const member of members.toReversed()) {
      const before = comments.findLast(({ end }) => end <= member.start);
      if (before === undefined || text.slice(before.end, member.start).trim() !== "") continue;
      if (!before.value.startsWith("* @internal")) continue;
      code = code.slice(0, before.start - start).trimEnd() + code.slice(member.end - start);
    }
    return code;
  };
  const declare = (node: Node, start: number): string[] =>
    partsOf(node).map(({ name, kind }) => {
      const code = codeOf(textOf(node, start));
      declared.set(name, [
        ...(declared.get(name) ?? []),
        { name, kind, comment: commentBefore(start), code },
      ]);
      return name;
    });

  for (const node of program.body as unknown as Node[]) {
    if (node.type === "ImportDeclaration") {
      for (const each of node.specifiers ?? [])
        imports.set(each.local.name, { name: each.imported?.name ?? "default", from: other(node.source) });
    } else if (node.type === "ExportAllDeclaration") {
      for (const { name } of sourceOf(other(node.source)).exports)
        exports.push({ name, local: name, from: other(node.source) });
    } else if (node.type === "ExportNamedDeclaration") {
      if (node.declaration != null)
        for (const name of declare(node.declaration, node.start))
          exports.push({ name, local: name, from: null });
      for (const each of node.specifiers ?? [])
        exports.push({
          name: each.exported?.name ?? each.local.name,
          local: each.local.name,
          from: node.source == null ? null : other(node.source),
        });
    } else if (node.type === "ExportDefaultDeclaration") {
      exports.push({ name: "default", local: node.declaration?.name ?? "", from: null });
    } else {
      declare(node, node.start);
    }
  }
  const first = comments.find(({ value }) => value.startsWith("*"));
  const isFirst =
    first !== undefined &&
    text
      .slice(0, first.start)
      .replaceAll(/^\/\/\/.*$/gm, "")
      .trim() === "";
  const isAboutFile =
    isFirst && !/^\s*export (declare|interface|type \w+ =|class)/.test(text.slice(first.end));
  const source = { about: isAboutFile ? proseOf(first.value) : "", declared, exports, imports };
  sources.set(file, source);
  return source;
}

function partsOf({ type, id, declarations = [] }: Node): { name: string; kind: Exported["kind"] }[] {
  const name = id?.name ?? "";
  switch (type) {
    case "TSDeclareFunction":
    case "FunctionDeclaration":
      return [{ name, kind: "function" }];
    case "ClassDeclaration":
      return [{ name, kind: "class" }];
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [{ name, kind: "type" }];
    case "VariableDeclaration":
      return declarations.map((each) => ({ name: each.id.name, kind: "value" }));
    default:
      return [];
  }
}

/** Without what only a compiler needs. */
function codeOf(text: string): string {
  return text
    .replace(/^export (declare )?/, "")
    .replace(/^declare /, "")
    .replaceAll(/^ {4}(#private;|private .*)\n/gm, "")
    .replaceAll(/^( {4})+/gm, (spaces) => " ".repeat(spaces.length / 2));
}

function proseOf(comment: string): string {
  return comment
    .replace(/^\*/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trimEnd())
    .join("\n")
    .trim();
}
