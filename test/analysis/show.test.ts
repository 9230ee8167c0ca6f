import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HeadwaterError } from "headwater";
import { analyze, showAnalysis, showDerivation, toDot, toJson, toSvg } from "headwater/analysis";
import { layOut } from "#src/analysis/show/layout.js";
import { example, graph, path } from "./dataflows.js";

describe("text", () => {
  test("a replicated read, in the paper's notation", async () => {
    assert.equal(
      showDerivation("reports", await example("ads-poor")),
      [
        "                      requests: Async   CR",
        "                  (p) ────────────────────",
        "                             Async   Rep",
        "                       Cache ─────────────",
        "    clicks: Async   CW       misses: Async   OR_{id}",
        "(p) ──────────────────   (1) ───────────────────────",
        "          Async                    NDRead_{id}   Rep",
        "   Report ──────────────────────────────────────────",
        "                        reports: Inst",
        "Report: NDRead_{id} is not protected from clicks and becomes Inst, because it is replicated (Rep).",
      ].join("\n"),
    );
  });

  test("the report has labels, derivations, advice in one shape, and a verdict", async () => {
    const text = showAnalysis(await example("wordcount"));
    assert.match(text, /^3 components, 4 streams$/m);
    assert.match(text, /^ {2}counts {2}Run {4}Count → Commit$/m);
    assert.match(
      text,
      /^Count, words → counts \(OW_\{word,batch\}\) at .*:\d+:\d+: because words is Async, /m,
    );
    assert.match(
      text,
      /^ {2}seal {4}words on \{word\} or on \{batch\}; it is enough to seal tweets like that$/m,
    );
    assert.match(
      text,
      /^ {2}order {3}all inputs of Count through one logical node, .*; then say so: coordination: /m,
    );
    assert.match(text, /^ {2}accept {2}counts, with a written reason$/m);
    assert.match(text, /Needs coordination: counts Run, db Run\.$/);
    assert.match(
      showAnalysis(await example("wordcount-sealed")),
      /Nothing needs coordination[^\n]*: db Async\.$/,
    );
  });

  test("a derivation that does not fit on a screen becomes a list, each stream once", () => {
    const components = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`C${i}`, [path("a", "x", "CR"), path("b", "x", "CW")]]),
    );
    const streams: Record<string, [string | null, string | null]> = {
      in: [null, "C0.a"],
      out: ["C59.x", null],
    };
    for (let i = 0; i < 59; i++) {
      streams[`left${i}`] = [`C${i}.x`, `C${i + 1}.a`];
      streams[`right${i}`] = [`C${i}.x`, `C${i + 1}.b`];
    }
    const lines = showDerivation("out", analyze(graph(components, streams))).split("\n");
    assert.equal(lines[0], "in: Async, from outside");
    assert.equal(lines.filter((line) => line.startsWith("left7:")).length, 1);
    assert.equal(lines.at(-3), "out: Async, from C59");
  });

  test("a stream that there is not is refused", async () => {
    const analysis = await example("wordcount");
    assert.throws(
      () => showDerivation("word", analysis),
      (error) =>
        error instanceof HeadwaterError &&
        error.code === "HW-5003" &&
        /Did you mean "words"\?/.test(error.message),
    );
  });
});

describe("json", () => {
  test("has outputs, streams with derivations, and advice", async () => {
    const { outputs, streams, derivations, advice, open } = toJson(await example("wordcount"));
    assert.deepEqual(outputs, [{ name: "db", label: "Run", rep: false, accepted: null }]);
    assert.deepEqual(
      streams.map(({ name, from, to }) => [name, from, to]),
      [
        ["counts", "Count.counts", "Commit.counts"],
        ["db", "Commit.db", null],
        ["tweets", null, "Splitter.tweets"],
        ["words", "Splitter.words", "Count.words"],
      ],
    );
    assert.deepEqual(derivations[streams[0]?.derivation ?? -1], {
      components: ["Count"],
      cycle: false,
      rep: false,
      steps: [
        {
          rule: "2",
          stream: "words",
          label: "Async",
          component: "Count",
          from: "words",
          to: "counts",
          annotation: "OW",
          gate: ["word", "batch"],
          gives: "Taint",
        },
      ],
      reconciliations: [
        { component: "Count", from: "Taint", protectedBy: null, exposedTo: [], gives: "Run" },
      ],
      label: "Run",
    });
    assert.deepEqual(advice[0]?.seal?.keys, [
      { key: ["word"], prefix: false, sources: ["tweets"] },
      { key: ["batch"], prefix: false, sources: ["tweets"] },
    ]);
    assert.deepEqual(open, ["counts", "db"]);
  });
});

describe("pictures", () => {
  const nasty = graph(
    { 'A "<&>\\': [path("in", "out", "OW")] },
    { 'in "<&>\\': [null, 'A "<&>\\.in'], out: ['A "<&>\\.out', null] },
  );

  test("dot has every component and every stream, and survives any name", async () => {
    const dot = toDot(await example("ads-poor"));
    assert.equal(dot.match(/ -> /g)?.length, 6);
    assert.match(dot, /"Report" -> "Cache" \[label="reports: Inst, Rep", color="#[0-9a-f]{6}"/);
    assert.match(toDot(analyze(nasty)), /"A \\"<&>\\\\" \[shape=box/);
  });

  test("svg has every component and every stream, coloured by severity, for light and dark", async () => {
    const svg = toSvg(await example("ads-poor"));
    assert.equal(svg.match(/class="edge /g)?.length, 6);
    assert.match(svg, /class="edge Diverge"/);
    assert.match(svg, /class="text Inst"[^>]*>reports: Inst · Rep</);
    assert.match(svg, /@media \(prefers-color-scheme:dark\)/);
    assert.match(svg, /<title>answers is Diverge<\/title>/);
    const escaped = toSvg(analyze(nasty));
    assert.match(escaped, />A &quot;&lt;&amp;&gt;\\</);
    assert.doesNotMatch(escaped, /\0/);
  });

  test("boxes lie in columns after those that lead to them, and never on each other", () => {
    const names = ["a", "b", "c", "d", "e"];
    const boxes = names.map((name, i) => ({ name, width: 40 + i, height: 20 + 5 * i }));
    const edges = ["ab", "ac", "bd", "cd", "de", "ea", "ae", "cc"].map(([from = "", to = ""]) => {
      return { from, to, captionWidth: 30 };
    });
    const { boxes: placed, ways, width, height } = layOut(boxes, edges);
    const at = (name: string) => {
      const box = placed.get(name);
      assert.ok(box);
      return box;
    };
    for (const [from = "", to = ""] of ["ab", "ac", "bd", "cd", "de"])
      assert.ok(at(from).x + at(from).width < at(to).x);
    for (const one of placed.values()) {
      assert.ok(one.x >= 0 && one.y >= 0 && one.x + one.width <= width && one.y + one.height <= height);
      for (const other of placed.values()) {
        const apart =
          one === other ||
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x ||
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y;
        assert.ok(apart, `${one.name} and ${other.name}`);
      }
    }
    assert.equal(ways.length, edges.length);
    assert.equal(ways[6]?.length, 10); // from a to e, level in two columns of boxes and in three of captions
  });
});
