import { ALIASES } from "../../callees/index.js";
import type { Thing } from "../../points-to/index.js";

/** How a thing is known outside of one engine. */
export function keyOfThing(thing: Thing): unknown {
  if (thing.kind === "library") return thing.node ?? keyOfLibrary(thing.library);
  if (thing.kind === "builtin") return `builtin ${thing.path}`;
  if (thing.kind === "namespace") return thing.module;
  if (thing.kind === "receiver") return thing.variable;
  if (thing.kind === "data" && thing.owner === "unknown") return thing; // its node is the function that it is given to
  return thing.node;
}

/** What is imported by several names is one object. */
export function keyOfLibrary(library: string): string {
  return `library ${ALIASES[library] ?? library}`;
}
