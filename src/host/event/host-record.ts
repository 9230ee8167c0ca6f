import type { EventRequest } from "./request.js";

/** What is known of an event that was on hosts when they ended. */
export class HostRecord {
  /** How many hosts have ended while it was running there. */
  hostsLost = 0;
  /** The same, with those counted more at which it is known to have been at work. */
  suspicion = 0;
  /** How many of those hosts ran nothing else, or were known to be at it, after the first. */
  lostAlone = 0;
  /** How often it was alone on a host for its time, and nothing happened. */
  passes = 0;
  /** Why the last one ended. */
  why = "";
  /** It is not run again; the journal keeps it in the list of parked events. */
  isParked = false;
}

/** So many hosts that ran nothing else are proof. */
const LOST_ALONE_MAX = 3;

export function endsItsHosts({ record }: EventRequest): boolean {
  return record !== null && record.lostAlone >= LOST_ALONE_MAX;
}
