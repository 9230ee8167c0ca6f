import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HeadwaterError } from "headwater";
import { analyze, readDataflow } from "headwater/analysis";
import {
  type CheckResult,
  check,
  checkToJson,
  type Evidence,
  type RunnableComponent,
  runnableComponent,
  showCheck,
} from "headwater/analysis/check";
import { checked, checkedExample, range } from "./checks.js";

const replay = (seed: number) => `--seed ${seed}`;

/** `stream: predicted label, found anomaly`. */
function predictions({ predicted }: CheckResult): string[] {
  return predicted.map(
    ({ stream, found }) => `${stream.stream.name}: ${stream.label}, ${found?.kind ?? "-"}`,
  );
}

function agreed(result: CheckResult): string[] {
  return result.agreed.map(({ stream }) => stream.name);
}

describe("the examples of the paper, really run (section VI)", () => {
  for (const name of ["ads-thresh", "ads-campaign-sealed", "ads-window-sealed"]) {
    test(`${name} gives one answer, whatever the network does`, async () => {
      const result = await checkedExample(name, range(6));
      assert.equal(result.ok, true, showCheck(result, replay));
      assert.deepEqual(result.predicted, []);
      assert.deepEqual(agreed(result), ["answers", "gossip", "misses", "reports"]);
      const spared = name === "ads-thresh" ? [] : ["answers"];
      assert.deepEqual(
        result.uncoordinated.map(({ stream }) => stream),
        spared,
      );
    });
  }

  test("POOR: replicas answer differently; a hundred clicks and a request show it, and no fewer", async () => {
    const result = await checkedExample("ads-poor", range(2));
    assert.equal(result.ok, true, showCheck(result, replay));
    assert.deepEqual(predictions(result), [
      "answers: Diverge, Run",
      "gossip: Diverge, Run",
      "reports: Inst, Inst",
    ]);
    const reports = result.predicted.find(({ stream }) => stream.stream.name === "reports")?.found;
    assert.ok(reports);
    assert.deepEqual(
      [...reports.inputs].map(([name, bulks]) => [name, bulks.map(({ times }) => times)]),
      [
        ["clicks", [100]],
        ["requests", [1]],
      ],
    );
    const answers = reports.sides.map(({ result: records }) =>
      Array.isArray(records) ? records.length : -1,
    );
    assert.deepEqual(answers.toSorted(), [0, 1]);
    assert.match(showCheck(result, replay), /reports is Inst, as predicted:\n {2}clicks: \{ .* \} × 100\n/);
  });

  test("POOR: caches that do not tell each other what they learn diverge", async () => {
    const alone = (text: string) => text.replace(/^ {2}gossip: .*\n/m, "");
    const result = await checkedExample("ads-poor", range(2), alone);
    assert.deepEqual(predictions(result), ["answers: Diverge, Diverge", "reports: Inst, Inst"]);
    const answers = result.predicted[0]?.found;
    assert.ok(answers?.sides.every(({ result: state }) => "state" in state));
    assert.match(showCheck(result, replay), /Cache, replica 1\n[\s\S]*its state in the end: /);
  });

  test("the word count is Run, and one answer with seals on batches", async () => {
    assert.deepEqual(predictions(await checkedExample("wordcount", range(3))), [
      "counts: Run, Run",
      "db: Run, Run",
    ]);
    const sealed = await checkedExample("wordcount-sealed", range(6));
    assert.equal(sealed.ok, true, showCheck(sealed, replay));
    assert.deepEqual(agreed(sealed), ["counts", "db", "words"]);
    assert.deepEqual(
      sealed.uncoordinated.map(({ stream, kind }) => [stream, kind]),
      [["db", "Run"]],
    );
  });
});

/** Writes one digit behind the other, so that the order of its input is all it knows. */
const digits: RunnableComponent<number> = {
  initial: () => 0,
  receive(state, _input, { value }) {
    const sum = state * 10 + Number(value);
    return { state: sum, emit: [["out", { sum }]] };
  },
};

/** How many there were. */
const counter: RunnableComponent<number> = {
  initial: () => 0,
  receive: (state) => ({ state: state + 1, emit: [["out", { n: state + 1 }]] }),
};

