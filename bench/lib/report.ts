import type { Figures } from "./rounds.js";

/** One JSON object per line, for machines. */
export function jsonLine(bench: string, figures: Figures): string {
  return JSON.stringify({
    bench,
    case: figures.case.name,
    hosts: figures.case.hosts ?? 1,
    journal: figures.case.journal,
    contexts: figures.case.contexts,
    work: figures.work,
    inFlight: figures.inFlight,
    rounds: figures.rounds,
    events: figures.events,
    eventsPerSecond: Math.round(figures.eventsPerSecond),
    p50Ms: rounded(figures.p50Ms, 5),
    p99Ms: rounded(figures.p99Ms, 5),
    ratio: rounded(figures.ratio, 4),
    baseline: figures.case.baseline,
    baselineEventsPerSecond: Math.round(figures.baselineEventsPerSecond),
  });
}

const HEADINGS = [
  "case",
  "contexts",
  "work",
  "in flight",
  "events/s",
  "p50 ms",
  "p99 ms",
  "ratio",
  "to",
] as const;

/** The same figures for people: one aligned row per case, a blank line between settings. */
export function table(all: readonly Figures[]): string {
  const rows = all.map((figures) => [
    figures.case.name,
    String(figures.case.contexts),
    String(figures.work),
    String(figures.inFlight),
    Math.round(figures.eventsPerSecond).toLocaleString("en"),
    figures.p50Ms.toFixed(4),
    figures.p99Ms.toFixed(4),
    figures.ratio.toFixed(2),
    figures.case.baseline,
  ]);
  const widths = HEADINGS.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const lines = [HEADINGS, ...rows].map((row) =>
    row.map((cell, i) => aligned(cell, widths[i] ?? 0, i)).join("  "),
  );
  const text: string[] = [];
  for (const [i, line] of lines.entries()) {
    const [before, here] = [all[i - 2], all[i - 1]];
    if (i === 1 || before?.inFlight !== here?.inFlight || before?.work !== here?.work) text.push("");
    text.push(line.trimEnd());
  }
  return `${text.join("\n").trimStart()}\n`;
}

/** Names stand left, numbers right. */
function aligned(cell: string, width: number, column: number): string {
  return column === 0 || column === HEADINGS.length - 1 ? cell.padEnd(width) : cell.padStart(width);
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
