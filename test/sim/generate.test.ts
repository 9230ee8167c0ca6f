import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, TraceHash } from "#src/random.js";
import { SequentialProgram } from "#src/sim/oracle/sequential.js";
import { extended } from "#src/sim/programs/extend.js";
import { generateProgram, generateWorkload } from "#src/sim/programs/generate.js";
import { buildClasses, type Op, type ProgramSpec, type RequestSpec } from "#src/sim/programs/program.js";

const OPS = [
  "change",
  "get",
  "call",
  "par",
  "branches",
  "during",
  "breathe",
  "own",
  "list",
  "delete",
  "try",
  "if",
  "throw",
  "downgrade",
  "start",
  "send",
  "tell",
  "timer",
  "cancel",
  "outside",
  "read",
  "know",
  "pause",
  "forget",
  "stray",
  "pass",
  "store",
  "break",
];

const CODES = [
  "HW-1001",
  "HW-1002",
  "HW-1003",
  "HW-1004",
  "HW-1005",
  "HW-1006",
  "HW-1007",
  "HW-1009",
  "HW-1010",
  "HW-1011",
  "HW-1012",
  "HW-1018",
  "HW-1019",
  "HW-1021",
  "HW-1026",
  "HW-1031",
  "HW-1101",
];

/** No method asks for more later events than this, and none has more fuel. */
const EFFECTS_MAX = 5;
const FUEL_MAX = 2;
/** How many timers one operation sets, at most. */
const TIMERS_MAX = 200;

function scenario(seed: number, requests: number) {
  const random = new Random(seed);
  const spec = generateProgram(random);
  return extended(random, spec, generateWorkload(random, spec, requests));
}

function* allOps(body: readonly Op[]): Iterable<Op> {
  for (const op of body) {
    yield op;
    if ("body" in op) yield* allOps(op.body);
    if (op.op === "branches") for (const branch of op.branches) yield* allOps(branch);
  }
}

/** Runs a workload and everything that comes of it, one event at a time, and returns all outcomes. */
async function runAll(spec: ProgramSpec, workload: readonly RequestSpec[], eventsMax: number) {
  const program = new SequentialProgram(buildClasses(spec, { pause: () => undefined, world: 0 }).roots);
  const queue = workload.map(({ node, path, method, args, client }) => {
    return {
      node,
      path,
      method,
      args: args as unknown[],
      caller: client ?? undefined,
      timer: undefined as string | undefined,
    };
  });
  const outcomes = [];
  for (const [index, event] of queue.entries()) {
    assert.ok(index < eventsMax, "the program goes on for ever");
    const outcome = await program.run({ ...event, ticket: index + 1, time: 1000 + index });
    outcomes.push(outcome);
    for (const effect of outcome.later) {
      if (effect.kind === "tell" || effect.kind === "cancel") continue;
      if (effect.kind === "outside") {
        const { path, method } = effect;
        const result = { ok: true, value: 1 };
        if (method !== null)
          queue.push({
            ...event,
            path,
            method,
            args: [result, ...effect.args],
            caller: undefined,
            timer: undefined,
          });
        continue;
      }
      const node = effect.kind === "send" ? effect.node : event.node;
      const timer = effect.kind === "timer" ? effect.id : undefined;
      queue.push({
        node,
        path: effect.path,
        method: effect.method,
        args: effect.args,
        caller: undefined,
        timer,
      });
    }
  }
  return outcomes;
}

test("the same seed makes the same program and the same requests, another seed others", () => {
  for (let seed = 0; seed < 50; seed++) assert.deepEqual(scenario(seed, 20), scenario(seed, 20));
  const programs = new Set(Array.from({ length: 50 }, (_, seed) => JSON.stringify(scenario(seed, 20))));
  assert.equal(programs.size, 50);
});

test("every kind of operation appears over 200 seeds", () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 200; seed++) {
    for (const { methods } of scenario(seed, 1).spec.classes) {
      for (const { body } of methods) for (const op of allOps(body)) seen.add(op.op);
    }
  }
  assert.deepEqual([...seen].sort(), [...OPS].sort());
});

test("every program ends in the sequential runner, most events succeed, and every rule is broken by some", async () => {
  const requests = 30;
  const eventsMax = requests * (1 + EFFECTS_MAX + EFFECTS_MAX ** FUEL_MAX) * TIMERS_MAX;
  const codes = new Set<string>();
  let [events, failed] = [0, 0];
  for (let seed = 0; seed < 2000; seed++) {
    const { spec, workload } = scenario(seed, requests);
    for (const outcome of await runAll(spec, workload, eventsMax)) {
      events += 1;
      if (outcome.ok) continue;
      failed += 1;
      if (outcome.error.code !== undefined) codes.add(outcome.error.code);
    }
  }
  assert.deepEqual([...codes].sort(), CODES);
  assert.ok(failed > events * 0.02 && failed < events * 0.4, `${failed} of ${events} events failed`);
});

test("a program is plain data: what was written down and read again does the same", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const { spec, workload } = scenario(seed, 20);
    const read = JSON.parse(JSON.stringify({ spec, workload })) as ReturnType<typeof scenario>;
    assert.deepEqual(await runAll(read.spec, read.workload, 2000), await runAll(spec, workload, 2000));
  }
});

test("seeds differ in kind: some never give up a context, some do it everywhere", () => {
  const shares = Array.from({ length: 100 }, (_, seed) => {
    const bodies = scenario(seed, 1).spec.classes.flatMap(({ methods }) => methods.map(({ body }) => body));
    return (
      bodies.filter((body) => [...allOps(body)].some(({ op }) => op === "downgrade")).length / bodies.length
    );
  });
  assert.ok(shares.filter((share) => share === 0).length >= 10);
  assert.ok(shares.filter((share) => share > 0.5).length >= 5);
});

test("requests wait only for earlier ones", () => {
  for (let seed = 0; seed < 50; seed++) {
    for (const [index, { after }] of scenario(seed, 40).workload.entries())
      assert.ok(after === null || after < index);
  }
});

test("random choices are even, depend on the seed alone, and forks do not disturb each other", () => {
  const random = new Random(2 ** 40 + 1);
  const drawn = Array.from({ length: 10_000 }, () => random.int(5));
  for (const value of [0, 1, 2, 3, 4]) {
    const count = drawn.filter((each) => each === value).length;
    assert.ok(count > 1800 && count < 2200, `${value} was drawn ${count} times`);
  }
  const [left, right] = [new Random(1), new Random(1)];
  const fork = left.fork();
  right.fork();
  fork.int(10);
  assert.equal(left.bits(), right.bits());
  assert.notEqual(new Random(1).bits(), new Random(1 + 2 ** 32).bits());
  assert.throws(() => random.pick([]), RangeError);
});

test("a trace hash depends on every item and on their order", () => {
  const hash = (...items: (string | number)[]) =>
    items.reduce((sum: TraceHash, item) => sum.add(item), new TraceHash());
  const texts = [hash("ab", 1), hash("a", "b", 1), hash(1, "ab"), hash("ab", 2), hash("ab", 1.5), hash("ab")];
  const digests = texts.map((each) => each.digest());
  assert.equal(new Set(digests).size, digests.length);
  assert.equal(digests[0], hash("ab", 1).digest());
  for (const digest of digests) assert.match(digest, /^[0-9a-f]{16}$/);
});
