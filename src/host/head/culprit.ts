import type { Ticket } from "../../core/event.js";

/** What is known of why a host has ended, or does not answer, as one logical node sees it. */
export type Culprit =
  /** This event of the logical node was at work there. */
  | { readonly kind: "event"; readonly ticket: Ticket }
  /** Nothing of this logical node. */
  | { readonly kind: "other" }
  /** Any event that was on the host may be the cause, or none. */
  | { readonly kind: "unknown" };

export const OTHER: Culprit = { kind: "other" };
export const UNKNOWN: Culprit = { kind: "unknown" };

/** May the event be to blame? */
export function mayBe(culprit: Culprit, ticket: Ticket): boolean {
  switch (culprit.kind) {
    case "event":
      return culprit.ticket === ticket;
    case "other":
      return false;
    case "unknown":
      return true;
  }
}
