import { parseArgs } from "node:util";
import type { Batch } from "#src/streams/columns/index.js";
import { type Batches, engineOf, standingOf } from "./nexmark/engine.js";
import { batchesOf, type Events, nexmarkEvents } from "./nexmark/events.js";
import { QUERIES } from "./nexmark/queries.js";
import type { NexmarkQuery } from "./nexmark/query.js";

/**
 * Nexmark as standing queries, over events that stand in memory as columns, beside what one would write by hand over row objects.
 * A round is a batch of bids with what comes in its time; queries over windows emit when windows close, others with every
 * change. Results are counted and dropped; nothing is journaled. Both take turns in one process, and what counts is CPU time,
 * so the events per second are those of one core. `--once` runs the queries over the whole input instead.
 */
const BATCH_ROWS = 1000;
const GOAL = 0.3;

let last: readonly unknown[] = [];

interface Figure {
  readonly query: string;
  readonly results: number;
  readonly eventsPerSecond: number;
  readonly byHandEventsPerSecond: number;
  readonly ratio: number;
}

export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean" },
      quick: { type: "boolean" },
      events: { type: "string" },
      query: { type: "string" },
      once: { type: "boolean" },
    },
  });
  const count = Number(values.events ?? (values.quick === true ? 50_000 : 500_000));
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`--events takes a whole number, not "${values.events}".`);
  const rounds = values.quick === true ? 3 : 7;
  const chosen = Object.entries(QUERIES).filter(
    ([name]) => values.query === undefined || name === values.query,
  );
  if (chosen.length === 0)
    throw new Error(`There is no query "${values.query}": ${Object.keys(QUERIES).join(", ")}.`);
  progress(`${count.toLocaleString("en")} events`);
  const events = nexmarkEvents(count);
  const batches: Batches = {
    person: batchesOf("person", events, BATCH_ROWS),
    auction: batchesOf("auction", events, BATCH_ROWS),
    bid: batchesOf("bid", events, BATCH_ROWS),
    side_input: batchesOf("side_input", events, BATCH_ROWS),
  };
  const form = values.once === true ? "once" : "standing";
  const figures: Figure[] = [];
  for (const [name, query] of chosen) {
    const figure = await measured(name, query, form, events, batches, count, rounds);
    figures.push(figure);
    if (values.json === true)
      process.stdout.write(
        `${JSON.stringify({ bench: "nexmark", form, journal: "none", events: count, ...figure })}\n`,
      );
  }
  if (values.json !== true) process.stdout.write(table(figures));
  const least = figures.reduce((a, b) => (b.ratio < a.ratio ? b : a));
  progress(
    `${least.ratio >= GOAL ? "met" : "MISSED"}: at least ${GOAL} of the loop by hand: ${least.query} has ${least.ratio.toFixed(2)}`,
  );
}

/** The two take turns, so that a slow moment of the machine falls on both; medians are reported. */
async function measured(
  name: string,
  { sql, byHand, isWindowed }: NexmarkQuery,
  form: "once" | "standing",
  events: Events,
  batches: Batches,
  count: number,
  rounds: number,
): Promise<Figure> {
  const emit = isWindowed === true ? "on window close" : "changes";
  const engine = form === "once" ? await engineOf(sql) : await standingOf(sql, { emit, latenessMs: 0 });
  let [results, expected] = [0, 0];
  const runs = {
    engine: () => {
      results = 0;
      engine(batches, (batch) => {
        results += weightOf(batch);
      });
    },
    byHand: () => {
      expected = 0;
      byHand(events, (row) => {
        expected++;
        last = row; // otherwise the row would not be made at all
      });
    },
  };
  const times: Record<keyof typeof runs, number[]> = { engine: [], byHand: [] };
  for (let round = 0; round < rounds + 1; round++)
    for (const which of ["engine", "byHand"] as const) {
      const seconds = cpuSeconds(runs[which]);
      if (round > 0) times[which].push(seconds); // the first round warms up
    }
  if (results !== expected || last.length === 0)
    throw new Error(`${name} gave ${results} results, and ${expected} by hand.`);
  const [own, hand] = [median(times.engine), median(times.byHand)];
  progress(`${name}: ${(hand / own).toFixed(2)}`);
  return {
    query: name,
    results,
    eventsPerSecond: Math.round(count / own),
    byHandEventsPerSecond: Math.round(count / hand),
    ratio: Number((hand / own).toFixed(3)),
  };
}

/** How many rows a batch adds, less those that it takes back. */
function weightOf({ rows, weights }: Batch): number {
  if (weights === null) return rows;
  let sum = 0;
  for (let i = 0; i < rows; i++) sum += weights[i] as number;
  return sum;
}

function cpuSeconds(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ query, results, eventsPerSecond, byHandEventsPerSecond, ratio }) =>
    [
      query.padEnd(5),
      ...[results, eventsPerSecond, byHandEventsPerSecond].map((each) =>
        each.toLocaleString("en").padStart(14),
      ),
      ratio.toFixed(2).padStart(8),
    ].join(""),
  );
  const heading = [
    "query",
    ...["results", "events/s", "by hand"].map((each) => each.padStart(14)),
    "ratio".padStart(8),
  ].join("");
  return `${[heading, ...rows].join("\n")}\n`;
}

function progress(line: string): void {
  process.stderr.write(`nexmark: ${line}\n`);
}
