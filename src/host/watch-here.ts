import type { Patience } from "./patience.js";
import type { Program } from "./program.js";
import { SlowHere } from "./slow-here.js";
import { isSupervised } from "./supervised.js";
import { watchThread } from "./watchdog.js";

/** Looks after the events of a program that run in this thread. Returns how to stop it. */
export function watchHere(program: Program, patience: Patience): () => void {
  const { lookMs, eventMs, hostMs } = patience;
  const slow = new SlowHere(
    () => program.nodes.values(),
    patience,
    (warning) => program.warn(warning),
  );
  const look = setInterval(() => slow.look(), lookMs).unref();
  const isReplaceable = program.ledger !== null && isSupervised;
  const times = { lookMs, reportMs: eventMs, endMs: isReplaceable ? hostMs : null };
  const stop = watchThread(times, (warning) => program.warn(warning));
  return () => {
    clearInterval(look);
    stop();
  };
}
