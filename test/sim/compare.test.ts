import assert from "node:assert/strict";
import { test } from "node:test";
import { Marks } from "#src/core/marks.js";
import { Random } from "#src/random.js";
import { compare } from "#src/sim/oracle/compare.js";
import type { LoggedEvent, RunLog } from "#src/sim/oracle/log.js";
import { generateProgram, generateWorkload } from "#src/sim/programs/generate.js";
import { closeWorld, openWorld } from "#src/sim/programs/outside.js";
import { type BuiltProgram, buildClasses, type RequestSpec } from "#src/sim/programs/program.js";
import { World } from "#src/sim/world/world.js";

interface Recorded {
  readonly built: BuiltProgram;
  readonly workload: readonly RequestSpec[];
  readonly log: RunLog;
}

async function record(seed: number): Promise<Recorded> {
  const random = new Random(seed);
  const spec = generateProgram(random);
  const workload = generateWorkload(random, spec, 40);
  let world: World | null = null;
  const number = openWorld(async (value, call) => (await world?.outside(value, call)) ?? 0);
  const built = buildClasses(spec, { pause: (units) => world?.pause(units), world: number });
  world = new World(built, workload, random, { commitOrder: "observer", marks: new Marks() });
  const { log } = await world.run();
  world = null; // from here on pauses take no time
  closeWorld(number);
  return { built, workload, log };
}

const recordings = new Map<number, Promise<Recorded>>();

function recorded(seed: number): Promise<Recorded> {
  const recording = recordings.get(seed) ?? record(seed);
  recordings.set(seed, recording);
  return recording;
}

/** Spoils the first recorded run that can be spoilt like this, and returns what is found to be different. */
async function differencesAfter(spoil: (log: RunLog) => boolean): Promise<readonly string[]> {
  for (let seed = 0; seed < 200; seed++) {
    const { built, workload, log } = await recorded(seed);
    const spoilt = { ...log, events: log.events.map((event) => ({ ...event })), told: [...log.told] };
    if (!spoil(spoilt)) continue;
    return (await compare(built, workload, spoilt)).map(({ what }) => what);
  }
  throw new RangeError("no recorded run can be spoilt like this");
}

/** Changes the first event that satisfies the condition. */
function spoilEvent(
  log: RunLog,
  fits: (event: LoggedEvent) => boolean,
  change: (event: LoggedEvent) => void,
): boolean {
  const event = log.events.find(fits);
  if (event !== undefined) change(event);
  return event !== undefined;
}

/** Exchanges the places that two events of one logical node have in its order. */
function exchangeTickets(a: LoggedEvent, b: LoggedEvent): void {
  [a.ticket, b.ticket] = [b.ticket, a.ticket];
}

async function assertFound(spoil: (log: RunLog) => boolean, what: RegExp): Promise<void> {
  const differences = await differencesAfter(spoil);
  assert.ok(
    differences.some((each) => what.test(each)),
    `found ${JSON.stringify(differences)}`,
  );
}

test("runs of the real runtime show no difference", async () => {
  for (let seed = 0; seed < 30; seed++) {
    const { built, workload, log } = await recorded(seed);
    assert.deepEqual(await compare(built, workload, log), [], `seed ${seed}`);
  }
});

test("another result, another error, other later effects and another final state are found", async () => {
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ result }) => result.ok,
        (event) => (event.result = { ok: true, value: -1 }),
      ),
    /^result of event/,
  );
  const error = { name: "RangeError", message: "another" };
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ result }) => !result.ok,
        (event) => (event.result = { ok: false, error }),
      ),
    /^result of event/,
  );
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ later }) => later.length > 1,
        (event) => (event.later = event.later.toReversed()),
      ),
    /^later effects of event/,
  );
  await assertFound((log) => {
    const [node, states] = [...log.states].find(([, each]) => each.size > 0) ?? ["", new Map()];
    log.states = new Map(log.states).set(node, new Map([...states].slice(1)));
    return states.size > 0;
  }, /^final state of/);
});

test("an event that is missing or there twice is found", async () => {
  for (const kind of ["request", "start", "message", "timer"] as const) {
    const isOfKind = ({ origin }: LoggedEvent) => origin.kind === kind;
    await assertFound(
      (log) => {
        const event = log.events.find(isOfKind);
        log.events = log.events.filter((each) => each !== event);
        return event !== undefined;
      },
      new RegExp(`^${kind} \\d+`),
    );
    await assertFound(
      (log) => {
        const event = log.events.find(isOfKind);
        if (event !== undefined) log.events.push({ ...event, ticket: 100_000 });
        return event !== undefined;
      },
      new RegExp(`^${kind} \\d+`),
    );
  }
});

test("an event that nobody asked for, or that is not the one asked for, is found", async () => {
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ origin }) => origin.kind === "start",
        (event) => {
          event.origin = { kind: "start", parent: 1, index: 999 };
        },
      ),
    /was not asked for/,
  );
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ origin }) => origin.kind === "start",
        (event) => (event.args = [1, 2, 3, 4]),
      ),
    /^what event/,
  );
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ origin }) => origin.kind === "request",
        (event) => (event.caller = "mallory"),
      ),
    /^request/,
  );
});

test("starts of one event that changed places, or came before it, are found", async () => {
  await assertFound((log) => {
    for (const a of log.events) {
      if (a.origin.kind !== "start") continue;
      const { parent, index } = a.origin;
      const b = log.events.find(({ node, origin }) => {
        return node === a.node && origin.kind === "start" && origin.parent === parent && origin.index > index;
      });
      if (b === undefined) continue;
      exchangeTickets(a, b);
      return true;
    }
    return false;
  }, /^place of event/);
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ origin }) => origin.kind === "start",
        (event) => (event.ticket = 0),
      ),
    /^ticket of event/,
  );
});

test("messages of one sender that changed places are found, at nodes and at clients", async () => {
  await assertFound((log) => {
    const [a, b] = log.events.filter(({ origin, node }) => origin.kind === "message" && node === "n1");
    if (a === undefined || b === undefined) return false;
    if (a.origin.kind !== "message" || b.origin.kind !== "message" || a.origin.from !== b.origin.from)
      return false;
    exchangeTickets(a, b);
    return true;
  }, /^place of event/);
  await assertFound((log) => {
    const [a, b] = log.told.filter(
      ({ client, node }) => client === log.told[0]?.client && node === log.told[0].node,
    );
    if (a === undefined || b === undefined) return false;
    log.told = log.told.map((each) => (each === a ? b : each === b ? a : each));
    return true;
  }, /told client/);
});

test("tickets against real time, timers before their time and times against the tickets are found", async () => {
  await assertFound((log) => {
    const last = log.events.findLast(({ node }) => node === "n0");
    const first = log.events.find(({ node, ticket }) => node === "n0" && ticket === 1);
    if (last === undefined || first === undefined || last === first) return false;
    first.submittedStep = last.acknowledgedStep + 1;
    return true;
  }, /^ticket of event/);
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ origin }) => origin.kind === "timer",
        (event) => (event.steadyMs = 0),
      ),
    /^time of event/,
  );
  await assertFound(
    (log) =>
      spoilEvent(
        log,
        ({ ticket }) => ticket > 1,
        (event) => (event.steadyMs = -1),
      ),
    /^time in/,
  );
});

test("with total commit order, an acknowledgement before that of an earlier ticket is found", async () => {
  await assertFound((log) => {
    log.commitOrder = "total";
    return spoilEvent(
      log,
      ({ ticket }) => ticket === 1,
      (event) => (event.acknowledgedStep = 1_000_000),
    );
  }, /^commit of event/);
});
