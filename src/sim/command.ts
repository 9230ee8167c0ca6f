import { parseArgs } from "node:util";
import { HeadwaterError } from "../errors.js";
import type { Campaign, CampaignProgress } from "./campaign.js";
import { runCampaignOnThread } from "./campaign-thread.js";
import { show } from "./programs/index.js";
import { DEFAULT_EVENTS } from "./simulate.js";

const DEFAULT_SEEDS = 500;
const SEEDS_MAX = 10_000_000;
/** What one seed makes is compared as a whole, and so has to fit into memory. */
const EVENTS_MAX = 1_000_000;
/** With fewer seeds than this, not having seen everything happen means nothing. */
const SEEDS_FOR_ALL_MARKS = 500;

interface Output {
  /** Data. */
  out(line: string): void;
  /** Text for people. */
  say(line: string): void;
}

interface SimArguments {
  readonly seeds: number[];
  readonly events: number;
  readonly crashes: boolean;
  readonly hosts: boolean;
  readonly json: boolean;
}

/** `headwater sim`: 0 if no seed shows a difference and everything that should happen did, else 1. */
export async function runSimCommand(args: string[], output: Output): Promise<number> {
  const { seeds, events, crashes, hosts, json } = parse(args);
  const campaign = await runCampaignOnThread({ seeds, events, crashes, hosts }, (done) =>
    output.say(progressLine(done, seeds.length)),
  );
  const isThorough = seeds.length < SEEDS_FOR_ALL_MARKS || campaign.missing.length === 0;
  const ok = campaign.failure === null && isThorough;
  if (json) output.out(JSON.stringify(summary(campaign, replayCommand(events, crashes, hosts), ok)));
  else tell(campaign, replayCommand(events, crashes, hosts), isThorough, output);
  return ok ? 0 : 1;
}

function progressLine({ seeds, eventsPerSecond, shrinking }: CampaignProgress, all: number): string {
  if (shrinking === null)
    return `${seeds} of ${counted(all, "seed")}, ${eventsPerSecond.toLocaleString("en")} simulated events per second`;
  const { seed, programs, requests } = shrinking;
  return `seed ${seed} shows a difference: ${counted(programs, "smaller program")} tried, ${counted(requests, "request")} left`;
}

function parse(args: string[]): SimArguments {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = { seeds: text, seed: text, events: text, crashes: flag, hosts: flag, json: flag } as const;
  let values: {
    seeds?: string;
    seed?: string;
    events?: string;
    crashes?: boolean;
    hosts?: boolean;
    json?: boolean;
  };
  try {
    ({ values } = parseArgs({ args, options, strict: true }));
  } catch (error) {
    throw new HeadwaterError("HW-2001", `${(error as Error).message} See \`headwater help sim\`.`);
  }
  const count =
    values.seeds === undefined ? DEFAULT_SEEDS : wholeNumber("--seeds", values.seeds, 1, SEEDS_MAX);
  const first = values.seed === undefined ? 1 : wholeNumber("--seed", values.seed, 0);
  const length = values.seed === undefined || values.seeds !== undefined ? count : 1;
  return {
    seeds: Array.from({ length }, (_, i) => first + i),
    events:
      values.events === undefined ? DEFAULT_EVENTS : wholeNumber("--events", values.events, 1, EVENTS_MAX),
    crashes: values.crashes ?? false,
    hosts: values.hosts ?? false,
    json: values.json ?? false,
  };
}

function wholeNumber(option: string, text: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const allowed =
    value > most ? `at most ${most.toLocaleString("en")}` : `a whole number of at least ${least}`;
  throw new HeadwaterError("HW-2001", `${option} takes ${allowed}, not ${JSON.stringify(text)}.`);
}

function summary({ failure, ...campaign }: Campaign, replayOf: Replay, ok: boolean): object {
  if (failure === null) return { ok, ...campaign, failure: null };
  const { found, shrunk } = failure;
  const { seed, spec, workload } = shrunk.scenario;
  const replay = replayOf(seed);
  return { ok, ...campaign, failure: { seed, replay, differences: found.differences, spec, workload } };
}

type Replay = (seed: number) => string;

function replayCommand(events: number, crashes: boolean, hosts: boolean): Replay {
  const options = `${events === DEFAULT_EVENTS ? "" : ` --events ${events}`}${crashes ? " --crashes" : ""}${hosts ? " --hosts" : ""}`;
  return (seed) => `npx headwater sim --seed ${seed}${options}`;
}

function tell(campaign: Campaign, replayOf: Replay, isThorough: boolean, { say }: Output): void {
  const { seeds, failure, missing } = campaign;
  say(
    `${counted(seeds, "seed")}, ${counted(campaign.events, "event")}, ` +
      `${campaign.eventsPerSecond.toLocaleString("en")} simulated events per second, trace ${campaign.hash}`,
  );
  if (failure !== null) {
    const { found, shrunk } = failure;
    const { seed, spec, workload } = found.scenario;
    say(`\nHW-2003: seed ${seed} shows a difference between the runtime and a run one event at a time.`);
    say(`Replay it with: ${replayOf(seed)}\n`);
    const smallest = shrunk.differences.length > 0 ? shrunk : found;
    const { scenario } = smallest;
    say(
      `The smallest program found that shows one (${scenario.workload.length} of ${workload.length} requests):\n`,
    );
    say(show(scenario.spec ?? spec, scenario.workload));
    for (const { what, expected, actual, ticket } of smallest.differences.slice(0, 5)) {
      say(
        `\n${what}${ticket === null ? "" : ` (ticket ${ticket})`}\n  one at a time: ${text(expected)}\n  here:          ${text(actual)}`,
      );
    }
    return;
  }
  if (isThorough)
    say(`No difference.${missing.length > 0 ? "" : " Everything that should happen in a run did."}`);
  else say(`No difference, but these never happened, so the run proves little: ${missing.join("; ")}.`);
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}
