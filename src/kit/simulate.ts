import { HeadwaterError } from "../errors.js";
import type { Nodes } from "../host/service.js";
import type { Context, ContextClass } from "../model/context.js";
import type { Ref } from "../model/refs.js";
import { storedNameOf } from "../model/shape.js";
import { Random } from "../random.js";
import { copiesOf } from "./copies.js";
import type { RunFailure } from "./failure.js";
import { withSimulatedGlobals } from "./globals.js";
import type { KitOptions, OutsideFakes } from "./options.js";
import { explain } from "./report.js";
import { type RunReport, runOnce } from "./run-once.js";
import { read, type Schedule, shown } from "./schedule.js";
import { shrink } from "./shrink.js";

type AnyOptions = KitOptions<never, OutsideFakes>;

const RUNS = 50;
const ACTS = 30;

/** What simulations have done. */
export interface Simulated {
  readonly runs: number;
  /** Events that took effect. */
  readonly events: number;
  readonly crashes: number;
}

/**
 * Runs a program in the simulator, again and again, each time with other faults: crashes of processes and hosts, migrations, slow
 * disks, lost connections. Rejects with the smallest failing schedule that it finds, and with a line that replays it.
 */
export function simulate<C extends ContextClass<Context>, W extends OutsideFakes = OutsideFakes>(
  root: C,
  options: KitOptions<Ref<InstanceType<C>>, W>,
): Promise<Simulated>;
export function simulate<N extends Nodes, W extends OutsideFakes = OutsideFakes>(
  nodes: N,
  options: KitOptions<{ readonly [Name in keyof N]: Ref<InstanceType<N[Name]>> }, W>,
): Promise<Simulated>;
export function simulate(
  program: ContextClass<Context> | Nodes,
  options: KitOptions<never, OutsideFakes>,
): Promise<Simulated> {
  return withSimulatedGlobals(() => simulateAll(program, options as AnyOptions));
}

async function simulateAll(program: ContextClass<Context> | Nodes, options: AnyOptions): Promise<Simulated> {
  const roots = typeof program === "function" ? { [storedNameOf(program)]: program } : program;
  const name = Object.keys(roots).join("+");
  const copies = await copiesOf(roots);
  const run = async (schedule: Schedule): Promise<RunReport> =>
    runOnce(roots, await copies.forRun(schedule.hosts), options, schedule);
  const total = { runs: 0, events: 0, crashes: 0 };
  for (const schedule of schedulesOf(name, options)) {
    const { found, run: done } = await run(schedule);
    total.runs += 1;
    total.events += done.log.events.length;
    total.crashes += done.log.crashes;
    if (found !== null) throw await failure(name, options, schedule, found, run);
  }
  return total;
}

function* schedulesOf(name: string, options: AnyOptions): Iterable<Schedule> {
  const replay = options.replay ?? process.env.HEADWATER_REPLAY;
  const only = replay ? read(name, replay) : null;
  if (only !== null) return yield only;
  const { runs = RUNS, seed = 1, acts = ACTS, crashes = true, hosts = true } = options;
  for (let index = 0; index < runs; index++) {
    const random = new Random(seed + index);
    const crash = crashes && random.chance(0.75);
    yield {
      seed: seed + index,
      luck: seed + index,
      crashes: crash,
      hosts: hosts && random.chance(0.75),
      isCut: crash && random.chance(0.3),
      acts: Array.from({ length: acts }, (_, act) => act),
    };
  }
}

async function failure(
  name: string,
  options: AnyOptions,
  schedule: Schedule,
  found: RunFailure,
  run: (schedule: Schedule) => Promise<RunReport>,
): Promise<HeadwaterError> {
  const fails = async (tried: Schedule) => (await run(tried)).found?.kind === found.kind;
  const isReplay = options.replay !== undefined || process.env.HEADWATER_REPLAY !== undefined;
  const smallest = options.shrink === false || isReplay ? schedule : await shrink(schedule, fails);
  const last = await run(smallest);
  const { error } = last.found ?? found;
  return new HeadwaterError("HW-8001", explain(shown(name, smallest), smallest, error, last), {
    cause: error,
  });
}
