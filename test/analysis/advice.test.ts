import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { advise, analyze, type Dataflow, showAnalysis } from "headwater/analysis";
import { AD_NETWORK, analysisOf, example, graph, labels, path, WORDCOUNT } from "./dataflows.js";

describe("advice", () => {
  test("names the component, the path and the input where it begins, and the keys that would do", async () => {
    const [fault, ...more] = advise(await analysisOf(WORDCOUNT));
    assert.ok(fault);
    assert.deepEqual(more, []);
    assert.equal(fault.component, "Count");
    assert.equal(fault.path.annotation, "OW");
    assert.deepEqual(fault.inputs, [{ name: "words", label: "Async", seals: [] }]);
    assert.deepEqual(fault.seal, {
      streams: ["words"],
      keys: [
        { seal: { key: ["word"], prefix: false }, sources: ["tweets"] },
        { seal: { key: ["batch"], prefix: false }, sources: ["tweets"] },
      ],
    });
    assert.equal(fault.order, "helps");
    assert.equal(fault.accept, "counts");
    assert.deepEqual(
      fault.streams.map(({ name, label }) => `${name} ${label}`),
      ["counts Run", "db Run"],
    );
  });

  test("follows a Diverge back to the read that caused it: it is the clicks that need seals", async () => {
    const faults = advise(await example("ads-campaign")).filter(({ streams }) => streams.length > 0);
    assert.equal(faults.length, 1);
    assert.equal(faults[0]?.component, "Report");
    assert.deepEqual(faults[0]?.seal?.streams, ["clicks"]);
    assert.deepEqual(
      faults[0]?.seal?.keys.map(({ seal }) => seal.key),
      [["id"], ["campaign"]],
    );
    assert.deepEqual(
      faults[0]?.streams.map(({ name }) => name),
      ["answers", "gossip", "reports"],
    );
  });

  test("every advised key, carried out, ends what it was advised against", async () => {
    for (const name of ["wordcount", "ads-poor", "ads-campaign"]) {
      const analysis = await example(name);
      const { graph } = analysis.topology;
      for (const { seal } of advise(analysis)) {
        for (const { seal: each, sources } of seal?.keys ?? []) {
          const sealed = sources ?? seal?.streams ?? [];
          const mended: Dataflow = {
            ...graph,
            streams: graph.streams.map((stream) =>
              sealed.includes(stream.name) ? { ...stream, seals: [each] } : stream,
            ),
          };
          assert.deepEqual(analyze(mended).open, [], `${name}: ${each.key}`);
        }
      }
    }
  });

  test("knows keys that only determine the gate, and watermarks", () => {
    const given: Dataflow = {
      ...graph(
        { Count: [path("in", "out", "OW", ["symbol", "hour"])] },
        { in: [null, "Count.in"], out: ["Count.out", null] },
      ),
      dependencies: [
        { from: ["company"], to: ["symbol"], injective: true, orderPreserving: false },
        { from: ["company"], to: ["city"], injective: false, orderPreserving: false },
        { from: ["time"], to: ["hour"], injective: false, orderPreserving: true },
      ],
    };
    assert.deepEqual(
      advise(analyze(given))[0]?.seal?.keys.map(({ seal }) => `${seal.prefix ? "≤" : ""}${seal.key}`),
      ["symbol", "hour", "company", "≤time"],
    );
  });

  test("with an unknown gate only an order is left", () => {
    const given = graph({ Log: [path("in", "out", "OW")] }, { in: [null, "Log.in"], out: ["Log.out", null] });
    const [fault] = advise(analyze(given));
    assert.equal(fault?.seal, null);
    assert.equal(fault?.order, "helps");
    assert.match(showAnalysis(analyze(given)), /needs an order \(its gate is unknown/);
  });

  test("a fault behind another one is told to wait for it", () => {
    const given = graph(
      { A: [path("in", "out", "OW", ["k"])], B: [path("in", "out", "OW", ["k"])] },
      { in: [null, "A.in"], mid: ["A.out", "B.in"], out: ["B.out", null] },
    );
    const faults = advise(analyze(given));
    assert.deepEqual(
      faults.map(({ component, after }) => [component, after]),
      [
        ["A", null],
        ["B", "mid"],
      ],
    );
    assert.deepEqual(
      faults[0]?.streams.map(({ name }) => name),
      ["mid", "out"],
    );
  });

  test("the printed file has one piece of advice for each query that needs one", async () => {
    const faults = advise(await analysisOf(AD_NETWORK)).filter(({ rule }) => rule === "1");
    assert.deepEqual(
      faults.map(({ path }) => path.gate),
      [["id", "campaign"], ["id", "window"], ["id"]],
    );
  });
});

describe("an order that was chosen, with a reason", () => {
  const order = "coordination: { kind: order, reason: one log for all }";
  const poor = (more: string) => AD_NETWORK.replace("  Rep: true", `  Rep: true\n  use: POOR\n  ${more}`);

  test("leaves Run of Inst and Diverge (figure 5), and the reason accepts it", async () => {
    const before = await analysisOf(poor(""));
    assert.equal(labels(before)["Report.response"], "Inst");
    assert.equal(labels(before)["Cache.response"], "Diverge");
    const after = await analysisOf(poor(order));
    assert.equal(labels(after)["Report.response"], "Run");
    assert.equal(labels(after)["Cache.response"], "Run");
    assert.deepEqual(after.open, []);
    assert.equal(after.streams.get("Cache.response")?.accepted?.reason, "one log for all");
    assert.match(showAnalysis(after), /Report: one order for all inputs, because one log for all/);
    assert.match(showAnalysis(after), /Nothing needs coordination that it does not have/);
  });

  test("does nothing against repetition", async () => {
    const counted = WORDCOUNT.replace("Count:", `Count:\n  ${order}`);
    const analysis = await analysisOf(`${counted}\nstreams: { tweets: { delivery: at-least-once } }\n`);
    assert.deepEqual(
      analysis.open.map(({ stream }) => stream.name),
      ["counts", "db"],
    );
  });

  test("does not cover what came in already", async () => {
    const text = `${WORDCOUNT}Last:\n  ${order}\n  annotation: { from: db, to: last, label: OW }\n`;
    assert.deepEqual(
      (await analysisOf(text)).open.map(({ stream }) => stream.name),
      ["counts", "db", "last"],
    );
  });

  test("gives up the seals that there are, and a component that is not coordinated does too", async () => {
    const sealed = (kind: string) =>
      analysisOf(
        `${WORDCOUNT.replace("Count:", `Count:\n  coordination: { kind: ${kind}, reason: an experiment }`)}\nstreams: { tweets: { seal: [batch] } }\n`,
      );
    assert.equal(labels(await sealed("seal")).counts, "Async");
    assert.equal(labels(await sealed("order")).counts, "Run");
    assert.deepEqual((await sealed("order")).open, []);
    assert.equal(labels(await sealed("none")).counts, "Run");
    assert.equal((await sealed("none")).open.length, 2);
  });
});

describe("transports", () => {
  const count = (stream: string, more = "") =>
    analysisOf(`
Count:
  ${more}
  annotation: { from: words, to: counts, label: OW, subscript: [word, batch] }
streams: { words: { ${stream} } }
`);
  const label = async (stream: string, more = "") => labels(await count(stream, more)).counts;

  test("records with one key come in one order: enough if a part of the gate has one key", async () => {
    assert.equal(await label("ordered: [word]"), "Async");
    assert.equal(await label("ordered: [word, batch]"), "Async");
    assert.equal(await label("ordered: [user]"), "Run");
    assert.equal(await label("ordered: all"), "Async");
    assert.equal(await label("writer: single"), "Async");
  });

  test("two streams that are ordered each by itself are not ordered together", async () => {
    const analysis = await analysisOf(`
Count: { annotation: { from: words, to: counts, label: OW, subscript: [word] } }
streams:
  one: { to: Count.words, ordered: [word] }
  two: { to: Count.words, ordered: [word] }
`);
    assert.equal(labels(analysis).counts, "Run");
  });

  test("a log between components makes replicas agree, and runs no more than before", async () => {
    const log = (stream: string) =>
      analysisOf(`
Split: { annotation: { from: tweets, to: words, label: CR } }
Count:
  Rep: true
  annotation: { from: words, to: counts, label: OW, subscript: [word] }
streams: { words: { ${stream} } }
`);
    assert.equal(labels(await log("attributes: [word]")).counts, "Diverge");
    assert.equal(labels(await log("ordered: [word]")).counts, "Run");
  });

  test("an estimated watermark is labelled as one, and what waits for it may miss what is late", async () => {
    const hours = (watermark: string) =>
      analysisOf(`
Count: { annotation: { from: clicks, to: counts, label: OW, subscript: [hour] } }
streams: { clicks: { watermark: ${watermark} } }
dependencies: [{ from: time, to: hour, order-preserving: true }]
`);
    assert.equal(labels(await hours("time")).counts, "Async");
    const late = await hours("{ attribute: time, late: true }");
    assert.equal(labels(late).counts, "Run");
    assert.match(showAnalysis(late), /clicks {2}Seal_\{≲time\}/);
    assert.match(showAnalysis(late), /because clicks may bring records after its watermark, /);
    assert.match(
      showAnalysis(late),
      /clicks waits until its watermark has passed time; what comes later is late/,
    );
  });

  test("a changelog is not confluent to read unless it keeps the order of its keys", async () => {
    const table = (stream: string) =>
      analysisOf(`
Table: { Rep: true, annotation: { from: changes, to: rows, label: CW } }
streams: { changes: { changelog: [id], ${stream} } }
`);
    assert.equal(labels(await table("attributes: [id, name]")).rows, "Diverge");
    assert.equal(labels(await table("ordered: [id]")).rows, "Async");
    assert.equal(labels(await table("ordered: [name]")).rows, "Diverge");
    assert.equal(labels(await table("seal: [id]")).rows, "Async");
  });
});

describe("accepting", () => {
  const accept = (stream: string, label?: string) =>
    `\naccept: [{ stream: ${stream}, reason: "recounted every night"${label === undefined ? "" : `, label: ${label}`} }]\n`;

  test("covers the stream and whoever only hands its label on, and keeps the reason", async () => {
    const analysis = await analysisOf(WORDCOUNT + accept("counts"));
    assert.deepEqual(labels(analysis), { counts: "Run", db: "Run", tweets: "Async", words: "Async" });
    assert.deepEqual(analysis.open, []);
    assert.equal(analysis.streams.get("db")?.accepted?.reason, "recounted every night");
    assert.match(showAnalysis(analysis), /db is Run, accepted: recounted every night/);
  });
  test("at the end does not cover the beginning", async () => {
    const analysis = await analysisOf(WORDCOUNT + accept("db"));
    assert.deepEqual(
      analysis.open.map(({ stream }) => stream.name),
      ["counts"],
    );
  });
  test("does not cover what is worse than was accepted", async () => {
    const poor = AD_NETWORK.replace("  Rep: true", "  Rep: true\n  use: POOR");
    const some = await analysisOf(poor + accept("Report.response", "Inst"));
    assert.deepEqual(
      some.open.map(({ stream }) => stream.name),
      ["Cache.response"],
    );
    const less = await analysisOf(poor + accept("Report.response", "Run"));
    assert.deepEqual(
      less.open.map(({ stream }) => stream.name),
      ["Cache.response", "Report.response"],
    );
  });
  test("can stand inside the stream", async () => {
    const analysis = await analysisOf(
      `${WORDCOUNT}\nstreams: { counts: { accept: rough numbers will do } }\n`,
    );
    assert.deepEqual(analysis.open, []);
  });
});

describe("duplicates, the second axis", () => {
  const source = (more: string) => `${WORDCOUNT}\nstreams: { tweets: { seal: [batch], ${more} } }\n`;

  test("a stream that may repeat records makes a counting path wrong, however it is sealed", async () => {
    const analysis = await analysisOf(source("delivery: at-least-once"));
    assert.deepEqual(labels(analysis), { counts: "Run", db: "Run", tweets: "Seal", words: "Seal" });
    const [fault] = advise(analysis);
    assert.equal(fault?.rule, "d");
    assert.deepEqual(fault?.deduplicate, ["tweets"]);
    assert.equal(fault?.order, "no help");
    assert.match(showAnalysis(analysis), /id {6}give the events of tweets one/);
  });
  test("event ids discharge it", async () => {
    const analysis = await analysisOf(source("delivery: at-least-once, id: [tweet]"));
    assert.equal(labels(analysis).db, "Async");
  });
  test("so does a path that nobody can tell repetition by", async () => {
    const absorbing = source("delivery: at-least-once").replace(
      "label: CR",
      "label: CR, repetition: absorbs",
    );
    assert.equal(labels(await analysisOf(absorbing)).db, "Async");
  });
  test("replicas that count different repetitions diverge", async () => {
    const replicated = source("delivery: at-least-once").replace("Count:", "Count:\n  Rep: true");
    assert.equal(labels(await analysisOf(replicated)).counts, "Diverge");
  });
});
