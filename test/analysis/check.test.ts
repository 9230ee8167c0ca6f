import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type AnnotationKind,
  analyze,
  type Component,
  type Repetition,
  readDataflow,
} from "headwater/analysis";
import {
  type Block,
  type CheckedComponent,
  check,
  queryComponent,
  showChecked,
} from "headwater/analysis/check";
import { held, sealedInputs, showRecord } from "#src/check/deliveries.js";
import { headwater, packageWith, ROOT, runHere } from "../cli/headwater.js";
import { example, graph, path } from "./dataflows.js";

async function byQuery({ runs }: Component): Promise<CheckedComponent | null> {
  return runs !== undefined && "sql" in runs ? await queryComponent(runs) : null;
}

describe("figure 6, really run", () => {
  for (const [name, result] of [
    ["ads-thresh", "kept"],
    ["ads-poor", "shown"],
    ["ads-window-sealed", "kept"],
    ["ads-campaign", "shown"],
    ["ads-campaign-sealed", "kept"],
  ] as const) {
    test(`${name}: ${result}`, async () => {
      const results = await check(await example(name), byQuery, 1);
      assert.deepEqual(
        results.map(({ component, result }) => `${component} ${result}`),
        ["Cache skipped", `Report ${result}`],
      );
    });
  }

  test("POOR: a hundred clicks and a request are enough, and no fewer", async () => {
    for (const seed of [1, 2, 3]) {
      const report = (await check(await example("ads-poor"), byQuery, seed))[1];
      assert.ok(report?.difference);
      const { deliveries, outcomes } = report.difference;
      const clicks = (blocks: readonly Block[]) =>
        blocks.reduce((sum, { input, times }) => sum + (input === "click" ? times : 0), 0);
      assert.deepEqual(deliveries.map(clicks), [100, 100]);
      assert.deepEqual(outcomes.map(({ length }) => length).toSorted(), [0, 1]);
      assert.match(
        showChecked(report),
        /^Report: without coordination it is Inst, and this is how it shows\.\n {2}one replica gets/,
      );
    }
  });

  test("POOR declared confluent is found out", async () => {
    const text = `
Report:
  annotation:
    - { from: click, to: response, label: CW }
    - { from: request, to: response, label: CR }
  runs:
    sql: select id from click group by id having count(*) < 100
    tables: { click: [id], request: [id] }
    to: response
`;
    const [report] = await check(analyze(await readDataflow(text)), byQuery, 1);
    assert.equal(report?.result, "broken");
    assert.match(showChecked(report), /one outcome was promised, but the order of deliveries shows/);
  });

  test("a standing count gives intermediate answers, unless it waits for seals", async () => {
    const count = (seal: string) => `
Count:
  sql: select word, batch, count(*) as n from words group by word, batch
  tables: { words: [word, batch] }
  to: counts
streams: { words: { ${seal} } }
`;
    const results = async (seal: string) =>
      (await check(analyze(await readDataflow(count(seal))), byQuery, 1)).map(
        ({ label, result }) => `${label} ${result}`,
      );
    assert.deepEqual(await results("delivery: exactly-once"), ["Run shown"]);
    assert.deepEqual(await results("seal: [batch]"), ["Async kept"]);
  });
});

/** Remembers what came last, or the largest, or everything. */
function register(kind: "last" | "largest" | "sum"): CheckedComponent {
  return {
    start() {
      let value = 0;
      return {
        receive(_input, record, times) {
          const given = Number(record.value);
          if (kind === "last") value = given;
          else if (kind === "largest") value = Math.max(value, given);
          else value += given * times;
          return [];
        },
        finish: () => [{ to: "out", record: { value } }],
      };
    },
    records: (chance) =>
      Array.from({ length: 6 }, () => ({ input: "in", record: { value: 1 + chance.int(9) }, times: 1 })),
  };
}

describe("components of one's own", () => {
  async function checked(
    kind: "last" | "largest" | "sum",
    annotation: AnnotationKind,
    repetition?: Repetition,
  ) {
    const given = graph(
      { Keep: [{ ...path("in", "out", annotation), ...(repetition === undefined ? {} : { repetition }) }] },
      { in: [null, "Keep.in"], out: ["Keep.out", null] },
    );
    const [result] = await check(analyze(given), async () => register(kind), 7);
    assert.ok(result);
    return result;
  }

  test("what is confluent is found to be so", async () => {
    assert.equal((await checked("largest", "CW")).result, "kept");
    assert.equal((await checked("sum", "CW")).result, "kept");
  });
  test("what is not shows itself with two records", async () => {
    const { result, difference } = await checked("last", "CW");
    assert.equal(result, "broken");
    assert.deepEqual(
      difference?.deliveries.map(({ length }) => length),
      [2, 2],
    );
    assert.equal((await checked("last", "OW")).result, "shown");
  });
  test("so does what minds repetition and says that it does not", async () => {
    assert.equal((await checked("largest", "CW", "absorbs")).result, "kept");
    const { result, difference } = await checked("sum", "CW", "absorbs");
    assert.equal(result, "broken");
    assert.deepEqual(
      difference?.deliveries.map(({ length }) => length),
      [1, 2],
    );
  });
  test("an anomaly that nobody can see is not made up", async () => {
    assert.equal((await checked("largest", "OW")).result, "hidden");
  });
});

