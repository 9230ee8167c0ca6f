import { optionsFrom } from "./lib/options.js";
import { jsonLine, table } from "./lib/report.js";
import { type Effort, type Figures, measure } from "./lib/rounds.js";
import { ENTRY_BYTES, sizedClasses, startSized } from "./lib/sized.js";
import type { Case } from "./lib/subject.js";

/**
 * What an event costs against the size of the context that it changes, for plain and for tracked fields: one context,
 * one event at a time, one entry changed. Each case is compared with the same one at 1 kB.
 */

const SIZES = { "1kB": 1e3, "10kB": 1e4, "100kB": 1e5, "1MB": 1e6, "10MB": 1e7 };

const FULL: Effort = { rounds: 7, warmUpMs: 150, roundMs: 60 };
const QUICK: Effort = { rounds: 3, warmUpMs: 20, roundMs: 10 };

const TRACKED_COST_FACTOR_MAX = 2;

export async function main(args: readonly string[]): Promise<void> {
  const { json, effort } = optionsFrom(args, FULL, QUICK);
  const report: Figures[] = [];
  for (const name of Object.keys(sizedClasses) as (keyof typeof sizedClasses)[]) {
    const figures = await measure(casesOf(name), [{ work: 0, inFlight: 1 }], effort, (line) =>
      progress(`${name}: ${line}`),
    );
    report.push(...figures);
    if (json) for (const each of figures) process.stdout.write(`${jsonLine("state", each)}\n`);
  }
  if (!json) process.stdout.write(table(report));
  for (const { case: each, ratio } of report.filter(({ case: { name } }) => /^tracked.*-10MB$/.test(name))) {
    const verdict = 1 / ratio <= TRACKED_COST_FACTOR_MAX ? "met" : "MISSED";
    const goal = `${each.name} costs at most ${TRACKED_COST_FACTOR_MAX} times as much as ${each.baseline}`;
    progress(`${verdict}: ${goal}: ${(1 / ratio).toFixed(2)} times`);
  }
}

function casesOf(name: keyof typeof sizedClasses): Case[] {
  return Object.entries(SIZES).map(([size, bytes]) => ({
    name: `${name}-${size}`,
    baseline: `${name}-1kB`,
    contexts: 1,
    countsPerEvent: 1,
    journal: "memory",
    start: () => startSized(name, bytes / ENTRY_BYTES),
  }));
}

function progress(line: string): void {
  process.stderr.write(`state: ${line}\n`);
}
