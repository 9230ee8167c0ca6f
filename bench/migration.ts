import { hostsOf, run, type Service } from "headwater";
import type { Figure, Line } from "#src/chart/chart.js";
import { Findings, figureOptions } from "./lib/figures.js";
import { Latencies, Sorted, sleep } from "./lib/latencies.js";
import Town from "./lib/town.js";
import { unitsIn } from "./lib/work.js";

/**
 * Figures 15 and 16 of EventWave: what moving a context from one host to another does to it and to the others, for
 * contexts of several sizes, while the others are kept busy; and the same when everything commits in ticket order.
 */

const COUNTERS = 160;
/** Few enough that two cores have time for both the events and the copying. */
const PER_SECOND = 2000;
const WORK_MS = 0.02;
const TURN_MS = 2;
const CHARACTERS = 1000;
const WINDOW_MS = 100;
/** Moves of one size are made until they have taken so long, and there are at least so many of those up to 1 MB. */
const MOVING_MS = 2000;
const MOVES_MIN = 15;
const MOVES_MAX = 300;
/** While V8 compiles the code that moves contexts, on cores that the others need: these moves count apart, if they are short. */
const FIRST_MOVES = 15;
/** A p99 is taken of at least so many requests: of several moves together if they are short. */
const REQUESTS_MIN = 500;
const GAP_MS_MIN = 20;
const SIZES = { "4 kB": 4e3, "100 kB": 1e5, "1 MB": 1e6, "10 MB": 1e7, "100 MB": 1e8 };
const SIZES_QUICK = { "4 kB": 4e3, "100 kB": 1e5 };
const module = new URL("./lib/town.ts", import.meta.url).href;

type CommitOrder = "observer" | "total";

interface Row {
  readonly case: string;
  readonly hosts: number;
  readonly commitOrder: CommitOrder;
  readonly bytes: number;
  readonly moves: number;
  /** From the request to move until the context is there; the median. */
  readonly moveMs: number;
  /** The longest that a request to the moved context took, beyond what it usually takes: the median, and the worst. */
  readonly pauseMs: number;
  readonly pauseMaxMs: number;
  readonly eventsPerSecond: number;
  /**
   * Of the requests to other contexts during moves, until the moved context has answered where it is now; and for as
   * long just before each and just after it. Medians over groups of moves.
   */
  readonly requests: number;
  readonly p99Ms: number;
  readonly p99DuringMs: number;
  readonly p99AfterMs: number;
  /** Of the p99 during a group of moves to that just before; the median of these. */
  readonly ratio: number;
  /** The same of the first moves of the process, if it was measured. */
  readonly firstRatio: number | null;
  readonly baseline: string;
}

type Course = readonly (readonly [number, number])[];

export async function main(args: readonly string[]): Promise<void> {
  const options = figureOptions(args);
  const findings = new Findings<Row>("migration", options);
  const sizes = Object.entries(options.quick ? SIZES_QUICK : SIZES);
  const courses: Record<string, Course> = {};
  for (const commitOrder of ["observer", "total"] as const) {
    for (const [name, bytes] of sizes) {
      findings.progress(`${name}, ${commitOrder} order`);
      const { row, course } = await moved(name, bytes, commitOrder, options.quick);
      findings.add(row);
      courses[`${name}, ${commitOrder} order`] = course;
    }
  }
  await findings.draw(figures(findings.rows, courses), { courses });
  goals(findings);
}

interface Moved {
  readonly row: Row;
  readonly course: Course;
}

async function moved(name: string, bytes: number, commitOrder: CommitOrder, quick: boolean): Promise<Moved> {
  const service = await run(Town, { hosts: 2, module, commitOrder });
  try {
    return await measured(service, name, bytes, commitOrder, quick);
  } finally {
    await service.stop();
  }
}

