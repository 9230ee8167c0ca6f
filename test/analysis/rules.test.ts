import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AnnotationKind, analyze, type Dataflow, type Label } from "headwater/analysis";
import { graph, path } from "./dataflows.js";

type Input = "Async" | "Run" | "Inst" | "Diverge" | "Seal k" | "Seal x";

/**
 * One component with one path after a stream of the wanted label, made with the means of the paper. `rep` is about
 * the component; the one before it makes the label.
 */
function through(input: Input, annotation: AnnotationKind, rep: boolean) {
  const [label, key] = input.split(" ") as [Label, string | undefined];
  const makers: Partial<Record<Label, { rep: boolean; kind: AnnotationKind }>> = {
    Run: { rep: false, kind: "OW" },
    Inst: { rep: true, kind: "OR" },
    Diverge: { rep: true, kind: "OW" },
  };
  const maker = makers[label];
  const made: Dataflow = graph(
    {
      Maker: { rep: maker?.rep ?? false, paths: [path("in", "out", maker?.kind ?? "CR")] },
      Taker: { rep, paths: [path("in", "out", annotation, ["k"])] },
    },
    {
      source: key === undefined ? [null, "Maker.in"] : [null, "Maker.in", [key]],
      input: ["Maker.out", "Taker.in"],
      output: ["Taker.out", null],
    },
  );
  const analysis = analyze(made);
  assert.equal(analysis.streams.get("input")?.label, label);
  const output = analysis.streams.get("output");
  const rules = output?.derivation?.steps.map(({ rule }) => rule).join("");
  const adds = output?.derivation?.steps.map(({ adds }) => adds?.kind ?? "nothing").join(" ");
  return { rules, adds, label: output?.label };
}

describe("figure 9", () => {
  for (const input of ["Async", "Run"] as const) {
    test(`rule 1: ${input} and OR_gate give NDRead_gate`, () => {
      const expected = { rules: "1", adds: "NDRead" };
      assert.deepEqual(through(input, "OR", false), { ...expected, label: "Run" });
      assert.deepEqual(through(input, "OR", true), { ...expected, label: "Inst" });
    });
    test(`rule 2: ${input} and OW_gate give Taint`, () => {
      const expected = { rules: "2", adds: "Taint" };
      assert.deepEqual(through(input, "OW", false), { ...expected, label: "Run" });
      assert.deepEqual(through(input, "OW", true), { ...expected, label: "Diverge" });
    });
  }
  for (const kind of ["CW", "OW"] as const) {
    test(`rule 3: Inst and ${kind} give Taint`, () => {
      assert.deepEqual(through("Inst", kind, true), { rules: "3", adds: "Taint", label: "Diverge" });
      // Taint alone would be Run here, but the input's own label is worse.
      assert.deepEqual(through("Inst", kind, false), { rules: "3", adds: "Taint", label: "Inst" });
    });
  }
  test("rule 4: a seal that does not fit and OW_gate give Taint", () => {
    assert.deepEqual(through("Seal x", "OW", false), { rules: "4", adds: "Taint", label: "Run" });
    assert.deepEqual(through("Seal x", "OW", true), { rules: "4", adds: "Taint", label: "Diverge" });
  });
  test("a seal that does not fit an OR path is worth no more than none: rule 1", () => {
    assert.deepEqual(through("Seal x", "OR", false), { rules: "1", adds: "NDRead", label: "Run" });
    assert.deepEqual(through("Seal x", "OR", true), { rules: "1", adds: "NDRead", label: "Inst" });
  });
  test("a seal that fits is used up by an order-sensitive path", () => {
    for (const kind of ["OR", "OW"] as const) {
      assert.deepEqual(through("Seal k", kind, true), { rules: "p", adds: "nothing", label: "Async" });
    }
  });
  test("whatever no rule is about is preserved", () => {
    for (const [input, kind] of [
      ["Async", "CR"],
      ["Async", "CW"],
      ["Run", "CR"],
      ["Run", "CW"],
      ["Inst", "CR"],
      ["Inst", "OR"],
      ["Diverge", "CR"],
      ["Diverge", "CW"],
      ["Diverge", "OR"],
      ["Diverge", "OW"],
      ["Seal k", "CR"],
      ["Seal x", "CW"],
    ] as const) {
      const label = input.split(" ")[0];
      assert.deepEqual(
        through(input, kind, true),
        { rules: "p", adds: "nothing", label },
        `${input} ${kind}`,
      );
    }
  });
});

