import type { KeptEngines } from "../journal.js";
import { LoggedJournal } from "../logged-journal.js";
import { closed, damaged, fenced } from "../problems.js";
import type { Epoch } from "./epoch.js";
import type { FollowedLog } from "./followed-table.js";
import type { LogPort } from "./log-port.js";
import { StreamLog } from "./stream-log.js";

const IDLE_MS = 1000;

export interface StreamJournalOptions {
  /** When it is closed. */
  readonly release?: () => Promise<void>;
  readonly soon?: (callback: () => void) => void;
  readonly engines?: KeptEngines | undefined;
}

/** The journal of a head: a table that has everything up to the beginning of its epoch, and the writer of that epoch. */
export function streamJournal(
  port: LogPort,
  { table, background }: FollowedLog,
  begun: Epoch,
  address: string,
  { release = async () => {}, soon = setImmediate, engines }: StreamJournalOptions = {},
): { readonly journal: LoggedJournal; readonly log: StreamLog } {
  const log = new StreamLog({
    port,
    ...begun,
    fenced: () => fenced(address, begun.epoch),
    damaged: (what) => damaged(address, what),
    closed: () => closed(address),
  });
  const pause = setInterval(() => {
    if (background.isQuiet() && background.isWorthwhile) journal.tidyUp();
  }, IDLE_MS).unref();
  const journal = new LoggedJournal({
    address,
    log,
    table,
    background,
    soon,
    engines,
    release: async () => {
      clearInterval(pause);
      await release();
    },
  });
  return { journal, log };
}
