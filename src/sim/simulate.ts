import { Marks } from "../core/marks.js";
import type { Plant } from "../core/plants.js";
import { Random } from "../random.js";
import { compare, type Difference } from "./oracle/index.js";
import {
  buildClasses,
  closeWorld,
  extended,
  generateProgram,
  generateWorkload,
  type Hooks,
  openWorld,
  type ProgramSpec,
  type RequestSpec,
  shrink,
} from "./programs/index.js";
import { Poison, World } from "./world/index.js";

export const DEFAULT_EVENTS = 1000;

export interface SimulateOptions {
  /** How many requests a seed makes. */
  readonly events?: number;
  readonly marks?: Marks;
  readonly plant?: Plant | undefined;
  /** With a journal on a simulated disk, crashes, and clients that ask again. */
  readonly crashes?: boolean | undefined;
  /** On several hosts. */
  readonly hosts?: boolean | undefined;
}

/** A generated program with its requests, and the seed of everything that happens while they run. */
export interface Scenario {
  readonly seed: number;
  readonly spec: ProgramSpec;
  readonly workload: readonly RequestSpec[];
}

export interface SeedRun {
  readonly scenario: Scenario;
  readonly hash: string;
  readonly events: number;
  readonly differences: readonly Difference[];
}

/** `isExtended` is false for seeds that showed something before programs were extended. */
export function scenarioOf(seed: number, events = DEFAULT_EVENTS, isExtended = true): Scenario {
  const random = new Random(seed);
  const spec = generateProgram(random.fork());
  const workload = generateWorkload(random.fork(), spec, events);
  return isExtended ? { seed, ...extended(random.fork(), spec, workload) } : { seed, spec, workload };
}

/** Runs a scenario in the simulated world, then one event at a time, and says where the two differ. */
export async function simulate(scenario: Scenario, options: SimulateOptions = {}): Promise<SeedRun> {
  const { spec, workload } = scenario;
  // Not the generator's own sequence: a shrunk program must meet the same luck as the whole one did.
  const random = new Random(scenario.seed ^ 0x5eed);
  let world: World | null = null;
  const number = openWorld(async (value, call) => (await world?.outside(value, call)) ?? 0);
  const poison = Poison.drawn(new Random(scenario.seed ^ 0xdead));
  const hooks: Hooks = {
    pause: (units) => world?.pause(units),
    begins: (cls, method, argument) => {
      if (world === null || poison === null) return;
      if (poison.isIn(cls, method, argument, world.isInRequest) && world.endsHost()) {
        poison.acted();
        throw new Error("this host has ended");
      }
    },
    world: number,
  };
  const built = buildClasses(spec, hooks);
  const commitOrder = random.chance(0.3) ? "total" : "observer";
  world = new World(built, workload, random, {
    commitOrder,
    marks: options.marks ?? new Marks(),
    plant: options.plant,
    crashes: options.crashes,
    hosts: options.hosts,
  });
  const stackTraceLimit = Error.stackTraceLimit;
  // Programs throw all the time, and where does not matter. No limit is no trace at all, which is faster than an empty one.
  (Error as { stackTraceLimit: number | undefined }).stackTraceLimit = undefined;
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  try {
    const run = await world.run();
    world = null;
    const found = run.stuck === null ? await compare(built, workload, run.log) : [stuck(run.stuck)];
    await new Promise(setImmediate); // Node looks for unhandled rejections when no microtask is left
    const differences = [...found, ...unhandled.map(rejected)];
    return { scenario, hash: run.hash, events: run.log.events.length, differences };
  } catch (error) {
    Error.stackTraceLimit = stackTraceLimit;
    const text = error instanceof Error ? error.message : String(error);
    const difference = { what: "the runtime failed", expected: "no failure", actual: text, ticket: null };
    return { scenario, hash: "", events: 0, differences: [difference] };
  } finally {
    process.off("unhandledRejection", onUnhandled);
    closeWorld(number);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** In a real program Node would end the process. */
function rejected(reason: unknown): Difference {
  const actual = reason instanceof Error ? reason.message : String(reason);
  return { what: "a rejection that the runtime left unhandled", expected: "none", actual, ticket: null };
}

function stuck(open: string): Difference {
  return {
    what: "the run did not come to rest",
    expected: "every event settled",
    actual: open,
    ticket: null,
  };
}

/** How far the search for a smaller scenario has come. */
export interface Shrinking {
  readonly seed: number;
  /** How many smaller programs were tried. */
  readonly programs: number;
  /** How many requests the smallest one has that still shows a difference. */
  readonly requests: number;
}

/** The smallest scenario found that still shows a difference. */
export async function shrinkScenario(
  scenario: Scenario,
  options: SimulateOptions = {},
  onProgress?: (done: Shrinking) => Promise<void>,
): Promise<SeedRun> {
  let [programs, requests] = [0, scenario.workload.length];
  const fails = async (spec: ProgramSpec, workload: readonly RequestSpec[]) => {
    const { differences } = await simulate({ seed: scenario.seed, spec, workload }, options);
    programs += 1;
    if (differences.length > 0) requests = workload.length;
    await onProgress?.({ seed: scenario.seed, programs, requests });
    return differences.length > 0;
  };
  const { spec, workload } = await shrink(scenario.spec, scenario.workload, fails);
  return simulate({ seed: scenario.seed, spec, workload }, options);
}
