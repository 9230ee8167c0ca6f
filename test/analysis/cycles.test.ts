import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { advise, analyze, planCoordination } from "headwater/analysis";
import { stronglyConnected } from "#src/analysis/cycles.js";
import { graph, labels, path } from "./dataflows.js";

describe("cycles collapse", () => {
  test("to their worst member, with one label for all streams around", () => {
    const analysis = analyze(
      graph(
        { A: [path("in", "out", "CR")], B: [path("in", "out", "OW", ["k"]), path("in", "done", "CR")] },
        { in: [null, "A.in"], ab: ["A.out", "B.in"], ba: ["B.out", "A.in"], done: ["B.done", null] },
      ),
    );
    assert.deepEqual(labels(analysis), { ab: "Run", ba: "Run", done: "Run", in: "Async" });
    assert.equal(analysis.streams.get("ab")?.derivation, analysis.streams.get("ba")?.derivation);
  });

  test("and no seal outside protects an order-sensitive member: what comes round again comes after it", () => {
    const around = (key: string[]) =>
      labels(
        analyze(
          graph(
            {
              A: [path("in", "out", "CW")],
              B: [path("in", "out", "OW", ["k", "l"])],
              C: [path("in", "out", "OR", ["k"])],
            },
            {
              in: [null, "A.in", key],
              ab: ["A.out", "B.in"],
              bc: ["B.out", "C.in"],
              ca: ["C.out", "A.in"],
              out: ["C.out", null],
            },
          ),
        ),
      ).out;
    for (const key of ["k", "l", "x"]) assert.equal(around([key]), "Run");
  });

  test("a self-edge does not make a component order-sensitive", () => {
    const streams = {
      in: [null, "Cache.in"],
      self: ["Cache.out", "Cache.in"],
      out: ["Cache.out", null],
    } as const;
    const cache = (annotation: "CR" | "CW" | "OW", seal?: string[]) =>
      labels(
        analyze(
          graph(
            { Cache: { rep: true, paths: [path("in", "out", annotation, ["k"])] } },
            seal === undefined ? streams : { ...streams, in: [null, "Cache.in", seal] },
          ),
        ),
      ).out;
    assert.equal(cache("CR"), "Async");
    assert.equal(cache("CW"), "Async");
    assert.equal(cache("OW"), "Diverge");
    assert.equal(cache("OW", ["k"]), "Diverge");
  });

  test("a seal does not pass a cycle: a record may still be under way around it", () => {
    const analysis = analyze(
      graph(
        { Cache: [path("in", "out", "CW")] },
        { in: [null, "Cache.in", ["k"]], self: ["Cache.out", "Cache.in"], out: ["Cache.out", null] },
      ),
    );
    assert.equal(labels(analysis).out, "Async");
  });

  test("a replicated read that goes around into a write makes the replicas diverge", () => {
    const analysis = analyze(
      graph(
        { Read: { rep: true, paths: [path("in", "out", "OR")] }, Write: [path("in", "out", "CW")] },
        {
          in: [null, "Read.in"],
          rw: ["Read.out", "Write.in"],
          wr: ["Write.out", "Read.in"],
          out: ["Write.out", null],
        },
      ),
    );
    assert.equal(labels(analysis).out, "Diverge");
  });

  test("each gate counts, not only the first: a seal that fits one read of a loop does not protect another", () => {
    const report = (gates: readonly string[][], loop: boolean) =>
      labels(
        analyze(
          graph(
            {
              Report: {
                rep: true,
                paths: [
                  path("click", "response", "CW"),
                  ...gates.map((gate) => path("request", "response", "OR", gate)),
                ],
              },
            },
            {
              click: [null, "Report.click", ["campaign"]],
              request: [null, "Report.request"],
              ...(loop ? { back: ["Report.response", "Report.request"] as const } : {}),
              response: ["Report.response", null],
            },
          ),
        ),
      ).response;
    for (const loop of [true, false]) {
      assert.equal(report([["campaign", "id"], ["id"]], loop), "Inst", `loop: ${loop}`);
      assert.equal(report([["campaign", "id"]], loop), "Async", `loop: ${loop}`);
    }
  });

  test("a read is protected only by what its own component has sealed, not by a seal elsewhere in the cycle", () => {
    const analysis = analyze(
      graph(
        {
          Log: [path("click", "out", "CW"), path("in", "out", "CR")],
          Read: [path("in", "out", "OR", ["k"])],
        },
        {
          click: [null, "Log.click", ["k"]],
          there: ["Log.out", "Read.in"],
          back: ["Read.out", "Log.in"],
          out: ["Read.out", null],
        },
      ),
    );
    assert.equal(labels(analysis).out, "Run");
  });

  test("a seal that is declared on the way back counts as little", () => {
    const given = graph(
      { Sum: [path("in", "out", "OW", ["k"])] },
      { in: [null, "Sum.in", ["k"]], back: ["Sum.out", "Sum.in", ["k"]], out: ["Sum.out", null] },
    );
    const analysis = analyze(given);
    assert.deepEqual(labels(analysis), { back: "Run", in: "Seal", out: "Run" });
    assert.equal(planCoordination(analysis).get("Sum")?.coordination.kind, "order");
    assert.equal(advise(analysis)[0]?.seal, null);
  });

  test("what enters beside the cycle's inputs goes around too", () => {
    const analysis = analyze(
      graph(
        { A: [path("loop", "out", "OW", ["k"]), path("in", "out", "CR")] },
        { in: [null, "A.in"], loop: ["A.out", "A.loop"], out: ["A.out", null] },
      ),
    );
    assert.equal(labels(analysis).out, "Run");
  });

  test("a cycle without any input is Async", () => {
    const analysis = analyze(graph({ A: [path("in", "out", "OW", ["k"])] }, { loop: ["A.out", "A.in"] }));
    assert.equal(labels(analysis).loop, "Async");
  });
});

test("strongly connected groups come in reverse order of the graph, however deep it is", () => {
  const size = 200_000;
  const chain = stronglyConnected(size, (node) => (node + 1 < size ? [node + 1] : []));
  assert.equal(chain.length, size);
  assert.deepEqual(chain[0], [size - 1]);
  const ring = stronglyConnected(size, (node) => [(node + 1) % size]);
  assert.equal(ring.length, 1);
  const edges: Record<number, number[]> = { 0: [1], 1: [2], 2: [1, 3], 3: [3] };
  const groups = stronglyConnected(4, (node) => edges[node] ?? []);
  assert.deepEqual(
    groups.map((group) => group.toSorted()),
    [[3], [1, 2], [0]],
  );
});
