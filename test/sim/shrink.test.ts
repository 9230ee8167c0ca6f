import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "#src/random.js";
import type { LoggedFailure } from "#src/sim/oracle/log.js";
import { SequentialProgram } from "#src/sim/oracle/sequential.js";
import { generateProgram, generateWorkload } from "#src/sim/programs/generate.js";
import { buildClasses, type Op, type ProgramSpec, type RequestSpec } from "#src/sim/programs/program.js";
import { show } from "#src/sim/programs/show.js";
import { shrink } from "#src/sim/programs/shrink.js";

function scenario(seed: number, requests: number) {
  const random = new Random(seed);
  const spec = generateProgram(random);
  return { spec, workload: generateWorkload(random, spec, requests) };
}

/** The first seed whose program fails. */
async function failing(fails: (spec: ProgramSpec, workload: readonly RequestSpec[]) => Promise<boolean>) {
  for (let seed = 0; seed < 200; seed++) {
    const { spec, workload } = scenario(seed, 30);
    if (await fails(spec, workload)) return { spec, workload };
  }
  throw new RangeError("no seed shows the planted failure");
}

/** How the events of a workload fail. */
async function failuresOf(spec: ProgramSpec, workload: readonly RequestSpec[]): Promise<LoggedFailure[]> {
  const program = new SequentialProgram(buildClasses(spec, { pause: () => undefined, world: 0 }).roots);
  const failures: LoggedFailure[] = [];
  for (const [index, { node, path, method, args, client }] of workload.entries()) {
    const facts = { node, path, method, args, caller: client ?? undefined, ticket: index + 1, time: 0 };
    const outcome = await program.run(facts);
    if (!outcome.ok) failures.push(outcome.error);
  }
  return failures;
}

/** A planted failure: some event of the workload fails with this code. */
function someEventFailsWith(code: string) {
  return async (spec: ProgramSpec, workload: readonly RequestSpec[]) => {
    return (await failuresOf(spec, workload)).some((failure) => failure.code === code);
  };
}

function opsOf(spec: ProgramSpec): Op[] {
  return spec.classes.flatMap(({ methods }) => methods.flatMap(({ body }) => body));
}

test("a planted failure that needs one request and two operations is shrunk to just those", async () => {
  const fails = someEventFailsWith("HW-1009");
  const { spec, workload } = await failing(fails);
  const shrunk = await shrink(spec, workload, fails);
  assert.ok(await fails(shrunk.spec, shrunk.workload));
  assert.equal(shrunk.workload.length, 1);
  assert.deepEqual(
    opsOf(shrunk.spec).map(({ op }) => op),
    ["downgrade", "change"],
  );
  const used = shrunk.spec.classes.flatMap(({ fields, methods }) => [...fields, ...methods]);
  assert.equal(used.length, 2, "one field and one method are left");
});

test("requests that wait for one that was taken away wait for nobody", async () => {
  const { spec, workload } = scenario(3, 30);
  const last = workload.length - 1;
  const chained = workload.map((request, index) => ({
    ...request,
    at: index,
    after: index === 0 ? null : index - 1,
  }));
  const fails = async (_: ProgramSpec, requests: readonly RequestSpec[]) => {
    for (const [index, { after }] of requests.entries()) assert.ok(after === null || after < index);
    return [4, last].every((at) => requests.some((request) => request.at === at));
  };
  const shrunk = await shrink(spec, chained, fails);
  assert.deepEqual(
    shrunk.workload.map(({ at, after }) => ({ at, after })),
    [
      { at: 4, after: null },
      { at: last, after: null },
    ],
  );
});

test("every program tried on the way is whole: nothing in it names what was taken away", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const { spec, workload } = scenario(seed, 12);
    const luck = new Random(seed);
    const runs = async (candidate: ProgramSpec, requests: readonly RequestSpec[]) => {
      // A missing field, child or method would show as a TypeError, or as HW-1007 where that is not on purpose.
      for (const { name, message } of await failuresOf(candidate, requests)) {
        assert.notEqual(name, "TypeError", message);
        if (message.startsWith("HW-1007")) assert.match(message, /"nothing"/);
      }
      return luck.chance(0.3);
    };
    await shrink(spec, workload, runs, 200);
  }
});

