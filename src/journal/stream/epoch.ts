import type { LogMessage, LogPort, PublishOutcome } from "./log-port.js";
import { type EpochOwner, epochMessage, ownerOf, readMessage } from "./messages.js";

/** An epoch that began with a record at this position. */
export interface Epoch {
  readonly epoch: number;
  readonly begin: number;
}

const RETRY_MS = 100;

/**
 * Begins the next epoch behind the position up to which the caller has read everything, where the epoch was `present`. Null if the
 * log has gone on: another process writes it. The record lands at one position or nowhere, and is known by its attempt, so asking again
 * is harmless.
 */
export async function beginEpoch(
  port: LogPort,
  read: { readonly position: number; readonly epoch: number },
  owner: EpochOwner,
): Promise<Epoch | null> {
  const epoch = read.epoch + 1;
  const begin = read.position + 1;
  const bytes = epochMessage(owner, epoch, begin);
  for (;;) {
    const outcome = await new Promise<PublishOutcome>((resolve) => port.publish(begin, bytes, resolve));
    if (outcome === "landed") return { epoch, begin };
    const end = await lastOf(port);
    if (end.position >= begin) {
      // If something stands behind an own record, it may be a later epoch: this one is given up.
      const found = readMessage(end);
      const isOwn = end.position === begin && found !== null && ownerOf(found)?.attempt === owner.attempt;
      return isOwn ? { epoch, begin } : null;
    }
    await pause(port);
  }
}

/** The end of the log, as soon as it can be read. */
export function lastOf(port: LogPort): Promise<LogMessage> {
  return patiently(port, () => port.last());
}

/** Asks again until there is an answer: servers that choose a leader give none for some seconds. */
export async function patiently<T>(port: LogPort, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await pause(port);
    }
  }
}

function pause(port: LogPort): Promise<void> {
  return new Promise((resolve) => port.later(RETRY_MS, resolve));
}
