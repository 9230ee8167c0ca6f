import { type Compilation, type CompileOptions, compile } from "headwater/fluxion";
import { ROOT } from "../house/source.js";

/** Compiles a text as if it lay in the package, so that it finds its packages. `files` lie beside it. */
export function compileText(
  text: string,
  files: Readonly<Record<string, string>> = {},
  options: CompileOptions & { readonly name?: string } = {},
): Compilation {
  const { name = "app.cjs", ...rest } = options;
  const at = (file: string) => `${ROOT}.cache/texts/${file}`;
  const texts = new Map(Object.entries({ ...files, [name]: text }).map(([file, each]) => [at(file), each]));
  return compile(at(name), { ...rest, texts });
}

/** What most small programs begin with. */
export const EXPRESS =
  'const express = require("express");\nconst fs = require("fs");\nconst app = express();\n';

export function stageNames({ pipeline }: Compilation): string[] {
  return pipeline.stages.map(({ name, kind }) => (kind === "part" ? name : `${kind} ${name}`));
}

/** The codes of what speaks against moving something. */
export function codesFor({ pipeline }: Compilation, subject: string): string[] {
  return [
    ...new Set(pipeline.diagnostics.filter((each) => each.subject === subject).map(({ code }) => code)),
  ];
}