const largest: RunnableComponent<number> = {
  initial: () => -1,
  receive: (state, _input, { value }) => ({ state: Math.max(state, Number(value)) }),
  answer: (state) => ({ state, emit: [["out", { max: state }]] }),
};

function one(path: string, more = ""): string {
  return `A:\n  annotation: { from: in, to: out, ${path} }\n  runs: ./a.ts\n${more}streams: { in: { attributes: [value] } }\n`;
}

function with_(component: RunnableComponent<number>) {
  return { modules: { "./a.ts": component as RunnableComponent } };
}

describe("a wrong annotation is found out, with the smallest input", () => {
  test("a component declared CW whose order shows: two records, two orders, two outputs", async () => {
    const result = await checked(one("label: CW"), with_(digits));
    assert.equal(result.ok, false);
    const [found] = result.paths;
    assert.ok(found);
    assert.equal(found.kind, "order");
    const [a, b] = found.sides;
    assert.equal(a.acts.length, 2);
    assert.deepEqual(b.acts, a.acts.toReversed());
    assert.notDeepEqual(a.result, b.result);
    assert.match(
      showCheck(result, replay),
      /^A, in → out at flow\.yaml:2:15 is CW, but the order of its input decides what comes out:\n {2}in \{ value: \d \}, in/,
    );
    assert.deepEqual(
      result.streams.map(({ stream, kind }) => [stream, kind]),
      [["out", "Run"]],
    );
  });

  test("a query declared confluent that is POOR", async () => {
    const text = (request: string) => `
Report:
  annotation:
    - { from: click, to: response, label: CW }
    - { from: request, to: response, label: ${request} }
  runs:
    sql: select id from click group by id having count(*) < 100
    tables: { click: [id], request: [id] }
    to: response
    request: request
    open-requests: true
`;
    const wrong = await checked(text("CR"));
    const [found] = wrong.paths;
    assert.deepEqual(found?.from.toSorted(), ["click", "request"]);
    const clicks = found?.sides[0].acts.reduce(
      (sum, act) => sum + ("input" in act && act.input === "click" ? act.times : 0),
      0,
    );
    assert.equal(clicks, 100);
    assert.equal((await checked(text("OR, subscript: [id]"))).ok, true);
  });

  test("a component that is said not to mind repetition, and counts", async () => {
    assert.equal(
      (await checked(one("label: CW, repetition: absorbs"), with_(largest))).paths[0]?.kind,
      "order",
    );
    const [found] = (await checked(one("label: CW, repetition: absorbs"), with_(counter))).paths;
    assert.equal(found?.kind, "repetition");
    assert.deepEqual(
      found?.sides.map(({ acts }) => acts.length),
      [1, 2],
    );
    assert.equal((await checked(one("label: CW"), with_(counter))).ok, true);
  });

  test("a path that is said to read only, and writes", async () => {
    const quiet: RunnableComponent<number> = { ...counter, receive: (state) => ({ state: state + 1 }) };
    const [found] = (await checked(one("label: CR"), with_(quiet))).paths;
    assert.equal(found?.kind, "state");
    assert.equal((await checked(one("label: CW"), with_(quiet))).ok, true);
  });

  test("a gate that is too wide, so that a seal is taken for one that fits", async () => {
    const text = (gate: string) => `
Count:
  annotation: { from: clicks, to: counts, label: OW, subscript: ${gate} }
  runs:
    sql: select id, count(*) as n from clicks group by id
    tables: { clicks: [id, campaign] }
    to: counts
streams: { clicks: { seal: [campaign] } }
`;
    const wrong = await checked(text("[id, campaign]"));
    assert.deepEqual(wrong.paths, []);
    const [found] = wrong.streams;
    assert.deepEqual([found?.stream, found?.kind], ["counts", "Run"]);
    const records = [...(found?.inputs.values() ?? [])].flat().reduce((sum, { times }) => sum + times, 0);
    assert.equal(records, 3, "one count of two, one of one, in either order");
    const right = await checked(text("[id]"));
    assert.deepEqual(predictions(right), ["counts: Run, Run"]);
    assert.equal(right.ok, true);
  });
});

