import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type AnnotationKind,
  advise,
  analyze,
  type Dataflow,
  type Stream,
  showAnalysis,
  toJson,
  toSarif,
} from "headwater/analysis";

/** A ladder: the number of paths doubles with every rung, so whoever walks them all never ends. */
function ladder(rungs: number, annotation: AnnotationKind): Dataflow {
  const components = Array.from({ length: rungs }, (_, i) => ({
    name: `C${i}`,
    paths: [
      { from: "a", to: "x", annotation: i === 0 ? annotation : "CR", gate: ["k"] },
      { from: "b", to: "x", annotation: "CW" as const, gate: "*" as const },
    ],
  }));
  const streams: Stream[] = [{ name: "in", from: null, to: { component: "C0", interface: "a" }, seals: [] }];
  for (let i = 0; i + 1 < rungs; i++) {
    const from = { component: `C${i}`, interface: "x" };
    for (const [n, side] of ["a", "b", "a"].entries()) {
      streams.push({ name: `s${i}-${n}`, from, to: { component: `C${i + 1}`, interface: side }, seals: [] });
    }
  }
  streams.push({ name: "out", from: { component: `C${rungs - 1}`, interface: "x" }, to: null, seals: [] });
  return { components, streams, dependencies: [], accepted: [] };
}

describe("10,000 components and 30,000 streams", () => {
  test("take a walk over the graph, not over its paths", () => {
    const analysis = analyze(ladder(10_000, "OW"));
    assert.equal(analysis.streams.size, 29_999);
    assert.deepEqual(
      analysis.outputs.map(({ label }) => label),
      ["Run"],
    );
    const [fault, ...more] = advise(analysis);
    assert.deepEqual(more, []);
    assert.equal(fault?.component, "C0");
    assert.equal(fault?.streams.length, 29_998);
    assert.match(showAnalysis(analysis), /and 29939 more/);
  });

  test("make data that is as large as the graph, also when all of them are one order-sensitive cycle", () => {
    const ring = (size: number): Dataflow => ({
      components: Array.from({ length: size }, (_, i) => ({
        name: `C${i}`,
        paths: [{ from: "a", to: "x", annotation: "OW" as const, gate: ["k"] }],
      })),
      streams: [
        { name: "in", from: null, to: { component: "C0", interface: "a" }, seals: [] },
        ...Array.from({ length: size }, (_, i) => ({
          name: `s${i}`,
          from: { component: `C${i}`, interface: "x" },
          to: { component: `C${(i + 1) % size}`, interface: "a" },
          seals: [],
        })),
      ],
      dependencies: [],
      accepted: [],
    });
    const length = (size: number) => JSON.stringify(toJson(analyze(ring(size)))).length;
    const [small, large] = [length(1000), length(10_000)];
    assert.ok(large < 11 * small, `${small} characters for 1,000 components, ${large} for 10,000`);
    assert.ok(showAnalysis(analyze(ring(10_000))).length < 5 * large);
    assert.ok(JSON.stringify(toSarif(analyze(ring(1000)), "1", null)).length < 5 * large);
  });

  test("also when all of them are one cycle", () => {
    const { streams, ...rest } = ladder(10_000, "CR");
    const back = {
      name: "back",
      from: { component: "C9999", interface: "x" },
      to: { component: "C0", interface: "b" },
      seals: [],
    };
    const analysis = analyze({ ...rest, streams: [...streams, back] });
    assert.deepEqual(
      analysis.outputs.map(({ label, derivation }) => [label, derivation?.components.length]),
      [["Async", 10_000]],
    );
  });
});
