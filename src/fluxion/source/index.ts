/** The files of a program: which there are, their syntax with positions, and which name means which variable. */

export { TooEntangled } from "./effort.js";
export { Lines } from "./lines.js";
export { loadingDiagnostics, unseenDiagnostics } from "./loading.js";
export { type Inside, SourceModule, type Variable } from "./module.js";
export { dataOf, finderOf, type ReadingOptions, readProgram, type SourceProgram } from "./program.js";
export {
  around,
  type CallExpression,
  enclosingFunction,
  type FunctionNode,
  forEachChild,
  isFunction,
  isInside,
  isOwnPlace,
  keyOf,
  type Node,
  type ProgramSyntax,
  parseSync,
  plain,
  requiredBy,
  walk,
  written,
} from "./syntax.js";