test("whoever waits for seals gets whole partitions, and requests after the partitions that they are about", () => {
  const click = (campaign: number, id: number): Block => ({
    input: "click",
    record: { campaign, id },
    times: 1,
  });
  const ask = (record: Record<string, number>): Block => ({ input: "request", record, times: 1 });
  const delivery = [
    ask({ campaign: 2 }),
    click(1, 9),
    click(2, 5),
    ask({ campaign: 1 }),
    ask({ id: 5 }),
    click(1, 8),
  ];
  assert.deepEqual(held(delivery, new Map([["click", ["campaign"]]])), [
    click(2, 5),
    ask({ campaign: 2 }),
    click(1, 8),
    click(1, 9),
    ask({ campaign: 1 }),
    ask({ id: 5 }),
  ]);
});

describe("headwater analyze --check", () => {
  const file = (name: string) => `${ROOT}/examples/analysis/${name}.yaml`;

  test("shows the anomaly of POOR, and none for THRESH and sealed CAMPAIGN", async () => {
    const poor = await headwater("analyze", file("ads-poor"), "--check");
    assert.equal(poor.exitCode, 1);
    assert.match(poor.stdout, /and gives nothing\n[\s\S]*and gives response \{"id":\d\}/);
    for (const name of ["ads-thresh", "ads-campaign-sealed"]) {
      const { exitCode, stdout } = await headwater("analyze", file(name), "--check", "--seed", "5");
      assert.equal(exitCode, 0);
      assert.match(stdout, /Report: one outcome was promised.*nothing else was found/);
    }
  });

  test("gives data, too", async () => {
    const { stdout } = await headwater("analyze", file("ads-poor"), "--check", "--json");
    const { checks, outputs } = JSON.parse(stdout) as {
      checks: { component: string; result: string }[];
      outputs: { label: string }[];
    };
    assert.equal(outputs[0]?.label, "Diverge");
    assert.deepEqual(
      checks.map(({ component, result }) => [component, result]),
      [
        ["Cache", "skipped"],
        ["Report", "shown"],
      ],
    );
  });

  test("runs TypeScript modules beside the file, and refuses those that are no components", async (t) => {
    const folder = packageWith(t, {
      "flow.yaml": "Last: { runs: ./last.ts, annotation: { from: in, to: out, label: CW } }\n",
      "wrong.yaml": "Last: { runs: ./wrong.ts, annotation: { from: in, to: out, label: CW } }\n",
      "last.ts": `
        import type { CheckedComponent } from "headwater/analysis/check";
        export default {
          start() {
            let value: unknown = null;
            return {
              receive(_input, record) { value = record.value; return []; },
              finish: () => [{ to: "out", record: { value } }],
            };
          },
          records: () => [1, 2, 3].map((value) => ({ input: "in", record: { value }, times: 1 })),
        } satisfies CheckedComponent;`,
      "wrong.ts": "export default {};",
    });
    const last = await runHere(folder, "analyze", "flow.yaml", "--check");
    assert.equal(last.exitCode, 1, last.stderr);
    assert.match(last.stdout, /Last: one outcome was promised, but the order of deliveries shows/);
    assert.match((await runHere(folder, "analyze", "wrong.yaml", "--check")).stderr, /HW-5006: /);
  });

  for (const [args, message] of [
    [["--seed", "x"], /--seed is a whole number, not "x"/],
    [["--format", "svg"], /--check goes with text and json/],
    [["--explain", "answers"], /--check and --explain exclude each other/],
  ] as const) {
    test(`is misused with ${args.join(" ")}`, async () => {
      const { exitCode, stderr } = await headwater("analyze", file("ads-thresh"), "--check", ...args);
      assert.equal(exitCode, 2);
      assert.match(stderr, message);
    });
  }
});

test("under a watermark, or several keys, all of an input is waited for", () => {
  const holding = (...seals: { key: string[]; prefix: boolean }[]) =>
    sealedInputs({ kind: "seal", streams: seals.map((seal) => ({ name: "s", seal })) }, () => "in").get("in");
  assert.deepEqual(holding({ key: ["k"], prefix: false }), ["k"]);
  assert.deepEqual(holding({ key: ["time"], prefix: true }), []);
  assert.deepEqual(holding({ key: ["k"], prefix: false }, { key: ["l"], prefix: false }), []);
});

test("records are told apart by all that is in them, and not by the order of their fields", () => {
  assert.equal(
    showRecord({ a: 1, b: { c: [1, { e: 2, d: 3 }] } }),
    showRecord({ b: { c: [1, { d: 3, e: 2 }] }, a: 1 }),
  );
  assert.notEqual(showRecord({ a: { b: 1 } }), showRecord({ a: { b: 2 } }));
});
