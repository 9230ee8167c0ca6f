import type { Mark, Marks } from "../core/marks.js";
import { showPath } from "../model/path.js";
import type { RunReport } from "./run-once.js";
import type { Schedule } from "./schedule.js";

const EVENTS_SHOWN = 12;
const TEXT_MAX = 60;

/** What faults there were, in the words of the simulator's marks. */
const FAULTS: readonly Mark[] = [
  "a crash ended the program",
  "a host crashed",
  "a connection to a host was lost",
  "a context was migrated",
  "a host was added",
  "a host was removed",
  "the disk failed",
];

/** A failure in words: what is wrong, the smallest schedule that shows it, and how to see it again. */
export function explain(replay: string, schedule: Schedule, error: Error, { run, marks }: RunReport): string {
  const events = [...run.log.events].sort((a, b) => a.ticket - b.ticket);
  const lines = events.slice(-EVENTS_SHOWN).map(({ node, ticket, path, method, args, caller, result }) => {
    const asked = `${node}${showPath(path)}.${method}(${args.map(text).join(", ")})`;
    const who = caller === undefined ? "" : `${caller}: `;
    return `  ${ticket}. ${who}${asked} ${result.ok ? `returned ${text(result.value)}` : `failed: ${result.error.message}`}`;
  });
  const left = events.length - lines.length;
  return [
    `a schedule of ${count(schedule.acts.length, "act")} breaks the program: ${error.message.trim()}`,
    `Events${left > 0 ? ` (the last ${EVENTS_SHOWN} of ${events.length})` : ""}:`,
    ...lines,
    `Faults: ${faults(schedule, marks)}.`,
    `Replay it: HEADWATER_REPLAY=${replay}`,
  ].join("\n");
}

function faults({ hosts }: Schedule, marks: Marks): string {
  const happened = FAULTS.filter((mark) => marks.count(mark) > 0).map(
    (mark) => `${mark} (${marks.count(mark)})`,
  );
  return [hosts ? "several hosts" : "one host", ...happened].join(", ");
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function text(value: unknown): string {
  let shown: string;
  try {
    shown = JSON.stringify(value) ?? String(value);
  } catch {
    shown = String(value);
  }
  return shown.length > TEXT_MAX ? `${shown.slice(0, TEXT_MAX)}…` : shown;
}