describe("figure 10", () => {
  /** Clicks are written, requests read them. */
  function report(seals: { click?: string[]; more?: string[]; request?: string[] }, rep = true) {
    const analysis = analyze(
      graph(
        {
          Report: {
            rep,
            paths: [
              path("click", "out", "CW"),
              path("more", "out", "CW"),
              path("request", "out", "OR", ["k", "l"]),
            ],
          },
        },
        {
          click: seals.click === undefined ? [null, "Report.click"] : [null, "Report.click", seals.click],
          more: seals.more === undefined ? [null, "Report.more"] : [null, "Report.more", seals.more],
          request:
            seals.request === undefined ? [null, "Report.request"] : [null, "Report.request", seals.request],
          out: ["Report.out", null],
        },
      ),
    );
    return analysis.streams.get("out")?.label;
  }

  test("a read is protected if every stream that it meets is sealed on a fitting key", () => {
    assert.equal(report({ click: ["k"], more: ["l"] }), "Async");
  });
  test("one stream without a seal, or with one that does not fit, is enough to lose the protection", () => {
    assert.equal(report({ click: ["k"] }), "Inst");
    assert.equal(report({ click: ["k"], more: ["x"] }), "Inst");
    assert.equal(report({ click: ["k"] }, false), "Run");
  });
  test("a seal on the reader's own input protects nothing that others write", () => {
    assert.equal(report({ request: ["k"] }), "Inst");
    assert.equal(report({ request: ["k"], click: ["k"], more: ["k"] }), "Async");
  });
  test("the worst label of an interface is the label of the stream", () => {
    const components = {
      Order: [path("in", "out", "OW")],
      Merge: [path("a", "out", "CR"), path("b", "out", "CR")],
    };
    const analysis = analyze(
      graph(components, {
        in: [null, "Order.in"],
        a: ["Order.out", "Merge.a"],
        b: [null, "Merge.b", ["k"]],
        out: ["Merge.out", null],
      }),
    );
    assert.equal(analysis.streams.get("out")?.label, "Run");
  });
  test("a merged stream is sealed only on what all its parts are sealed on", () => {
    const merged = (a: string[], b: string[]) =>
      analyze(
        graph(
          { Merge: [path("a", "out", "CR"), path("b", "out", "CW")] },
          { a: [null, "Merge.a", a], b: [null, "Merge.b", b], out: ["Merge.out", null] },
        ),
      ).streams.get("out");
    assert.deepEqual(merged(["k", "l"], ["l", "k"])?.seals, [{ key: ["k", "l"], prefix: false }]);
    assert.equal(merged(["k"], ["l"])?.label, "Async");
  });
});

describe("replication", () => {
  const components = (rep: boolean | undefined) => ({
    Report: { rep: true, paths: [path("in", "out", "OR")] },
    Cache: { ...(rep === undefined ? {} : { rep }), paths: [path("in", "out", "CW")] },
  });
  const streams = {
    in: [null, "Report.in"],
    mid: ["Report.out", "Cache.in"],
    out: ["Cache.out", null],
  } as const;

  test("whoever reads a replicated stream is replicated", () => {
    assert.equal(analyze(graph(components(undefined), streams)).streams.get("out")?.label, "Diverge");
  });
  test("unless it is said not to be", () => {
    assert.equal(analyze(graph(components(false), streams)).streams.get("out")?.label, "Inst");
  });
});
