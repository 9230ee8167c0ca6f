import { checkShapes } from "../host/context/index.js";
import { namesOf } from "../host/run.js";
import { nodeSetChange } from "../host/store/index.js";
import type { KeyTable } from "../journal/journal.js";
import { type Survey, withSurvey } from "../journal/survey.js";
import type { Context, ContextClass } from "../model/context.js";
import { inspectTree } from "../model/shape.js";
import { loadProgram } from "./program.js";
import { messageOf } from "./report.js";

/**
 * A process that loads a program and ends: 0 if it can run, with the journal that is named besides, and 1 with the reason
 * otherwise. `headwater dev` asks it before it replaces a program that runs by what was just saved.
 */

/** What keys of shapes and of logical nodes begin with: their values are looked at, of others only whether they are there. */
const LOOKED_AT = /^[si]\//;

const [file = "", journal] = process.argv.slice(2);
try {
  const { roots } = await loadProgram(file);
  const classes: ContextClass<Context>[] = typeof roots === "function" ? [roots] : Object.values(roots);
  const shapes = classes.flatMap((root) => inspectTree(root));
  if (journal !== undefined) {
    await withSurvey(journal, async ({ entries, card }) => {
      const table = tableOf(entries);
      nodeSetChange(table, namesOf(roots), { madeFor: card.program, address: journal });
      checkShapes(table, shapes);
    });
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}

function tableOf(entries: Survey["entries"]): KeyTable {
  const values = new Map<string, Uint8Array>();
  const none = new Uint8Array();
  for (const [key, value] of entries) if (value !== null) values.set(key, LOOKED_AT.test(key) ? value : none);
  return {
    get: (key) => values.get(key),
    *range(prefix, after = "") {
      for (const [key, value] of values) if (key.startsWith(prefix) && key > after) yield [key, value];
    },
  };
}