describe("an order-sensitive cycle", () => {
  const balance: RunnableComponent<number> = {
    initial: () => 0,
    receive(state, _input, { account, value, round = 0 }) {
      const sum = state * 10 + Number(value);
      const more = Number(round) < 1 ? [["out", { account, value: sum, round: 1 }] as const] : [];
      return { state: sum, emit: more };
    },
  };
  const text = (more: string) => `
Account:
  annotation: { from: in, to: out, label: OW, subscript: [account] }
  runs: ./a.ts
${more}
streams:
  in: { to: Account.in, seal: [account], attributes: [account, value] }
  back: { from: Account.out, to: Account.in }
  out: { from: Account.out }
`;

  test("is not deterministic although its input is sealed, and no label is proved wrong", async () => {
    const result = await checked(text(""), { ...with_(balance), seeds: range(6) });
    assert.equal(result.ok, true, showCheck(result, replay));
    assert.deepEqual(predictions(result), ["back: Run, Run", "out: Run, Run"]);
  });
});

describe("the coordination that is in force is what is run", () => {
  const log: RunnableComponent<readonly unknown[]> = {
    initial: () => [],
    receive: (state, _input, { value }) => {
      const all = [...state, value];
      return { state: all, emit: [["out", { log: all.join() }]] };
    },
    view: (state) => state,
  };
  const text = (more: string) => `
Log:
  Rep: true
  ${more}
  annotation: { from: in, to: out, label: OW }
  runs: ./a.ts
streams: { in: { attributes: [value] } }
`;
  const modules = { "./a.ts": log as unknown as RunnableComponent };

  test("replicas diverge without an order, and with one they agree, though runs do not", async () => {
    const without = await checked(text(""), { modules });
    assert.deepEqual(predictions(without), ["out: Diverge, Diverge"]);
    const ordered = await checked(text("coordination: { kind: order, reason: it is a log }"), { modules });
    assert.equal(ordered.ok, true, showCheck(ordered, replay));
    assert.deepEqual(predictions(ordered), ["out: Run, Run"]);
    assert.deepEqual(
      ordered.uncoordinated.map(({ stream, kind }) => [stream, kind]),
      [["out", "Diverge"]],
    );
  });

  test("a component that is not to be coordinated does not wait for seals, and its label says so", async () => {
    const sealed = (more: string) =>
      text(more)
        .replace("label: OW", "label: OW, subscript: [value]")
        .replace("attributes: [value]", "attributes: [value], seal: [value]");
    const tally: RunnableComponent<Readonly<Record<string, number>>> = {
      initial: () => ({}),
      receive: (state, _input, { value }) => ({
        state: { ...state, [String(value)]: (state[String(value)] ?? 0) + 1 },
      }),
      answer: (state) => ({
        state,
        emit: Object.entries(state).map(([value, n]) => ["out", { value, n }] as const),
      }),
    };
    const run = (more: string) =>
      checked(sealed(more), { modules: { "./a.ts": tally as unknown as RunnableComponent } });
    assert.deepEqual(agreed(await run("")), ["out"]);
    const none = await run("coordination: { kind: none, reason: to be fast }");
    assert.equal(none.ok, true, showCheck(none, replay));
    assert.deepEqual(predictions(none), ["out: Diverge, Inst"]);
  });
});

describe("watermarks", () => {
  const text = (watermark: string) => `
Count:
  sql: select hour, count(*) as n from clicks group by hour
  tables: { clicks: [hour, id] }
  to: counts
streams: { clicks: { watermark: ${watermark} } }
`;
  test("that are kept make one answer; those that are estimated let records be late, and that shows", async () => {
    const kept = await checked(text("hour"));
    assert.equal(kept.ok, true, showCheck(kept, replay));
    assert.deepEqual(agreed(kept), ["counts"]);
    const estimated = await checked(text("{ attribute: hour, late: true }"));
    assert.deepEqual(predictions(estimated), ["counts: Run, Run"]);
  });
});

