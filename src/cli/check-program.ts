import { checkShapes } from "../host/context/index.js";
import { withSurvey } from "../journal/survey.js";
import type { Context, ContextClass } from "../model/context.js";
import { inspectTree } from "../model/shape.js";
import { loadProgram } from "./program.js";
import { messageOf } from "./report.js";

/**
 * A process that loads a program and ends: 0 if it can run, with the journal that is named besides, and 1 with the reason
 * otherwise. `headwater dev` asks it before it replaces a program that runs by what was just saved.
 */

/** What keys of shapes begin with. */
const SHAPES = "s/";

const [file = "", journal] = process.argv.slice(2);
try {
  const { roots } = await loadProgram(file);
  const classes: ContextClass<Context>[] = typeof roots === "function" ? [roots] : Object.values(roots);
  const shapes = classes.flatMap((root) => inspectTree(root));
  if (journal !== undefined) {
    await withSurvey(journal, async ({ entries }) => {
      const values = new Map<string, Uint8Array>();
      for (const [key, value] of entries)
        if (key.startsWith(SHAPES) && value !== null) values.set(key, value);
      checkShapes({ get: (key) => values.get(key) }, shapes);
    });
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}
