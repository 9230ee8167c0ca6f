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

/** The same where contexts migrate between hosts. */
export const MIGRATION_PLANTS = ["no-last-difference", "migrate-early", "copy-unmade"] as const;

/** The same where hosts evict contexts that the journal has. */
export const EVICTION_PLANTS = ["evict-early"] as const;

export type Plant =
  | (typeof PLANTS)[number]
  | (typeof CRASH_PLANTS)[number]
  | (typeof MIGRATION_PLANTS)[number]
  | (typeof EVICTION_PLANTS)[number];
