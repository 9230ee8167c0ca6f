/** Bugs that can be planted in the core, so that tests can show that the simulator finds such bugs. */
export const PLANTS = [
  "ignore-ancestors",
  "ignore-readers",
  "forget-dependency",
  "commit-early",
  "no-cascade",
  "messages-out-of-order",
  "late-views",
  "results-as-they-come",
  "callers-as-they-are",
  "whole-early",
] as const;

/** The same between a program and its journal. */
export const CRASH_PLANTS = [
  "reply-before-sync",
  "forget-tickets",
  "lose-answers",
  "timers-by-name",
] as const;

/** The same where contexts move between hosts. */
export const MOVE_PLANTS = ["no-last-difference", "move-early"] as const;

/** The same where hosts let go of contexts that the journal has. */
export const LET_GO_PLANTS = ["let-go-early"] as const;

export type Plant =
  | (typeof PLANTS)[number]
  | (typeof CRASH_PLANTS)[number]
  | (typeof MOVE_PLANTS)[number]
  | (typeof LET_GO_PLANTS)[number];