async function measured(
  service: Service<Town>,
  name: string,
  bytes: number,
  commitOrder: CommitOrder,
  quick: boolean,
): Promise<Moved> {
  const hosts = hostsOf(service);
  const vault = service.root.buckets(0);
  const entries = Math.ceil(bytes / CHARACTERS);
  for (let from = 0; from < entries; from += 1000)
    await vault.fill(from, Math.min(1000, entries - from), CHARACTERS);
  await hosts.move(vault, 0);
  const load = new Load(service);
  const calmMs = quick ? 200 : 2000;
  await sleep(calmMs); // warm up
  const beganMs = performance.now();
  await sleep(calmMs);
  const movesAt: [number, number][] = [];
  const isShort = !quick && bytes <= 1e6;
  const first = isShort ? FIRST_MOVES : 0;
  const movesMin = first + (isShort ? MOVES_MIN : 2);
  let movingMs = 0;
  while (
    movesAt.length < movesMin ||
    (!quick && movingMs < MOVING_MS && movesAt.length < first + MOVES_MAX)
  ) {
    const fromMs = performance.now();
    await hosts.move(vault, (movesAt.length + 1) % 2);
    const tookMs = performance.now() - fromMs;
    if (movesAt.length >= first) movingMs += tookMs;
    movesAt.push([fromMs, fromMs + tookMs]);
    // What comes before the next one is neither a part of this one nor just after it.
    await sleep(Math.max(movesAt.length === 1 ? calmMs : 0, 2.1 * tookMs, GAP_MS_MIN));
  }
  const endMs = performance.now();
  await load.stop();
  if ((await vault.size()) !== entries) throw new Error(`${name}: entries were lost on the way.`);
  return summary(load, beganMs, endMs, movesAt, { name, bytes, commitOrder, calmMs, first });
}

interface Setting {
  readonly name: string;
  readonly bytes: number;
  readonly commitOrder: CommitOrder;
  readonly calmMs: number;
  /** How many moves count apart. */
  readonly first: number;
}

function summary(
  load: Load,
  beganMs: number,
  endMs: number,
  allMovesAt: readonly [number, number][],
  setting: Setting,
): Moved {
  const { name, bytes, commitOrder, calmMs, first } = setting;
  const [[firstMs = 0, firstEndMs = 0] = []] = allMovesAt;
  const movesAt = allMovesAt.slice(first);
  const stretchOf = ([from, to]: readonly [number, number]) =>
    [from, load.vault.firstAnswerAfter(to)] as const;
  const stretches = movesAt.map(stretchOf);
  const groups = p99sOf(load.others, stretches);
  const firstGroups = p99sOf(load.others, allMovesAt.slice(0, first).map(stretchOf));
  const median = (value: (group: P99s) => number, of = groups) => new Sorted(of.map(value)).quantile(0.5);
  const increase = ({ before, during }: P99s) => during / before;
  const usualMs = load.vault.between(beganMs, firstMs).quantile(0.5);
  const pauses = stretches.map(([from, to]) => Math.max(0, load.vault.between(from, to).max - usualMs));
  const windows = load.others.windows(firstMs - calmMs, Math.min(endMs, firstEndMs + calmMs), WINDOW_MS);
  const row: Row = {
    case: `move-${name.replace(" ", "")}-${commitOrder}`,
    hosts: 2,
    commitOrder,
    bytes,
    moves: movesAt.length,
    moveMs: new Sorted(movesAt.map(([from, to]) => to - from)).quantile(0.5),
    pauseMs: new Sorted(pauses).quantile(0.5),
    pauseMaxMs: new Sorted(pauses).max,
    eventsPerSecond: (load.others.between(beganMs, endMs).count / (endMs - beganMs)) * 1000,
    requests: groups.reduce((sum, { requests }) => sum + requests, 0),
    p99Ms: median(({ before }) => before),
    p99DuringMs: median(({ during }) => during),
    p99AfterMs: median(({ after }) => after),
    ratio: median(increase),
    firstRatio: first === 0 ? null : median(increase, firstGroups),
    baseline: "before the move",
  };
  return {
    row,
    course: windows.map(
      ({ atMs, ended }) => [(atMs - firstMs) / 1000, (ended.count * 1000) / WINDOW_MS] as const,
    ),
  };
}

interface P99s {
  readonly requests: number;
  readonly before: number;
  readonly during: number;
  readonly after: number;
}

/** A short move meets few requests, so one after the other are taken together until they have met enough. */
function p99sOf(others: Latencies, moves: readonly (readonly [number, number])[]): P99s[] {
  const found: P99s[] = [];
  let [before, during, after]: [number[], number[], number[]] = [[], [], []];
  for (const [i, [from, to]] of moves.entries()) {
    const widthMs = to - from;
    before.push(...others.valuesBetween(from - widthMs, from));
    during.push(...others.valuesBetween(from, to));
    after.push(...others.valuesBetween(to, to + widthMs));
    const isLeftOver = found.length > 0 && during.length < REQUESTS_MIN;
    if (i < moves.length - 1 ? during.length < REQUESTS_MIN : isLeftOver) continue;
    const p99 = (values: readonly number[]) => new Sorted(values).quantile(0.99);
    found.push({ requests: during.length, before: p99(before), during: p99(during), after: p99(after) });
    [before, during, after] = [[], [], []];
  }
  return found;
}