test("what is needed is taken out of the blocks around it", async () => {
  const { spec, workload } = scenario(1, 3);
  const inner: Op[] = [{ op: "try", body: [{ op: "pause", units: 2 }, { op: "downgrade" }] }];
  const body: Op[] = [{ op: "if", of: "a", mod: 3, is: 1, body: inner }];
  const classes = spec.classes.map((cls) => {
    return { ...cls, methods: cls.methods.map((method) => ({ ...method, body })) };
  });
  const needs = (ops: readonly Op[]): boolean => {
    return ops.some((op) => op.op === "downgrade" || ("body" in op && needs(op.body)));
  };
  const fails = async (candidate: ProgramSpec) => {
    return candidate.classes.some((cls) => cls.methods.some((method) => needs(method.body)));
  };
  const shrunk = await shrink({ ...spec, classes }, workload, fails);
  assert.deepEqual(opsOf(shrunk.spec), [{ op: "downgrade" }]);
  assert.deepEqual(shrunk.workload, []);
});

test("the number of tries is bounded", async () => {
  const { spec, workload } = scenario(1, 30);
  let tries = 0;
  const fails = async () => {
    tries += 1;
    return tries % 2 === 0;
  };
  const { attempts } = await shrink(spec, workload, fails, 25);
  assert.equal(attempts, 25);
  assert.equal(tries, 25);
});

test("a program is shown as source that names its classes, methods and requests", () => {
  const spec: ProgramSpec = {
    nodes: [{ name: "n0", root: 0 }],
    classes: [
      {
        name: "A",
        anonymous: false,
        fields: [{ name: "f0", kind: "number" }],
        slots: [{ name: "s0", cls: 1, style: "number", keys: 3 }],
        methods: [
          {
            name: "m0",
            readonly: false,
            reads: [],
            async: false,
            returns: null,
            body: [
              { op: "change", field: "f0", drop: false, value: "a" },
              { op: "downgrade" },
              {
                op: "try",
                body: [
                  {
                    op: "call",
                    call: {
                      path: [{ field: "s0", style: "number", keys: 3, key: "acc" }],
                      method: "m1",
                      args: ["b", 2],
                    },
                  },
                ],
              },
            ],
          },
        ],
      },
      {
        name: "B",
        anonymous: false,
        fields: [],
        slots: [],
        methods: [
          {
            name: "m1",
            readonly: true,
            reads: [0],
            async: false,
            returns: null,
            body: [{ op: "read", cls: 0 }],
          },
        ],
      },
      { name: "Unused", anonymous: false, fields: [], slots: [], methods: [] },
    ],
  };
  const request: RequestSpec = {
    node: "n0",
    path: [{ field: "s0", key: 1 }],
    method: "m1",
    args: [1, 2, 0],
    client: "c1",
    after: 0,
    at: 5,
  };
  assert.equal(
    show(spec, [{ ...request, path: [], method: "m0", client: null, after: null }, request]),
    `class B extends Context {
  @readonly
  @reads(A)
  m1(a, b, fuel, acc = 0) {
    see(this.event.read(A));
    return acc;
  }
}

class A extends Context {
  f0 = 1;
  s0 = this.children(B);
  async m0(a, b, fuel, acc = 0) {
    change(this.f0, add, a);
    this.downgrade();
    try {
      see(await this.s0(acc % 3).m1(b, 2, fuel));
    } catch (error) {
      see(error);
    }
    return acc;
  }
}

run({ n0: A });

const r0 = n0.m0(1, 2, 0);
const r1 = c1.n0.s0(1).m1(1, 2, 0); // after r0 was acknowledged`,
  );
});
