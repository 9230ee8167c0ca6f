import assert from "node:assert/strict";
import { test } from "node:test";
import {
  analyze,
  type DeriveOptions,
  derivePaths,
  type Gate,
  type Graph,
  type Seal,
} from "headwater/analysis";
import { check, type RunnableComponent, showCheck, sqlComponent } from "headwater/analysis/check";
import fc from "../properties.js";
import { range } from "./checks.js";
import { COLUMNS, meeting, query } from "./sql-queries.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 60);

async function prove(
  sql: string,
  sealsOf: (gate: readonly string[]) => readonly Seal[],
  rep: boolean,
  options: Pick<DeriveOptions, "request" | "openRequests"> = {},
) {
  const tables: Record<string, readonly string[]> = Object.fromEntries(
    Object.entries(COLUMNS).filter(([name]) => sql.match(`\\b${name}\\b`)),
  );
  if (options.request !== undefined) tables[options.request] = ["a"];
  const { paths, dependencies } = await derivePaths(sql, tables, "out", options);
  const readGate = paths.find(({ annotation }) => annotation === "OR")?.gate;
  /** Seals are on what a request reads, not on requests. */
  const gateFor = (from: string, gate: Gate) => {
    const asked = options.request === undefined ? gate : from === options.request ? "*" : (readGate ?? "*");
    return asked === "*" ? [] : asked.filter((each) => tables[from]?.includes(each));
  };
  const graph: Graph = {
    components: [{ name: "Q", paths, rep, runs: { sql, tables, to: "out", ...options } }],
    streams: [
      ...paths.map(({ from, gate }) => ({
        name: from,
        from: null,
        to: { component: "Q", interface: from },
        seals: sealsOf(gateFor(from, gate)),
      })),
      { name: "out", from: { component: "Q", interface: "out" }, to: null, seals: [] },
    ],
    dependencies,
    accepted: [],
  };
  const analysis = analyze(graph);
  const code = new Map([["Q", (await sqlComponent(sql, tables, "out", options)) as RunnableComponent]]);
  const result = check(analysis, { seeds: range(3), code, unshrunk: true });
  assert.equal(result.ok, true, `${sql}\n${showCheck(result, String)}`);
  return analysis.outputs[0]?.label ?? "";
}

test("whatever is derived from a query, no run proves it wrong", async () => {
  const labels = new Set<string>();
  const property = fc.asyncProperty(query, fc.boolean(), async (sql, rep) => {
    labels.add(await prove(sql, () => [], rep));
  });
  await fc.assert(property, { numRuns: RUNS });
  assert.ok(labels.has("Async") && labels.size > 2);
});

test("nor with seals on one attribute of each gate", async () => {
  const sealed = { streams: 0, outputs: 0 };
  const several = fc.oneof({ weight: 2, arbitrary: meeting }, query);
  const picks = fc.array(fc.nat(3), { minLength: 3, maxLength: 3 });
  const property = fc.asyncProperty(several, picks, fc.boolean(), async (sql, which, rep) => {
    let table = 0;
    let own = 0;
    const seal = (gate: readonly string[]): Seal[] => {
      const attribute = gate[(which[table++] ?? 0) % gate.length];
      if (attribute === undefined || !["a", "b"].includes(attribute)) return [];
      own++;
      return [{ key: [attribute], prefix: false }];
    };
    const label = await prove(sql, seal, rep);
    sealed.streams += own;
    if (own > 0 && label === "Async") sealed.outputs++;
  });
  await fc.assert(property, { numRuns: RUNS });
  assert.ok(sealed.outputs > RUNS / 10, `${sealed.outputs} of ${RUNS} queries were protected by seals`);
});

test("nor where a query is asked, once or with requests that stay open", async () => {
  const labels = new Set<string>();
  const asked = fc.constantFrom(
    "select b from r where a = $1",
    "select count(*) as n from r where a = $1",
    "select r.b from r join s on r.a = s.a where s.b = $1",
    "select b from r where a = $1 and not exists (select 1 from s where s.a = r.b)",
    "select x.b from r x join r y on x.a = y.a where x.a = $1",
    "select x.b from r x join r y on x.b = y.b where x.a = $1",
    "select x.b from r x join r y on x.b = y.a where x.a = $1",
    "select a from r group by a having count(*) > 1",
    "select a, count(*) as n from r group by a",
  );
  const property = fc.asyncProperty(asked, fc.boolean(), fc.boolean(), async (sql, open, sealed) => {
    const seal = (gate: readonly string[]) =>
      sealed && gate.length > 0 ? [{ key: gate.slice(0, 1), prefix: false }] : [];
    labels.add(await prove(sql, seal, true, { request: "q", openRequests: open }));
  });
  await fc.assert(property, { numRuns: RUNS / 2 });
  assert.deepEqual([...labels].sort(), ["Async", "Inst"]);
});