/** Asks the counters at a steady rate, and the context that is moved one request after the other. */
class Load {
  readonly others = new Latencies();
  readonly vault = new Latencies();
  readonly #loops: Promise<void>[] = [];
  #isOver = false;

  constructor({ root }: Service<Town>) {
    const work = unitsIn(WORK_MS);
    const counters = Array.from({ length: COUNTERS }, (_, key) => root.counters(key));
    const ask = async () => {
      const beganMs = performance.now();
      let [asked, answered] = [0, 0];
      const one = async (number: number) => {
        await this.others.time(async () => counters[number % COUNTERS]?.bump(work));
        answered += 1;
      };
      while (!this.#isOver) {
        const due = ((performance.now() - beganMs) * PER_SECOND) / 1000;
        for (; asked < due; asked++) void one(asked);
        await sleep(TURN_MS);
      }
      while (answered < asked) await sleep(TURN_MS);
    };
    this.#loops.push(ask());
    const bucket = root.buckets(0);
    const touch = async () => {
      while (!this.#isOver) {
        await this.vault.time(() => bucket.touch());
        await sleep(1);
      }
    };
    this.#loops.push(touch());
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }
}

function figures(rows: readonly Row[], courses: Readonly<Record<string, Course>>): Record<string, Figure> {
  const course = (name: string, index: number): Line[] => {
    const points = courses[name];
    return points === undefined ? [] : [{ name, points, colour: index, dashed: name.includes("total") }];
  };
  const against = (
    name: string,
    commitOrder: CommitOrder,
    value: (row: Row) => number,
    colour: number,
  ): Line => ({
    name,
    colour,
    dashed: commitOrder === "total",
    points: rows.flatMap((row) =>
      row.commitOrder === commitOrder ? [[row.bytes, Math.max(0.1, value(row))] as const] : [],
    ),
  });
  const shown = ["4 kB", "1 MB", "100 MB"];
  const bytes = { label: "size of the moved context, bytes", log: true };
  return {
    migration: {
      title: "Other contexts go on while one is moved",
      note:
        `${COUNTERS} other contexts on two hosts are asked ${PER_SECOND} times a second. Answers per second, in stretches of ` +
        `${WINDOW_MS} ms; a context of the given size moves from one host to the other at time 0.`,
      panels: (["observer", "total"] as const).map((order) => ({
        title:
          order === "observer"
            ? "As usual: answers wait for nobody else"
            : "All answers in ticket order, as in the paper",
        x: { label: "time, s" },
        y: { label: "answers per second", min: 0 },
        lines: shown.flatMap((size, i) => course(`${size}, ${order} order`, i)),
        marks: [{ x: 0, text: "the move begins" }],
      })),
    },
    "migration-latency": {
      title: "What a move takes, and what it costs",
      note: "Many moves, back and forth, under load; times are medians. The pause is what a request to the moved context waits longer than usual.",
      panels: [
        {
          title: "The moved context",
          x: bytes,
          y: { label: "ms", log: true },
          lines: [
            against("the whole move", "observer", ({ moveMs }) => moveMs, 0),
            against("pause of the context", "observer", ({ pauseMs }) => pauseMs, 1),
            against("the whole move, total order", "total", ({ moveMs }) => moveMs, 2),
          ],
        },
        {
          title: "The p99 of the other contexts during a move, to that before it",
          x: bytes,
          y: { label: "times", log: true },
          lines: [
            against("as usual", "observer", ({ ratio }) => ratio, 0),
            against("total order", "total", ({ ratio }) => ratio, 2),
          ],
        },
      ],
    },
  };
}

const PAUSE_MS_MAX = 20;
const RATIO_MAX = 1.5;

function goals(findings: Findings<Row>): void {
  const row = findings.rows.find(({ bytes, commitOrder }) => bytes === 1e6 && commitOrder === "observer");
  if (row === undefined) return;
  const verdict = (met: boolean) => (met ? "met" : "MISSED");
  findings.progress(
    `${verdict(row.pauseMs <= PAUSE_MS_MAX)}: a context of 1 MB pauses for at most ${PAUSE_MS_MAX} ms: ${row.pauseMs.toFixed(1)}`,
  );
  findings.progress(
    `${verdict(row.ratio <= RATIO_MAX)}: the p99 of the others stays within ${RATIO_MAX} times: ${row.ratio.toFixed(2)} (during the first ${FIRST_MOVES} moves: ${row.firstRatio?.toFixed(2)})`,
  );
}
