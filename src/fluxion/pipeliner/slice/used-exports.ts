import { around, keyOf, type Node } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";

/** Which export of a file is used where a variable holds all of them; null if that is not clear. */
export function memberKey(use: Node): string | null {
  const outer = around(use);
  return outer?.type === "MemberExpression" && outer.object === use ? keyOf(outer, outer.property) : null;
}

/** `import lib from "./lib.cjs"` gives all that it exports. */
export function defaultOf(whole: WholeProgram, target: string, use: Node): string | null {
  return whole.program.modules.get(target)?.format === "commonjs" ? memberKey(use) : "default";
}
