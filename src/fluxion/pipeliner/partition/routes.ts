import type { HandlerRoute } from "../../pipeline.js";
import { keyOf, plain } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";

/** The handlers whose paths stand where they are registered, as the router that they belong to knows them. */
export function routesOf({ engine, ruptures }: WholeProgram): HandlerRoute[] {
  return ruptures.flatMap(({ door, node, listeners }) => {
    const callee = plain(node.callee);
    const [path] = node.arguments;
    if (door !== "express" || callee.type !== "MemberExpression") return [];
    if (path?.type !== "Literal" || typeof path.value !== "string") return [];
    const verb = keyOf(callee, callee.property);
    if (verb === null) return [];
    const route = `${verb.toUpperCase()} ${path.value}`;
    return [...listeners].map((each) => ({ place: engine.moduleOf(each).place(each), route }));
  });
}
