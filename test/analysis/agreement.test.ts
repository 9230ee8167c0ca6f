import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  analyze,
  type ComponentPath,
  coordinated,
  type Dataflow,
  isAnomaly,
  showAnalysis,
} from "headwater/analysis";
import { type CheckResult, check, showCheck } from "headwater/analysis/check";
import fc from "../properties.js";
import { range } from "./checks.js";
import { path } from "./dataflows.js";
import { codeOf, dataflow } from "./random-dataflows.js";

const RUNS = Number(process.env.HEADWATER_DATAFLOW_RUNS ?? 25);

function tried(graph: Dataflow, seeds = range(2)): CheckResult {
  const analysis = analyze(graph);
  const result = check(analysis, { seeds, code: codeOf(graph), unshrunk: true });
  if (!result.ok) {
    const said = `${showAnalysis(analysis)}\n\n${showCheck(result, String)}`;
    assert.fail(`${said}\n${JSON.stringify(graph, null, 1)}`);
  }
  return result;
}

/** One component, each of its inputs with a stream from outside that is sealed on the key. */
function shaped(
  paths: readonly ComponentPath[],
  rep: boolean,
  key: readonly string[] | null,
  loop: boolean,
): Dataflow {
  const inputs = [...new Set(paths.map(({ from }) => from))];
  const at = (name: string) => ({ component: "C", interface: name });
  return {
    components: [{ name: "C", rep, paths }],
    streams: [
      ...inputs.map((name) => ({
        name: `in ${name}`,
        from: null,
        to: at(name),
        seals: key === null ? [] : [{ key, prefix: false }],
        attributes: ["k", "l", "v"],
      })),
      ...(loop ? [{ name: "back", from: at("x"), to: at(inputs[0] ?? ""), seals: [] }] : []),
      ...[...new Set(paths.map(({ to }) => to))].map((name) => ({
        name: `out ${name}`,
        from: at(name),
        to: null,
        seals: [],
      })),
    ],
    dependencies: [],
    accepted: [],
  };
}

describe("labels, plans and runs of random dataflows agree", () => {
  test("with the coordination that is in force, nothing differs more than its label says", () => {
    const property = fc.property(dataflow, (graph) => {
      tried(graph);
    });
    fc.assert(property, { numRuns: RUNS });
  });

  test("with the coordination that is planned, at most runs differ, and nothing is left open but repetition", () => {
    const property = fc.property(dataflow, (graph) => {
      // What the file has chosen or accepted stays as it is; that is not the plan's doing.
      const components = graph.components.map(({ coordination, ...rest }) => rest);
      const planned = coordinated(analyze({ ...graph, components, accepted: [] }));
      const open = analyze(planned).open.filter(({ derivation }) =>
        derivation?.steps.every(({ rule, repeats }) => rule !== "d" && !repeats),
      );
      assert.deepEqual(
        open.map(({ stream, label }) => `${stream.name} ${label}`),
        [],
      );
      tried(planned);
    });
    fc.assert(property, { numRuns: RUNS });
  });
});

describe("what waits for a partition waits until it has been processed", () => {
  const shapes: Readonly<Record<string, readonly ComponentPath[]>> = {
    "streams that would wait for each other": [
      path("a", "x", "CW"),
      path("b", "x", "OR", ["k"]),
      path("b", "x", "OW", ["k"]),
    ],
    "a read of a log that waits itself": [
      path("a", "x", "OR", ["k"]),
      path("b", "x", "CW"),
      path("b", "y", "CW"),
      path("c", "y", "OW", ["k"]),
    ],
  };
  for (const [name, paths] of Object.entries(shapes)) {
    test(name, () => {
      for (const rep of [false, true]) {
        for (const loop of [false, true]) tried(shaped(paths, rep, ["k"], loop), range(10));
        assert.deepEqual(analyze(shaped(paths, rep, ["k"], false)).open, []);
      }
    });
  }
});

describe("a stream is never held for what is made from it", () => {
  const at = (component: string, name: string) => ({ component, interface: name });
  const seals = [{ key: ["k"], prefix: false }];
  const attributes = ["k", "l", "v"];
  const dataflow = (components: Dataflow["components"], streams: Dataflow["streams"]): Dataflow => {
    return { components, streams, dependencies: [], accepted: [] };
  };
  const crossed = [path("a", "y", "CR"), path("a", "x", "CR"), path("b", "x", "OW", ["k"])];
  const cases = {
    "by the same component": dataflow(
      [{ name: "C", paths: crossed }],
      [
        { name: "in", from: null, to: at("C", "a"), seals, attributes },
        { name: "made", from: at("C", "y"), to: at("C", "b"), seals: [] },
        { name: "out", from: at("C", "x"), to: null, seals: [] },
      ],
    ),
    "by two components that send to each other": dataflow(
      [
        { name: "C", paths: crossed },
        { name: "D", paths: crossed },
      ],
      [
        { name: "in C", from: null, to: at("C", "a"), seals, attributes },
        { name: "in D", from: null, to: at("D", "a"), seals, attributes },
        { name: "to D", from: at("C", "y"), to: at("D", "b"), seals: [] },
        { name: "to C", from: at("D", "y"), to: at("C", "b"), seals: [] },
        { name: "out C", from: at("C", "x"), to: null, seals: [] },
        { name: "out D", from: at("D", "x"), to: null, seals: [] },
      ],
    ),
  };
  for (const [name, graph] of Object.entries(cases)) {
    test(name, () => {
      tried(graph, range(10));
      assert.ok(analyze(graph).open.length > 0);
      assert.deepEqual(analyze(coordinated(analyze(graph))).open, []);
    });
  }
});

describe("what a label predicts can be seen", () => {
  const shapes: Readonly<Record<string, readonly ComponentPath[]>> = {
    "a sequence": [path("a", "x", "OW", ["k"])],
    "a sequence of unknown gate": [path("a", "x", "OW")],
    "a read of a log": [path("a", "x", "CW"), path("b", "x", "OR", ["k"])],
    "a read of a sequence": [path("a", "x", "OW", ["k"]), path("b", "x", "OR", ["k"])],
    "an outer join": [path("a", "x", "CW"), path("b", "x", "OW", ["k"])],
    "two sequences that meet": [path("a", "x", "OW", ["k"]), path("b", "x", "OW", ["k"])],
    "sequences of different gates": [path("a", "x", "OW", ["k"]), path("b", "x", "OW", ["l"])],
  };
  for (const [name, paths] of Object.entries(shapes)) {
    for (const rep of [false, true]) {
      for (const loop of [false, true]) {
        test(`in ${name}${rep ? ", replicated" : ""}${loop ? ", with a way back" : ""}`, () => {
          for (const key of [null, ["k"], ["l"], ["k", "l"]]) {
            const result = tried(shaped(paths, rep, key, loop), range(10));
            for (const { stream, found } of result.predicted) {
              const { label, stream: what } = stream;
              assert.ok(isAnomaly(label));
              const about = `${what.name} is ${label}, sealed on ${key}`;
              // A component that sends to its other replicas only may tell them all that it knows.
              if (loop && rep) assert.ok(found !== null, about);
              else assert.equal(found?.kind, label, about);
            }
          }
        });
      }
    }
  }
});
