import type { TimerId } from "../../model/event.js";
import { askedAt } from "../../model/path.js";
import { digits, NAME_BYTES_MAX, segment, shortened } from "../context/index.js";

/**
 * When timers go off, and in which order: by the time they are due; timers due at the same time in the order of
 * the tickets of the events that set them; those of one event in the order of asking. The keys under which a journal has
 * timers are in that order, and they decide it, so that a timer has the same place before and after a crash.
 */

/** Whole milliseconds from `steadyMs` on, never less than `ms`. A timer that is further away than this goes off then. */
export function dueAfter(steadyMs: number, ms: number): number {
  return Math.min(Math.ceil(steadyMs + ms), Number.MAX_SAFE_INTEGER);
}

/** Under which keys a journal has the armed timers of a logical node. */
export function keysOfTimers(node: string): string {
  return `w/${segment(node)}/`;
}

/** Where a journal has a timer. */
export function timerKey(node: string, id: TimerId, due: number): string {
  return `${keysOfTimers(node)}${digits(due)}/${askedInOrder(node, id)}`;
}

/** A text for `ticket:1.12` such that the order of texts is that of the tickets, then of the positions. */
export function askedInOrder(node: string, id: TimerId): string {
  const [ticket = "", positions = ""] = askedAt(node, id).split(":");
  const places = positions.split(".").map((position) => `${position.length.toString(36)}${position}`);
  return shortened(`${digits(ticket)}/${places.join(".")}`, NAME_BYTES_MAX);
}
