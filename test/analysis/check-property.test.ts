import assert from "node:assert/strict";
import { test } from "node:test";
import {
  analyze,
  type Component,
  type Dataflow,
  type DeriveOptions,
  derivePaths,
  type Gate,
  type Seal,
  type Stream,
} from "headwater/analysis";
import { check, type RunnableComponent, showCheck, sqlComponent } from "headwater/analysis/check";
import fc from "../properties.js";
import { range } from "./checks.js";
import { COLUMNS, meeting, query } from "./sql-queries.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 60);

type Transport = Pick<Stream, "ordered" | "singleWriter" | "delivery">;

/** With `via`, each table comes from a query of its own that passes it on, over a stream that keeps what the transport does. */
async function prove(
  sql: string,
  sealsOf: (gate: readonly string[]) => readonly Seal[],
  rep: boolean,
  options: Pick<DeriveOptions, "request" | "openRequests"> = {},
  transportOf: (gate: readonly string[]) => Transport = () => ({}),
  via = false,
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
  const code = new Map([["Q", (await sqlComponent(sql, tables, "out", options)) as RunnableComponent]]);
  const components: Component[] = [{ name: "Q", paths, rep, runs: { sql, tables, to: "out", ...options } }];
  const streams: Stream[] = [
    { name: "out", from: { component: "Q", interface: "out" }, to: null, seals: [] },
  ];
  for (const { from, gate } of paths) {
    const own = gateFor(from, gate);
    const to = { component: "Q", interface: from };
    if (!via) {
      streams.push({ name: from, from: null, to, seals: sealsOf(own), ...transportOf(own) });
      continue;
    }
    const [name, passing, columns] = [`P_${from}`, `select * from ${from}`, tables[from] ?? []];
    const runs = { sql: passing, tables: { [from]: columns }, to: "passed" };
    components.push({ name, ...(await derivePaths(passing, runs.tables, "passed")), rep, runs });
    code.set(name, (await sqlComponent(passing, runs.tables, "passed")) as RunnableComponent);
    streams.push({ name: from, from: null, to: { component: name, interface: from }, seals: sealsOf(own) });
    const passed = { component: name, interface: "passed" };
    streams.push({ name: `${from}_passed`, from: passed, to, seals: [], ...transportOf(own) });
  }
  const graph: Dataflow = { components, streams, dependencies, accepted: [] };
  const analysis = analyze(graph);
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

test("nor over streams that keep an order or repeat, from outside or from another component", async () => {
  const labels = new Set<string>();
  const transports = fc.array(fc.tuple(fc.nat(3), fc.boolean()), { minLength: 3, maxLength: 3 });
  const property = fc.asyncProperty(
    query,
    fc.boolean(),
    fc.boolean(),
    fc.boolean(),
    transports,
    async (sql, rep, via, isSealed, kinds) => {
      let table = 0;
      const seal = (gate: readonly string[]): Seal[] => {
        const [attribute] = gate;
        return isSealed && attribute !== undefined ? [{ key: [attribute], prefix: false }] : [];
      };
      const transport = (gate: readonly string[]): Transport => {
        const [kind, repeats] = kinds[table++ % kinds.length] ?? [0, false];
        const order =
          [{}, { ordered: gate.slice(0, 1) }, { ordered: [] }, { singleWriter: true }][kind] ?? {};
        return { ...order, ...(repeats ? { delivery: "at-least-once" } : {}) };
      };
      labels.add(await prove(sql, seal, rep, {}, transport, via));
    },
  );
  await fc.assert(property, { numRuns: RUNS * 2 });
  assert.deepEqual([...labels].sort(), ["Async", "Diverge", "Inst", "Run"]);
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
