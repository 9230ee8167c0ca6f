import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Batch } from "#src/streams/columns/index.js";
import type { DurableRun } from "./nexmark/durable.js";
import { type Batches, engineOf, standingOf } from "./nexmark/engine.js";
import { batchesOf, type Events, nexmarkEvents } from "./nexmark/events.js";
import { QUERIES } from "./nexmark/queries.js";
import type { NexmarkQuery } from "./nexmark/query.js";

/**
 * Nexmark as standing queries, over events that stand in memory as columns, beside what one would write by hand over row objects.
 * A round is a batch of bids with what comes in its time; queries over windows emit when windows close, others with every
 * change. Results are counted and dropped; nothing is journaled. Both take turns in one process, and what counts is CPU time,
 * so the events per second are those of one core. `--once` runs the queries over the whole input instead. `--journal` runs them in
 * the service, with a journal that is written: see `nexmark/durable.ts`.
 */
const BATCH_ROWS = 1000;
/** The least ratio to the loop by hand, without a journal and with one. */
const GOALS = { none: 0.3, written: 0.12 } as const;

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
      journal: { type: "boolean" },
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
  const journal = values.journal === true ? "written" : "none";
  const goal = GOALS[journal];
  const figures: Figure[] = [];
  const service = journal === "written" ? new DurableProcess(count) : null;
  for (const [name, query] of chosen) {
    const figure =
      journal === "written"
        ? await measuredWithJournal(name, query, events, service, count, Math.min(rounds, 3))
        : await measured(name, query, form, events, batches, count, rounds);
    figures.push(figure);
    if (values.json === true)
      process.stdout.write(
        `${JSON.stringify({ bench: "nexmark", form, journal, events: count, ...figure })}\n`,
      );
  }
  service?.end();
  if (values.json !== true) process.stdout.write(table(figures));
  const least = figures.reduce((a, b) => (b.ratio < a.ratio ? b : a));
  progress(
    `${least.ratio >= goal ? "met" : "MISSED"}: at least ${goal} of the loop by hand: ${least.query} has ${least.ratio.toFixed(2)}`,
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
  return figureOf(name, results, count, median(times.engine), median(times.byHand));
}

function figureOf(name: string, results: number, count: number, own: number, hand: number): Figure {
  progress(`${name}: ${(hand / own).toFixed(2)}`);
  return {
    query: name,
    results,
    eventsPerSecond: Math.round(count / own),
    byHandEventsPerSecond: Math.round(count / hand),
    ratio: Number((hand / own).toFixed(3)),
  };
}

/** The service with its journal, in a process of its own: see `nexmark/durable-process.ts`. */
class DurableProcess {
  readonly #process: ChildProcess;

  constructor(count: number) {
    const program = fileURLToPath(new URL("nexmark/durable-process.ts", import.meta.url));
    this.#process = fork(program, [String(count), String(BATCH_ROWS)]);
  }

  async run(name: string): Promise<DurableRun> {
    this.#process.send(name);
    const heard = new AbortController();
    const ended = once(this.#process, "exit", heard).then(() => {
      throw new Error(`The service ended while it ran ${name}.`);
    });
    ended.catch(() => {});
    const [run] = (await Promise.race([once(this.#process, "message", heard), ended])) as [DurableRun];
    heard.abort();
    return run;
  }

  end(): void {
    this.#process.kill();
  }
}

/** The same with the service and its journal. */
async function measuredWithJournal(
  name: string,
  { byHand }: NexmarkQuery,
  events: Events,
  service: DurableProcess | null,
  count: number,
  rounds: number,
): Promise<Figure> {
  const [engine, hand]: [number[], number[]] = [[], []];
  let results: number | null = null;
  let expected = 0;
  for (let round = 0; round < rounds + 1; round++) {
    const run = await service?.run(name);
    if (run === undefined) throw new Error("There is no process to run it.");
    results = run.results;
    expected = 0;
    const seconds = cpuSeconds(() =>
      byHand(events, (row) => {
        expected++;
        last = row;
      }),
    );
    if (round === 0) continue;
    engine.push(run.cpuSeconds);
    hand.push(seconds);
  }
  if ((results !== null && results !== expected) || last.length === 0)
    throw new Error(`${name} gave ${results} results, and ${expected} by hand.`);
  return figureOf(name, expected, count, median(engine), median(hand));
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
