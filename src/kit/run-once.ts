import { isDeepStrictEqual } from "node:util";
import { Marks } from "../core/marks.js";
import { HeadwaterError } from "../errors.js";
import { Slot } from "../host/context/index.js";
import type { ContextClass } from "../model/context.js";
import type { OutsideCall } from "../model/outside.js";
import { resolvePath } from "../model/path.js";
import { Random } from "../random.js";
import { type Visitors, World, type WorldRun } from "../sim/world/index.js";
import { SimulatedCallers } from "./callers.js";
import { asError, type RunFailure } from "./failure.js";
import { at, type CodePlace, elsewhere, type SimulatedRun } from "./globals.js";
import { SimulatedNetwork } from "./network.js";
import type { KitOptions, OutsideFakes } from "./options.js";
import type { Schedule } from "./schedule.js";
import { statesOf } from "./states.js";

type Roots = Readonly<Record<string, ContextClass>>;

/** Many more than any run takes that comes to rest. */
const STEPS_MAX = 300_000;
const LASTS_MS = 60_000;
/** Longer than outside calls go on being tried again. */
const RETRIES_MS = 1_200_000;

/** One run, and the first thing that was wrong with it. */
export interface RunReport {
  readonly found: RunFailure | null;
  readonly run: WorldRun;
  readonly marks: Marks;
}

export async function runOnce<R, W extends OutsideFakes>(
  roots: Roots,
  copies: () => Roots,
  options: KitOptions<R, W>,
  schedule: Schedule,
): Promise<RunReport> {
  let found: RunFailure | null = null;
  const note = (one: RunFailure) => {
    found ??= one;
  };
  const random = new Random(schedule.luck ^ 0x7e57);
  const luck = random.fork();
  const marks = new Marks();
  const fakes = (options.world?.() ?? {}) as W;
  const network = new SimulatedNetwork(fakes, random.fork(), note);
  const simulated = (by: "program" | "caller"): SimulatedRun => ({
    now: () => world.now,
    random: () => (luck.bits() >>> 0) / 2 ** 32,
    after: (ms, task) => world.after(ms, task, by),
    fetch: (place, request) => network.fetch(place, request),
    connects: (place) => network.connects(place),
  });
  const program = simulated("program");
  const inEvent: CodePlace = { kind: "event", run: program };
  const inAct: CodePlace = { kind: "act", run: simulated("caller") };
  const slots = Object.fromEntries(
    Object.entries(roots).map(([name, cls]) => [name, new Slot(name, null, null, undefined, cls)]),
  );
  const callers = new SimulatedCallers<R, W>(() => world, options, schedule, slots, fakes, inAct, note);
  const lastsMs = options.lastsMs ?? LASTS_MS;
  const visitors: Visitors = {
    clients: callers.names,
    stepsMax: STEPS_MAX,
    endsAtCrash: schedule.isCut,
    clockJumps: options.clockJumps ?? false,
    classes: copies,
    answered: (...given) => callers.answered(...given),
    told: (...given) => callers.told(...given),
    failed: (event, thrown) => {
      const error = asError(thrown);
      if (options.allow?.(error) === true) return;
      note({ kind: "event", error: new Error(`${event} failed: ${error.message}`, { cause: error }) });
    },
    within: (task) => at(inEvent, task),
    outside: async (name, input, call: OutsideCall, work) => {
      const { key } = call;
      const fake = fakes.outside?.[name];
      if (network.isLost(key)) throw new Error("the simulated call was lost on its way");
      const place: CodePlace = { kind: "outside", run: program, call: { name, key } };
      const value = await at(place, () => (fake === undefined ? work() : fake(input as never, call)));
      if (network.isLost(key)) throw new Error("the reply to the simulated call was lost");
      return value;
    },
    endsAt: (hasCalls) => {
      if (callers.doneAt === null) return Number.MAX_VALUE;
      return callers.doneAt + lastsMs + (hasCalls ? RETRIES_MS : 0);
    },
  };
  const world = new World({ roots }, [], random, {
    commitOrder: "observer",
    marks,
    crashes: schedule.crashes,
    hosts: schedule.hosts,
    visitors,
  });
  void callers.begin();
  const run = await elsewhere(() => world.run());
  if (found === null) judge(options, schedule, callers, fakes, run, slots, note);
  return { found, run, marks };
}

/** Looks at what a run has left behind. */
function judge<R, W extends OutsideFakes>(
  options: KitOptions<R, W>,
  schedule: Schedule,
  callers: SimulatedCallers<R, W>,
  fakes: W,
  run: WorldRun,
  slots: Readonly<Record<string, Slot>>,
  note: (found: RunFailure) => void,
): void {
  const isCut = schedule.isCut && run.log.crashes > 0;
  if (!isCut && (run.stuck !== null || callers.open > 0)) {
    const why = run.stuck ?? `${callers.open} callers wait for something that never comes`;
    const error = new HeadwaterError(
      "HW-8006",
      `the program does not come to rest (${run.steps} steps): ${why}. Inside a simulation, methods and outside functions ` +
        "may wait for calls, timers and `fetch`; anything else that takes real time needs a replacement in the test's `world`.",
    );
    return note({ kind: "rest", error });
  }
  const states = statesOf(run.contexts);
  const checks: [RunFailure["kind"], () => void][] = [
    ["model", () => followModel(options, run, slots)],
    ["invariant", () => options.invariant?.(states)],
    ["invariant", () => isCut || options.atRest?.(states, fakes)],
  ];
  for (const [kind, check] of checks) {
    try {
      check();
    } catch (thrown) {
      return note({ kind, error: asError(thrown) });
    }
  }
}

/** Does all requests again with the model, in the order of their tickets. */
function followModel<R, W extends OutsideFakes>(
  { model }: KitOptions<R, W>,
  { log }: WorldRun,
  slots: Readonly<Record<string, Slot>>,
): void {
  if (model === undefined) return;
  const nodes = new Map<string, (call: never) => unknown>();
  for (const event of [...log.events].sort((a, b) => a.ticket - b.ticket)) {
    if (event.origin.kind !== "request") continue;
    const follow = nodes.get(event.node) ?? model();
    nodes.set(event.node, follow as never);
    const slot = resolvePath(slots[event.node] as Slot, event.path);
    const { method, args, caller, result } = event;
    const call = { address: String(slot), key: slot.key, method, args, caller };
    let expected: { ok: boolean; value?: unknown; error?: unknown };
    try {
      expected = { ok: true, value: follow(call as never) };
    } catch (error) {
      expected = { ok: false, error };
    }
    const isSame =
      expected.ok === result.ok && (!result.ok || isDeepStrictEqual(expected.value, result.value));
    if (isSame) continue;
    const show = (outcome: { ok: boolean; value?: unknown; error?: unknown }) =>
      outcome.ok ? `returns ${JSON.stringify(outcome.value)}` : `fails: ${(outcome.error as Error).message}`;
    throw new Error(
      `${call.address}.${method}(${args.map((arg) => JSON.stringify(arg)).join(", ")}) ${show(result)}; the model ${show(expected)}`,
    );
  }
}
