import { CRASH_MARKS, HOST_MARKS, MARKS, type Mark, Marks } from "../core/marks.js";
import type { Plant } from "../core/plants.js";
import { TraceHash } from "../random.js";
import { type SeedRun, type Shrinking, scenarioOf, shrinkScenario, simulate } from "./simulate.js";

export interface CampaignOptions {
  readonly seeds: Iterable<number>;
  readonly events?: number | undefined;
  readonly plant?: Plant | undefined;
  /** With a journal on a simulated disk, crashes, and clients that ask again. */
  readonly crashes?: boolean | undefined;
  /** On several hosts. */
  readonly hosts?: boolean | undefined;
  /** Called about once a second. */
  readonly onProgress?: (done: CampaignProgress) => void;
}

export interface CampaignProgress {
  readonly seeds: number;
  readonly eventsPerSecond: number;
  /** Set once a seed has shown a difference, while a smaller program is looked for. */
  readonly shrinking: Shrinking | null;
}

export interface Campaign {
  readonly seeds: number;
  readonly events: number;
  readonly eventsPerSecond: number;
  /** A fingerprint of all runs: the same seeds and options give the same one. */
  readonly hash: string;
  readonly marks: Readonly<Partial<Record<Mark, number>>>;
  readonly missing: readonly Mark[];
  /** The first seed that showed a difference, as it was and as small as it could be made. */
  readonly failure: { readonly found: SeedRun; readonly shrunk: SeedRun } | null;
}

const PROGRESS_MS = 1000;

/** Runs seed after seed, up to the first that shows a difference. */
export async function runCampaign({
  seeds,
  events,
  plant,
  crashes,
  hosts,
  onProgress,
}: CampaignOptions): Promise<Campaign> {
  const expected: readonly Mark[] = [
    ...MARKS,
    ...(crashes ? CRASH_MARKS : []),
    ...(crashes && hosts ? HOST_MARKS : []),
  ];
  const marks = new Marks();
  const hash = new TraceHash();
  const started = performance.now();
  let [seedsRun, eventsRun, reported] = [0, 0, started];
  let failure: Campaign["failure"] = null;
  const rate = () => Math.round((eventsRun / (performance.now() - started)) * 1000);
  const progress = async (shrinking: Shrinking | null) => {
    if (performance.now() - reported < PROGRESS_MS) return;
    reported = performance.now();
    onProgress?.({ seeds: seedsRun, eventsPerSecond: rate(), shrinking });
    await new Promise(setImmediate); // lets signals and output through
  };
  for (const seed of seeds) {
    const found = await simulate(scenarioOf(seed, events), { marks, plant, crashes, hosts });
    seedsRun += 1;
    eventsRun += found.events;
    hash.add(found.hash);
    if (found.differences.length > 0) {
      const shrunk = await shrinkScenario(found.scenario, { plant, crashes, hosts }, progress);
      failure = { found, shrunk };
      break;
    }
    await progress(null);
  }
  return {
    seeds: seedsRun,
    events: eventsRun,
    eventsPerSecond: rate(),
    hash: hash.digest(),
    marks: Object.fromEntries(expected.map((mark) => [mark, marks.count(mark)])) as Campaign["marks"],
    missing: marks.missing(expected),
    failure,
  };
}
