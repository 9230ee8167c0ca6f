import type { HeadwaterError } from "../errors.js";
import type { KeyTable } from "../journal/journal.js";
import type { ContextClass } from "../model/context.js";
import { inspectTree } from "../model/shape.js";
import { checkShapes } from "./context/index.js";

/** Why a program cannot go on with a table: its classes are older than those of the states, or have changed without an upgrade. */
export function misfitOf(classes: readonly ContextClass[]): (table: KeyTable) => HeadwaterError | null {
  const shapes = classes.flatMap((each) => inspectTree(each));
  return (table) => {
    try {
      checkShapes(table, shapes);
      return null;
    } catch (error) {
      return error as HeadwaterError;
    }
  };
}
