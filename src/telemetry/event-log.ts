import { type DroppedFact, type Fact, KINDS, type Kind, lineOf, type Observation } from "../observe/index.js";
import type { Observed } from "./observed.js";

/** From what is said most often to what is said least. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface EventLogOptions {
  /** The lowest level that is written: `"info"` unless it says otherwise. `"debug"` writes every event. */
  readonly level?: LogLevel;
  /** Takes one line of JSON, without its line break. If it returns a promise, the next comes when that has settled. */
  readonly write: (line: string) => void | Promise<void>;
}

/** What costs something for each event is left to the dashboard and to programs that ask for it. */
type WrittenKind = Exclude<Kind, "load" | "trail">;

/** The least level at which facts of a kind are written. */
const LEVELS: Readonly<Record<WrittenKind | "dropped", LogLevel>> = {
  wait: "debug",
  journal: "debug",
  event: "debug",
  host: "info",
  member: "info",
  migration: "info",
  decision: "info",
  refused: "warn",
  warning: "warn",
  dropped: "warn",
  failure: "error",
  halted: "error",
};

/**
 * Writes what goes on in a program as lines of JSON: `time`, `level` and `kind` first, then the fields of the fact. Failed events are
 * written from `"warn"` on, also when the failure is an answer to a caller. Returns how to stop.
 */
export function logFacts(service: Observed, { level = "info", write }: EventLogOptions): Observation {
  const least = LOG_LEVELS.indexOf(level);
  const isWritten = (each: LogLevel) => LOG_LEVELS.indexOf(each) >= least;
  const kinds = KINDS.filter((kind) => kind !== "load" && kind !== "trail" && isWritten(highest(kind)));
  return service.observe(kinds, (fact) => {
    const own = levelOf(fact);
    if (isWritten(own)) return write(logLine(own, fact));
  });
}

/** The level that a fact of this kind has at most: a failed event is a warning. */
function highest(kind: WrittenKind): LogLevel {
  return kind === "event" ? "warn" : LEVELS[kind];
}

function levelOf(fact: Fact | DroppedFact): LogLevel {
  if (fact.kind === "load" || fact.kind === "trail" || (fact.kind === "member" && fact.what === "measured"))
    return "debug";
  return fact.kind === "event" && !fact.ok ? "warn" : LEVELS[fact.kind];
}

function logLine(level: LogLevel, fact: Fact | DroppedFact): string {
  const head = JSON.stringify({ time: new Date(fact.atMs).toISOString(), level });
  return `${head.slice(0, -1)},${lineOf(fact).slice(1)}`;
}
