import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "headwater";
import type { Line } from "#src/chart/chart.js";
import LinearRoad, { drive } from "../examples/linear-road/contexts.js";
import { QueriedRoad } from "../examples/linear-road/queries.js";
import { nothingTold, type Outcome, type Second } from "../examples/linear-road/records.js";
import { Traffic } from "../examples/linear-road/traffic.js";
import { Findings, figureOptions } from "./lib/figures.js";

/**
 * Linear Road: how many expressways one process holds, with every vehicle told within 5 seconds of its report. Seconds are fed in one
 * after the other as fast as they are taken, and the time that each would have been answered at is computed from that: a
 * second is begun when it has come in and the one before it is done. That is what a run at the road's own pace would show, in less time.
 * A second takes as long as the process had the processor for it, so that what else the machine does changes little.
 */

const LIMIT_S = 5;
/** How many vehicles enter an expressway in a minute at its peak: about 1,700 reports a second, as in the benchmark's last hour. */
const PER_MINUTE = 7000;
/** Vehicles have to be under way first; what is measured comes behind. */
const MINUTES = { before: 5, measured: 2 };
const XWAYS_MAX = 32;

interface Row {
  readonly case: string;
  readonly xways: number;
  readonly reportsPerSecond: number;
  /** Processor time for a second of the road. */
  readonly cores: number;
  /** Of the seconds of the road: how long each took at most, and when its vehicles were told at the latest. */
  readonly busySeconds: number;
  readonly toldWithinSeconds: number;
  readonly holds: boolean;
}

interface Opened {
  take(second: Second, outcome: Outcome): Promise<void>;
  close(): Promise<void>;
}

const CASES: Readonly<Record<string, (journal: string) => Promise<Opened>>> = {
  contexts: () => contexts(undefined),
  "contexts, journal": (journal) => contexts(journal),
  queries: () => queries({}),
  "queries, journal": (journal) => queries({ journal }),
};

async function contexts(journal: string | undefined): Promise<Opened> {
  const service = await run(LinearRoad, journal === undefined ? {} : { journal });
  return {
    take: (second, outcome) => drive(service.root, second, outcome),
    close: async () => await service[Symbol.asyncDispose](),
  };
}

async function queries(options: { journal?: string }): Promise<Opened> {
  const road = await QueriedRoad.open([], options);
  return { take: (second, outcome) => road.drive(second, outcome), close: () => road.close() };
}

export async function main(args: readonly string[]): Promise<void> {
  const options = figureOptions(args);
  const findings = new Findings<Row>("linearroad", options);
  const perMinute = options.quick ? 100 : PER_MINUTE;
  const lines: Line[] = [];
  for (const [name, open] of Object.entries(CASES)) {
    const points: [number, number][] = [];
    for (let xways = 1; xways <= (options.quick ? 1 : XWAYS_MAX); xways *= 2) {
      findings.progress(`${name}, ${xways} expressways`);
      const row = await measured(name, open, xways, perMinute);
      findings.add(row);
      points.push([xways, row.toldWithinSeconds]);
      if (!row.holds) break;
    }
    lines.push({ name, points });
    const most = findings.rows.filter((row) => row.case === name && row.holds).at(-1)?.xways ?? 0;
    process.stderr.write(`linearroad: ${name}: ${most} expressways within ${LIMIT_S} seconds\n`);
  }
  const panel = {
    x: { label: "expressways", min: 0 },
    y: { label: "seconds until the last vehicle is told", min: 0 },
    lines,
  };
  await findings.draw({ linearroad: { title: "Linear Road on one process", panels: [panel] } }, {});
}

async function measured(
  name: string,
  open: (journal: string) => Promise<Opened>,
  xways: number,
  perMinute: number,
): Promise<Row> {
  const minutes = MINUTES.before + MINUTES.measured;
  const seconds = new Traffic({ seed: 1, xways, minutes, perMinute }).seconds();
  const journal = await mkdtemp(join(tmpdir(), "headwater-bench-"));
  try {
    const road = await open(journal);
    const from = 60 * MINUTES.before;
    let [reports, allSeconds, busySeconds, toldWithinSeconds, doneAt] = [0, 0, 0, 0, 0];
    for (const second of seconds) {
      const began = process.cpuUsage();
      await road.take(second, nothingTold());
      if (second.time < from) continue;
      const { user, system } = process.cpuUsage(began);
      const took = (user + system) / 1e6;
      allSeconds += took;
      const cameAt = second.time - from;
      doneAt = Math.max(doneAt, cameAt) + took;
      reports += second.reports.length;
      busySeconds = Math.max(busySeconds, took);
      toldWithinSeconds = Math.max(toldWithinSeconds, doneAt - cameAt);
    }
    await road.close();
    const reportsPerSecond = reports / (60 * MINUTES.measured);
    const cores = allSeconds / (60 * MINUTES.measured);
    const holds = toldWithinSeconds <= LIMIT_S;
    return { case: name, xways, reportsPerSecond, cores, busySeconds, toldWithinSeconds, holds };
  } finally {
    await rm(journal, { recursive: true, force: true });
  }
}
