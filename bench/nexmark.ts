import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { EngineRun } from "./nexmark/durable.js";
import type { Ask, Form } from "./nexmark/engine-process.js";
import { type Events, nexmarkEvents } from "./nexmark/events.js";
import { QUERIES } from "./nexmark/queries.js";
import type { NexmarkQuery } from "./nexmark/query.js";

/**
 * Nexmark as standing queries, over events that stand in memory as columns, beside what one would write by hand over row objects.
 * A round is a batch of bids with what comes in its time; queries over windows emit when windows close, others with every
 * change. Results are counted and dropped; nothing is journaled. Both take turns, each in a process that holds the events in its
 * own form only, and what counts is CPU time, so the events per second are those of one core. `--once` runs the queries over the
 * whole input instead. `--journal` runs them in the service, with a journal that is written: see `nexmark/durable.ts`.
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
  const form = values.once === true ? "once" : "standing";
  const journal = values.journal === true ? "written" : "none";
  const goal = GOALS[journal];
  const figures: Figure[] = [];
  const engine = new EngineProcess(count, journal === "written" ? "journal" : form);
  for (const [name, query] of chosen) {
    const turns = journal === "written" ? Math.min(rounds, 3) : rounds;
    const figure = await measured(name, query, events, engine, count, turns);
    figures.push(figure);
    if (values.json === true)
      process.stdout.write(
        `${JSON.stringify({ bench: "nexmark", form, journal, events: count, ...figure })}\n`,
      );
  }
  engine.end();
  if (values.json !== true) process.stdout.write(table(figures));
  const least = figures.reduce((a, b) => (b.ratio < a.ratio ? b : a));
  progress(
    `${least.ratio >= goal ? "met" : "MISSED"}: at least ${goal} of the loop by hand: ${least.query} has ${least.ratio.toFixed(2)}`,
  );
}

/** The two take turns, so that a slow moment of the machine falls on both; medians are reported. */
async function measured(
  name: string,
  { byHand }: NexmarkQuery,
  events: Events,
  engine: EngineProcess,
  count: number,
  rounds: number,
): Promise<Figure> {
  const times = { engine: [] as number[], byHand: [] as number[] };
  let expected = 0;
  for (let round = 0; round < rounds + 1; round++) {
    const isFirst = round === 0; // it warms up, and all of its results are counted
    const { cpuSeconds: own, results } = await engine.run({ name, isChecked: isFirst });
    expected = 0;
    const hand = cpuSeconds(() =>
      byHand(events, (row) => {
        expected++;
        last = row; // otherwise the row would not be made at all
      }),
    );
    if ((results !== null && results !== expected) || last.length === 0)
      throw new Error(`${name} gave ${results} results, and ${expected} by hand.`);
    if (isFirst) continue;
    times.engine.push(own);
    times.byHand.push(hand);
  }
  return figureOf(name, expected, count, median(times.engine), median(times.byHand));
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

/** The engine, in a process of its own: see `nexmark/engine-process.ts`. */
class EngineProcess {
  readonly #process: ChildProcess;

  constructor(count: number, form: Form) {
    const program = fileURLToPath(new URL("nexmark/engine-process.ts", import.meta.url));
    this.#process = fork(program, [String(count), String(BATCH_ROWS), form]);
  }

  async run(ask: Ask): Promise<EngineRun> {
    this.#process.send(ask);
    const heard = new AbortController();
    const ended = once(this.#process, "exit", heard).then(() => {
      throw new Error(`The engine ended while it ran ${ask.name}.`);
    });
    ended.catch(() => {});
    const [run] = (await Promise.race([once(this.#process, "message", heard), ended])) as [EngineRun];
    heard.abort();
    return run;
  }

  end(): void {
    this.#process.kill();
  }
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
