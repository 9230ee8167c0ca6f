/** In which kind of files a program is written. */
export type Dialect = "commonjs" | "module" | "typed";

export const DIALECTS: readonly Dialect[] = ["commonjs", "commonjs", "module", "typed"];

const ENTRIES: Readonly<Record<Dialect, string>> = {
  commonjs: "app.js",
  module: "app.mjs",
  typed: "app.mts",
};

export function entryOf(dialect: Dialect): string {
  return ENTRIES[dialect];
}

/** A type, which the tests take out again before they run the program. */
const typed = (type: string) => `/*<*/${type}/*>*/`;

/** A file that is written as CommonJS, as the same in another dialect: its own `require` is made, or is an import. */
export function inDialect(text: string, dialect: Dialect): string {
  if (dialect === "commonjs") return text;
  const imports = ["express", "fs", "path"].filter((each) => text.includes(`require("${each}")`));
  const body = text
    .replace('const express = require("express");\n', "")
    .replaceAll(/require\("(express|fs|path)"\)/g, "$1")
    .replaceAll('require("module").createRequire(', "createRequire(")
    .replaceAll("__dirname", "import.meta.dirname")
    .replaceAll("__filename", "import.meta.filename");
  const requires = /\brequire\b/.test(body);
  return [
    ...imports.map((each) => `import ${each} from "${each}";`),
    ...(requires || body.includes("createRequire(") ? ['import { createRequire } from "node:module";'] : []),
    ...(requires ? ["const require = createRequire(import.meta.url);"] : []),
    dialect === "typed" ? withTypes(body) : body,
  ].join("\n");
}

function withTypes(text: string): string {
  return `${typed("interface Shown { readonly n: number }")}\n${text
    .replaceAll(
      "(req, res, next) =>",
      `(req${typed(": unknown")}, res${typed(": unknown")}, next${typed("?: unknown")}) =>`,
    )
    .replaceAll("(error, req, res, next)", `(error${typed(": Error")}, req, res, next)`)
    .replaceAll(/function (\w*)\(x\)/g, `function $1(x${typed(": unknown")})${typed(": unknown")}`)
    .replaceAll("let n = 7;", `let n = 7${typed(" as number")};`)
    .replaceAll(/String\(x\)/g, `String(x${typed("!")})`)
    .replaceAll(/const (v\d+) = (\w+)\(/g, `const $1${typed(": unknown")} = $2(`)}`;
}
