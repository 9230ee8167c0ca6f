import type { HeadwaterError } from "headwater";
import type { Journal } from "#src/journal/journal.js";
import { openJournal } from "#src/journal/open.js";
import { IDENTITY, outcome } from "../support.js";

/** Opens the journals that it is told to open, and says what came of it. */

export type ToRacer = { readonly kind: "open"; readonly directory: string } | { readonly kind: "close" };

export type FromRacer =
  | { readonly kind: "ready" | "opened" | "closed" }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

const say = (message: FromRacer) => process.send?.(message);
let journal: Journal | null = null;

async function open(directory: string): Promise<void> {
  try {
    journal = await openJournal(directory, IDENTITY, { durability: "synced" });
    const error = await outcome(journal, [{ key: String(process.pid), value: Buffer.from("was here") }]);
    if (error !== null) throw error;
    say({ kind: "opened" });
  } catch (error) {
    const { code, message } = error as HeadwaterError;
    say({ kind: "refused", code, message });
  }
}

process.on("message", (message: ToRacer) => {
  if (message.kind === "open") return void open(message.directory);
  void journal?.close().then(() => say({ kind: "closed" }));
  journal = null;
});
say({ kind: "ready" });
