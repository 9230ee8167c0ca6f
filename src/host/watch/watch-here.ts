import type { Program } from "../node/index.js";
import { isSupervised, type Patience } from "../ports/index.js";
import { SlowHere } from "./slow-here.js";

import { watchThread } from "./watchdog.js";

/** Reports events of a program that run in this thread for too long, and the thread when it is blocked. Returns how to stop. */
export function watchHere(program: Program, patience: Patience): () => void {
  const slow = new SlowHere(
    () => program.nodes.values(),
    patience,
    (warning) => program.warn(warning),
  );
  const look = setInterval(() => slow.look(), patience.lookMs).unref();
  const stop = watchHead(program, patience);
  return () => {
    clearInterval(look);
    stop();
  };
}

/**
 * Reports when this thread is blocked: where it is the head of several hosts, by code of the program outside of events, such as a
 * function of its API. A supervised process with a journal is ended, so that the supervisor replaces it.
 */
export function watchHead(program: Program, { lookMs, eventMs, hostMs }: Patience): () => void {
  const isReplaceable = program.ledger !== null && isSupervised;
  const times = { lookMs, reportMs: eventMs, endMs: isReplaceable ? hostMs : null };
  return watchThread(times, (warning) => program.warn(warning));
}