describe("records are drawn from the types of columns", () => {
  const text = (columns: string, label: string) => `
Loud:
  annotation: { from: r, to: out, label: ${label} }
  runs:
    sql: select k from r group by k having max(t)::int > 9
    tables: { r: ${columns} }
    to: out
`;
  test("so that a cast of a text is found out, without a sample", async () => {
    const wrong = await checked(text("{ k: int, t: text }", "CW"), { seeds: range(30) });
    assert.equal(wrong.ok, false, "'10' is taken back by '9'");
    assert.equal((await checked(text("{ k: int, t: int }", "CW"), { seeds: range(30) })).ok, true);
    assert.equal((await checked(text("{ k: int, t: text }", "OW, subscript: [k]"))).ok, true);
  });
});

describe("repetition in a dataflow", () => {
  const text = (more: string) => `
Count:
  sql: select id, count(*) as n from clicks group by id
  tables: { clicks: [id, event] }
  to: counts
streams: { clicks: { seal: [id], delivery: at-least-once${more} } }
`;
  test("shows where a count gets records again, and not where events have ids", async () => {
    assert.deepEqual(predictions(await checked(text(""))), ["counts: Run, Run"]);
    const known = await checked(text(", id: [event]"));
    assert.equal(known.ok, true);
    assert.deepEqual(agreed(known), ["counts"]);
  });
});

