import { type Driven, Driver, type Measurement } from "./driver.js";
import type { Case } from "./subject.js";

export interface Effort {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
  /** A fixed number of events per round instead of as many as fit into `roundMs`. */
  readonly events?: number | undefined;
}

export interface Setting {
  readonly inFlight: number;
  readonly work: number;
}

/** The medians over all rounds of one case at one setting. */
export interface Figures extends Setting, Measurement {
  readonly case: Case;
  readonly rounds: number;
  readonly ratio: number;
  readonly baselineEventsPerSecond: number;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface Entrant {
  readonly case: Case;
  readonly driver: Driven;
}

/**
 * Measures cases side by side. Each setting is warmed up first; then the cases take turns, one short round each,
 * so that a slow moment of the machine falls on all of them. A ratio is taken within each round, between
 * neighbours in time, and the median of those is reported.
 */
export async function measure(
  cases: readonly Case[],
  settings: readonly Setting[],
  effort: Effort,
  progress: (line: string) => void,
  start: (each: Case) => Promise<Driven> = driveHere,
): Promise<Figures[]> {
  const entrants: Entrant[] = [];
  let isInterrupted = false;
  const interrupt = () => {
    if (isInterrupted) process.exit(1); // asked twice: no waiting for what is in flight
    isInterrupted = true;
    for (const { driver } of entrants) driver.interrupt();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    for (const each of cases) {
      entrants.push({ case: each, driver: await start(each) });
      if (isInterrupted) throw new Error("interrupted.");
    }
    const figures: Figures[] = [];
    for (const setting of settings) {
      progress(`${cases.length} cases, work ${setting.work}, ${setting.inFlight} in flight`);
      figures.push(...(await measureSetting(entrants, setting, effort)));
    }
    for (const { case: each, driver } of entrants) await check(each, driver);
    return figures;
  } finally {
    await stopAll(entrants);
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

async function driveHere(each: Case): Promise<Driven> {
  return new Driver(await each.start(each.contexts), each.contexts);
}

/** One that cannot be stopped keeps none of the others from it. */
async function stopAll(entrants: readonly Entrant[]): Promise<void> {
  const stopped = await Promise.allSettled(entrants.map(({ driver }) => driver.stop()));
  for (const each of stopped) if (each.status === "rejected") throw each.reason;
}

async function measureSetting(
  entrants: readonly Entrant[],
  setting: Setting,
  effort: Effort,
): Promise<Figures[]> {
  const { inFlight, work } = setting;
  const perRound = new Map<string, number>();
  for (const { case: each, driver } of entrants)
    perRound.set(each.name, await warmUp(driver, setting, effort));
  const measured = new Map<string, Measurement[]>(entrants.map((entrant) => [entrant.case.name, []]));
  for (let round = 0; round < effort.rounds; round++) {
    for (const { case: each, driver } of entrants) {
      const events = perRound.get(each.name) ?? 0;
      measured.get(each.name)?.push(await driver.drive(events, inFlight, work));
    }
  }
  return entrants.map((entrant) => {
    const own = measured.get(entrant.case.name) ?? [];
    const baseline = measured.get(entrant.case.baseline);
    if (baseline === undefined)
      throw new Error(`${entrant.case.name} needs ${entrant.case.baseline} beside it.`);
    return summarise(entrant.case, setting, own, baseline);
  });
}

/** Runs a case until it has had its share of warm-up, and tells how many events fill one round. */
async function warmUp(driver: Driven, { inFlight, work }: Setting, effort: Effort): Promise<number> {
  if (effort.events !== undefined) {
    await driver.drive(effort.events, inFlight, work);
    return effort.events;
  }
  const untilMs = performance.now() + effort.warmUpMs;
  let events = inFlight;
  let rate = 0;
  while (performance.now() < untilMs) {
    rate = (await driver.drive(events, inFlight, work)).eventsPerSecond;
    events = Math.min(events * 2, Math.ceil((rate * effort.warmUpMs) / 1000));
  }
  return Math.max(inFlight, Math.ceil((rate * effort.roundMs) / 1000));
}

function summarise(
  each: Case,
  setting: Setting,
  own: readonly Measurement[],
  baseline: readonly Measurement[],
): Figures {
  return {
    case: each,
    ...setting,
    rounds: own.length,
    events: own.reduce((sum, round) => sum + round.events, 0),
    eventsPerSecond: median(own.map((round) => round.eventsPerSecond)),
    p50Ms: median(own.map((round) => round.p50Ms)),
    p99Ms: median(own.map((round) => round.p99Ms)),
    ratio: median(
      own.map((round, i) => round.eventsPerSecond / (baseline[i]?.eventsPerSecond ?? Number.NaN)),
    ),
    baselineEventsPerSecond: median(baseline.map((round) => round.eventsPerSecond)),
  };
}

/** A figure counts only if the work was done: every event took place, and took place once. */
async function check(each: Case, driver: Driven): Promise<void> {
  const [expected, counted] = [driver.asked * each.countsPerEvent, await driver.counted()];
  if (counted !== expected) throw new Error(`${each.name} counted ${counted} events instead of ${expected}.`);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1 + (sorted.length % 2)], sorted[middle]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}
