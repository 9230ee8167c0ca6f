/** The process that `convert.ts` starts: it makes a table of a journal of layout 1, says how that went, and ends. */

import { HeadwaterError } from "../errors.js";
import type { Said } from "./convert.js";
import { type Card, tableIn } from "./directory.js";
import { OneFile } from "./one-file.js";
import { buildTable } from "./table/build.js";

function say(said: Said): void {
  process.send?.(said);
}

process.on("disconnect", () => process.kill(process.pid, "SIGKILL")); // the process that has started this one has ended

const [directory = "", written = ""] = process.argv.slice(2);
const card = JSON.parse(written) as Card;
try {
  say({ kind: "locking" });
  const old = new OneFile(directory, card);
  say({ kind: "locked" });
  for (const _ of old.entries()); // before anything is changed
  say({ kind: "locking" });
  const epoch = old.takeOver();
  say({ kind: "locked" });
  await buildTable({
    directory: tableIn(directory),
    journal: card.id,
    epoch,
    from: null,
    applied: 1,
    changes: old.entries(),
  });
  await old.close();
  say({ kind: "converted", epoch });
} catch (error) {
  const what = error instanceof Error ? error.message : String(error);
  say({ kind: error instanceof HeadwaterError ? "failed" : "damaged", what });
}
process.disconnect?.();
