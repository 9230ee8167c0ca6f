import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { analyze, derivePaths, type Graph, type Seal } from "headwater/analysis";
import { check, type RunnableComponent, showCheck, sqlComponent } from "headwater/analysis/check";
import { range } from "./checks.js";
import { COLUMNS, query } from "./sql-queries.js";

async function prove(sql: string, sealsOf: (gate: readonly string[]) => readonly Seal[], rep: boolean) {
  const tables = Object.fromEntries(Object.entries(COLUMNS).filter(([name]) => sql.match(`\\b${name}\\b`)));
  const { paths, dependencies } = await derivePaths(sql, tables, "out");
  const graph: Graph = {
    components: [{ name: "Q", paths, rep, runs: { sql, tables, to: "out" } }],
    streams: [
      ...paths.map(({ from, gate }) => ({
        name: from,
        from: null,
        to: { component: "Q", interface: from },
        seals: gate === "*" ? [] : sealsOf(gate),
      })),
      { name: "out", from: { component: "Q", interface: "out" }, to: null, seals: [] },
    ],
    dependencies,
    accepted: [],
  };
  const analysis = analyze(graph);
  const code = new Map([["Q", (await sqlComponent(sql, tables, "out")) as RunnableComponent]]);
  const result = check(analysis, { seeds: range(3), code });
  assert.equal(result.ok, true, `${sql}\n${showCheck(result, String)}`);
  return analysis.outputs[0]?.label ?? "";
}

test("whatever is derived from a query, no run proves it wrong", async () => {
  const labels = new Set<string>();
  const property = fc.asyncProperty(query, fc.boolean(), async (sql, rep) => {
    labels.add(await prove(sql, () => [], rep));
  });
  await fc.assert(property, { seed: 5, numRuns: 60 });
  assert.ok(labels.has("Async") && labels.size > 2);
});

test("nor with seals on one attribute of each gate", async () => {
  let sealed = 0;
  const property = fc.asyncProperty(query, fc.nat(5), fc.boolean(), async (sql, which, rep) => {
    const seal = (gate: readonly string[]): Seal[] => {
      const attribute = gate[which % gate.length];
      if (attribute === undefined || !["a", "b"].includes(attribute)) return [];
      sealed++;
      return [{ key: [attribute], prefix: false }];
    };
    await prove(sql, seal, rep);
  });
  await fc.assert(property, { seed: 6, numRuns: 60 });
  assert.ok(sealed > 10);
});