describe("the check", () => {
  test("gives the same for the same seeds, and a seed alone shows again what it showed among others", async () => {
    const all = await checkedExample("wordcount", range(3));
    const again = await checkedExample("wordcount", range(3));
    assert.deepEqual(checkToJson(all, replay), checkToJson(again, replay));
    const found = all.predicted[0]?.found as Evidence;
    const alone = await checkedExample("wordcount", [found.seed]);
    assert.deepEqual(alone.predicted[0]?.found, found);
    const wrong = await checked(one("label: CW"), { ...with_(digits), seeds: range(5) });
    const seed = wrong.paths[0]?.seed ?? 0;
    const single = await checked(one("label: CW"), { ...with_(digits), seeds: [seed] });
    assert.deepEqual(single.paths, wrong.paths);
  });

  test("holds back what meets a sealed input, also where it is confluent", async () => {
    const text = `
Unpaid:
  sql: select o.id, p.id as payment from orders o left join payments p on p.order_id = o.id
  tables: { orders: [id], payments: [id, order_id] }
  to: unpaid
streams: { payments: { seal: [order_id] } }
`;
    const result = await checked(text, { seeds: range(20) });
    assert.equal(result.ok, true, showCheck(result, replay));
    assert.deepEqual(agreed(result), ["unpaid"]);
  });

  test("lets a partition go when it is complete in all sealed streams", async () => {
    const text = (seal: string) => `
Both:
  sql: >
    select o.id, o.n, p.m from (select id, count(*) as n from orders group by id) o
    left join (select id, count(*) as m from payments group by id) p on o.id = p.id
  tables: { orders: [id, line], payments: [id, line] }
  to: both
streams: { orders: { ${seal} }, payments: { ${seal} } }
`;
    const result = await checked(text("seal: [id]"), { seeds: range(20) });
    assert.equal(result.ok, true, showCheck(result, replay));
    assert.deepEqual(agreed(result), ["both"]);
    assert.deepEqual(predictions(await checked(text("seal: [line]"))), ["both: Run, Run"]);
  });

  test("makes up no anomaly where there is none", async () => {
    const copy: RunnableComponent<number> = {
      initial: () => 0,
      receive: (state, _input, record) => ({ state, emit: [["out", record]] }),
    };
    const result = await checked(one("label: OW"), with_(copy));
    assert.deepEqual(predictions(result), ["out: Run, -"]);
    assert.match(showCheck(result, replay), /^out is Run, but no run of 96 shows it\.$/m);
  });

  test("waits for all of a stream where paths need several of its keys", async () => {
    const text = `
Two:
  annotation:
    - { from: words, to: byWord, label: OW, subscript: [word] }
    - { from: words, to: byBatch, label: OW, subscript: [batch] }
  runs: ./a.ts
streams: { words: { seal: [[word], [batch]], attributes: [word, batch] } }
`;
    type Counts = Readonly<Record<string, number>>;
    const counts: RunnableComponent<Counts> = {
      initial: () => ({}),
      receive: (state, _input, { word, batch }) => {
        const add = (key: string, to: Counts) => ({ ...to, [key]: (to[key] ?? 0) + 1 });
        return { state: add(`w${word}`, add(`b${batch}`, state)) };
      },
      answer: (state) => ({
        state,
        emit: Object.entries(state).map(
          ([key, n]) => [key.startsWith("w") ? "byWord" : "byBatch", { key, n }] as const,
        ),
      }),
    };
    const result = await checked(text, {
      modules: { "./a.ts": counts as RunnableComponent },
      seeds: range(20),
    });
    assert.equal(result.ok, true, showCheck(result, replay));
    assert.deepEqual(agreed(result), ["byBatch", "byWord"]);
  });

  test("says what it could not run, and why", async () => {
    const text = `
A: { annotation: { from: in, to: mid, label: CR }, runs: ./a.ts }
B: { sql: select x from mid, tables: { mid: [x] }, to: out }
C: { annotation: { from: out, to: end, label: CR } }
`;
    const result = await checked(text, { modules: { "./a.ts": counter as RunnableComponent } });
    assert.deepEqual(
      result.left.map(({ component, why }) => `${component}: ${why}`),
      [
        "C: nothing says what it runs",
        "A: the records of in are unknown: give it attributes or a sample",
        "B: mid comes from A, which does not run",
      ],
    );
    assert.equal(result.outputs, 1, "B is still checked alone, with rows for its columns");
  });

  test("keeps to the dependencies that the file declares", async () => {
    const text = `
Count:
  annotation: { from: trades, to: counts, label: OW, subscript: [symbol] }
  runs:
    sql: select symbol, count(*) as n from trades group by symbol
    tables: { trades: [company, symbol] }
    to: counts
dependencies: [{ from: company, to: symbol, injective: true }]
streams: { trades: { seal: [company] } }
`;
    const result = await checked(text, { seeds: range(20) });
    assert.equal(result.ok, true, showCheck(result, replay));
    assert.deepEqual(agreed(result), ["counts"]);
  });

  test("refuses what cannot be run", async () => {
    const analysis = analyze(await readDataflow(one("label: CW")));
    const code = (component: unknown) => new Map([["A", component as RunnableComponent]]);
    const refusal = (component: unknown) => {
      try {
        check(analysis, { seeds: [1], code: code(component) });
      } catch (error) {
        assert.ok(error instanceof HeadwaterError, String(error));
        return error.message;
      }
      return "";
    };
    assert.throws(() => check(analysis, { seeds: [1], code: new Map() }), /HW-5007/);
    assert.match(
      refusal({ ...counter, receive: async () => ({ state: 1 }) }),
      /HW-5006: .*must not be async/,
    );
    assert.match(refusal({ ...counter, receive: () => ({ state: 1, emit: ["out"] }) }), /HW-5006: /);
    assert.match(
      refusal({ ...counter, receive: (state: number) => ({ state, emit: [["uot", {}]] }) }),
      /HW-5006: A emits to "uot", and no path of it ends there/,
    );
    const failing = () => {
      throw new RangeError("no such key");
    };
    assert.match(
      refusal({ ...counter, receive: failing }),
      /HW-5006: A failed in receive\(in, .*\): no such key/,
    );
    assert.throws(() => runnableComponent(null, "./a.ts"), /HW-5006: .*\.\/a\.ts/);
  });

  test("ends a dataflow that never comes to rest", async () => {
    const text = `
A: { annotation: [{ from: in, to: out, label: CR }, { from: back, to: out, label: CR }], runs: ./a.ts }
streams: { in: { to: A.in, attributes: [x] }, loop: { from: A.out, to: A.back } }
`;
    const echo: RunnableComponent<number> = {
      initial: () => 0,
      receive: (state, _input, record) => ({ state, emit: [["out", record]] }),
    };
    await assert.rejects(checked(text, with_(echo)), /HW-5006: The dataflow does not come to rest/);
  });
});
