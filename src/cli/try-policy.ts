import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { chart } from "../chart/chart.js";
import { described, policyOf } from "../elastic/elastic-hosts.js";
import { eventIn, type LoadEvent } from "../elastic/load.js";
import type { Policy } from "../elastic/policy.js";
import { fixed, type Trial, tryPolicy } from "../elastic/trial/index.js";
import { HeadwaterError } from "../errors.js";
import { HOSTS_MAX } from "../host/ports/index.js";
import { type Arguments, misused, unreadable } from "./arguments.js";
import { EVENTS_MAX, type HostRange, hostsIn, policyIn } from "./hosts-option.js";
import { policy } from "./policy.js";
import type { Terminal } from "./terminal.js";

const ROWS_MAX = 24;

/** Shows what comes of a policy under a load. */
export async function tryPolicyUnder(args: Arguments, terminal: Terminal): Promise<number> {
  if (args.operands[0] !== "try") throw misused(policy, `A policy can be tried, not "${args.operands[0]}".`);
  const { min, max } = rangeOf(args);
  const load = await loadFrom(args);
  const own = await policyFrom(args, { min, max });
  const trials: Record<string, Trial> = {
    policy: tryPolicy(load, own, { hosts: min }),
    [`${min} fixed`]: tryPolicy(load, fixed, { hosts: min }),
    [`${max} fixed`]: tryPolicy(load, fixed, { hosts: max }),
  };
  const trial = trials.policy as Trial;
  const picture = args.values.get("svg");
  if (picture !== undefined) await draw(picture, trials);
  if (args.flags.has("json")) terminal.out(JSON.stringify({ ...trial, fixed: fixedOnes(trials) }));
  else report(trials, trial, terminal);
  return 0;
}

async function draw(file: string, trials: Readonly<Record<string, Trial>>): Promise<void> {
  await writeFile(resolve(file), pictureOf(trials)).catch((error: Error) => {
    throw misused(policy, `${file} cannot be written: ${error.message}.`);
  });
}

function rangeOf({ values }: Arguments): HostRange {
  const written = values.get("hosts") ?? "1..4";
  const range = hostsIn(written);
  if (range === null) throw misused(policy, `--hosts is 1..4, say, up to ${HOSTS_MAX}, not "${written}".`);
  return range;
}

async function loadFrom({ values }: Arguments): Promise<LoadEvent[]> {
  const file = values.get("load");
  if (file === undefined) throw misused(policy, "--load is missing: under which load is it to be tried?");
  const events: LoadEvent[] = [];
  try {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(resolve(file)) })) {
      number += 1;
      if (line.trim() !== "") events.push(eventIn(line, number));
      if (events.length > EVENTS_MAX) throw notALoad(file, `it has more than ${EVENTS_MAX} events`);
    }
  } catch (error) {
    if (error instanceof HeadwaterError) throw error;
    throw unreadable(policy, file, error);
  }
  if (events.length === 0) throw notALoad(file, "it has no events");
  return events.sort((a, b) => a.atMs - b.atMs);
}

function notALoad(file: string, why: string): HeadwaterError {
  return new HeadwaterError("HW-6022", `${file} is not a load: ${why}.`);
}

async function policyFrom({ values }: Arguments, range: HostRange): Promise<Policy> {
  const file = values.get("policy");
  return policyOf(file === undefined ? range : { ...range, ...(await policyIn(file)) });
}

function fixedOnes(trials: Readonly<Record<string, Trial>>): object {
  return Object.fromEntries(
    Object.entries(trials).flatMap(([name, { p50Ms, p99Ms, hostSeconds }]) =>
      name === "policy" ? [] : [[name, { p50Ms, p99Ms, hostSeconds }]],
    ),
  );
}

function report(trials: Readonly<Record<string, Trial>>, trial: Trial, terminal: Terminal): void {
  const { samples, decisions } = trial;
  const every = Math.ceil(samples.length / ROWS_MAX);
  const rows = samples.filter((_, i) => i % every === every - 1 || i === samples.length - 1);
  terminal.out("time s  hosts  busy  events/s     p50 ms     p99 ms");
  for (const { timeMs, hosts, utilisation, eventsPerSecond, p50Ms, p99Ms } of rows) {
    const cells = [
      `${timeMs / 1000}`,
      hosts,
      `${Math.round(utilisation * 100)}%`,
      Math.round(eventsPerSecond),
    ];
    terminal.out(
      [...cells, p50Ms.toFixed(2), p99Ms.toFixed(2)]
        .map((cell, i) => String(cell).padStart([6, 5, 4, 8, 9, 9][i] ?? 0))
        .join("  "),
    );
  }
  terminal.out("");
  for (const { timeMs, action } of decisions) {
    terminal.out(`after ${timeMs / 1000} s ${described(action)}: ${action.reason}.`);
  }
  if (decisions.length > 0) terminal.out("");
  terminal.out(`${"".padEnd(10)}     p50 ms     p99 ms  host seconds  hosts  actions  flaps`);
  for (const [name, { p50Ms, p99Ms, hostSeconds, hostsMax, decisions: all, flaps }] of Object.entries(
    trials,
  )) {
    const acted = all.filter(({ action }) => action.kind !== "note").length;
    const cells = [p50Ms.toFixed(2), p99Ms.toFixed(2), Math.round(hostSeconds), hostsMax, acted, flaps];
    const padded = cells.map((cell, i) => String(cell).padStart([9, 9, 12, 5, 7, 5][i] ?? 0));
    terminal.out(`${name.padEnd(10)}  ${padded.join("  ")}`);
  }
}

function pictureOf(trials: Readonly<Record<string, Trial>>): string {
  const x = { label: "time, s" };
  const lines = (value: (sample: Trial["samples"][number]) => number, steps: boolean) =>
    Object.entries(trials).map(([name, { samples }]) => ({
      name,
      steps,
      dashed: name !== "policy",
      points: samples.map((sample) => [sample.timeMs / 1000, value(sample)] as const),
    }));
  return chart({
    title: "A policy under a recorded load, simulated",
    panels: [
      {
        title: "p99 of the latency",
        x,
        y: { label: "ms", log: true },
        lines: lines(({ p99Ms }) => p99Ms, false),
      },
      { title: "hosts", x, y: { label: "hosts", min: 0 }, lines: lines(({ hosts }) => hosts, true) },
    ],
  });
}
