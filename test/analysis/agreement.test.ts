import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { analyze, coordinated, type Graph, showAnalysis } from "headwater/analysis";
import { type CheckResult, check, showCheck } from "headwater/analysis/check";
import { range } from "./checks.js";
import { codeOf, dataflow } from "./random-dataflows.js";

const RUNS = Number(process.env.HEADWATER_DATAFLOW_RUNS ?? 40);
const SEEDS = range(3);

function tried(graph: Graph): CheckResult {
  const analysis = analyze(graph);
  const result = check(analysis, { seeds: SEEDS, code: codeOf(graph), unshrunk: true });
  if (!result.ok) {
    const said = `${showAnalysis(analysis)}\n\n${showCheck(result, String)}`;
    assert.fail(`${said}\n${JSON.stringify(graph, null, 1)}`);
  }
  return result;
}

describe("labels, plans and runs of random dataflows agree", () => {
  test("with the coordination that is in force, nothing differs more than its label says", () => {
    const seen = new Map<string, { found: number; all: number }>();
    const property = fc.property(dataflow, (graph) => {
      for (const { stream, found } of tried(graph).predicted) {
        const count = seen.get(stream.label) ?? { found: 0, all: 0 };
        seen.set(stream.label, count);
        count.all++;
        if (found?.kind === stream.label) count.found++;
      }
    });
    fc.assert(property, { numRuns: RUNS });
    for (const label of ["Run", "Inst", "Diverge"]) {
      const { found, all } = seen.get(label) ?? { found: 0, all: 0 };
      assert.ok(found > all / 10, `${label}: ${found} of ${all} predictions came true`);
    }
  });

  test("with the coordination that is planned, at most runs differ, and nothing is left open but repetition", () => {
    const property = fc.property(dataflow, (graph) => {
      // What was accepted or refused coordination stays as it is; that is not the plan's doing.
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
