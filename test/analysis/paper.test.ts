import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Analysis, showDerivation } from "headwater/analysis";
import { AD_NETWORK, analysisOf, example, labels, WORDCOUNT } from "./dataflows.js";

/** The rules applied to reach a stream, input by input, as `rule: label annotation ⟹ conclusion`. */
function steps(analysis: Analysis, stream: string): string[] {
  const derivation = analysis.streams.get(stream)?.derivation;
  assert.ok(derivation, stream);
  return derivation.steps.map(({ rule, stream, label, path, adds, passes }) =>
    [`(${rule})`, stream, label, path.annotation, "⟹", adds?.kind ?? passes].join(" "),
  );
}

describe("section VI.A, the word count", () => {
  test("without seals the output is Run", async () => {
    const analysis = await analysisOf(WORDCOUNT);
    assert.deepEqual(labels(analysis), { counts: "Run", db: "Run", tweets: "Async", words: "Async" });
    assert.deepEqual(steps(analysis, "words"), ["(p) tweets Async CR ⟹ Async"]);
    assert.deepEqual(steps(analysis, "counts"), ["(2) words Async OW ⟹ Taint"]);
    assert.deepEqual(steps(analysis, "db"), ["(p) counts Run CW ⟹ Run"]);
  });

  test("sealed on batch it is Async: Count uses the seal up", async () => {
    const analysis = await analysisOf(`${WORDCOUNT}\nstreams: { tweets: { seal: [batch] } }\n`);
    assert.deepEqual(labels(analysis), { counts: "Async", db: "Async", tweets: "Seal", words: "Seal" });
    assert.deepEqual(steps(analysis, "words"), ["(p) tweets Seal CR ⟹ Seal"]);
    assert.deepEqual(steps(analysis, "counts"), ["(p) words Seal OW ⟹ Async"]);
    assert.deepEqual(steps(analysis, "db"), ["(p) counts Async CW ⟹ Async"]);
  });

  test("sealed on something else, rule 4 taints Count", async () => {
    const analysis = await analysisOf(`${WORDCOUNT}\nstreams: { tweets: { seal: [user] } }\n`);
    assert.deepEqual(steps(analysis, "counts"), ["(4) words Seal OW ⟹ Taint"]);
    assert.equal(labels(analysis).db, "Run");
  });

  test("the derivation is printed as in the paper", async () => {
    assert.equal(
      showDerivation("db", await analysisOf(WORDCOUNT)),
      [
        "    tweets: Async   CR",
        "(p) ──────────────────",
        "          Async",
        " Splitter ────────────",
        "          words: Async   OW_{word,batch}",
        "      (2) ──────────────────────────────",
        "                      Taint",
        "                Count ───────────",
        "                      counts: Run   CW",
        "                  (p) ────────────────",
        "                            Run",
        "                     Commit ───────",
        "                            db: Run",
        "Count: Taint becomes Run, because it is not replicated.",
      ].join("\n"),
    );
  });
});

describe("section VI.B, the ad network", () => {
  /** The printed file with one of its queries chosen, and with a seal on the clicks. */
  async function adNetwork(query: string, seal?: string): Promise<Analysis> {
    const chosen = AD_NETWORK.replace("  Rep: true", `  Rep: true\n  use: ${query}`);
    return await analysisOf(
      seal === undefined ? chosen : `${chosen}\nstreams: { click: { seal: [${seal}] } }\n`,
    );
  }

  test("the streams follow from the names of figure 4", async () => {
    const { streams } = await adNetwork("THRESH");
    const ends = [...streams.values()].map(
      ({ stream: { name, from, to } }) => `${name}: ${from?.component ?? "-"} to ${to?.component ?? "-"}`,
    );
    assert.deepEqual(ends, [
      "Cache.request: Cache to Report",
      "Cache.response: Cache to -",
      "Report.response: Report to Cache",
      "click: - to Report",
      "request: - to Cache",
    ]);
  });

  for (const [query, seal, label] of [
    ["THRESH", undefined, "Async"],
    ["POOR", undefined, "Diverge"],
    ["WINDOW", undefined, "Diverge"],
    ["WINDOW", "window", "Async"],
    ["WINDOW", "id", "Async"],
    ["CAMPAIGN", undefined, "Diverge"],
    ["CAMPAIGN", "campaign", "Async"],
    ["POOR", "campaign", "Diverge"],
    ["WINDOW", "campaign", "Diverge"],
  ] as const) {
    test(`${query}${seal === undefined ? "" : ` sealed on ${seal}`} gives ${label}`, async () => {
      const analysis = await adNetwork(query, seal);
      assert.deepEqual(
        analysis.outputs.map(({ stream, label }) => [stream.name, label]),
        [["Cache.response", label]],
      );
    });
  }

  test("POOR: replicas of Report disagree, and the caches keep it", async () => {
    const analysis = await adNetwork("POOR");
    assert.deepEqual(steps(analysis, "Report.response"), [
      "(p) click Async CW ⟹ Async",
      "(1) Cache.request Async OR ⟹ NDRead",
    ]);
    assert.equal(labels(analysis)["Report.response"], "Inst");
    assert.deepEqual(steps(analysis, "Cache.response"), [
      "(p) request Async CR ⟹ Async",
      "(3) Report.response Inst CW ⟹ Taint",
    ]);
  });

  test("CAMPAIGN sealed on campaign: the read is protected, though requests are not sealed", async () => {
    const analysis = await adNetwork("CAMPAIGN", "campaign");
    const derivation = analysis.streams.get("Report.response")?.derivation;
    assert.deepEqual(derivation?.reconciliations, [
      {
        component: "Report",
        from: { kind: "NDRead", gate: ["id", "campaign"] },
        protectedBy: ["click"],
        exposedTo: [],
        gives: null,
      },
    ]);
  });

  test("with no query chosen all count, and the worst one shows", async () => {
    const analysis = await analysisOf(AD_NETWORK);
    assert.equal(labels(analysis)["Cache.response"], "Diverge");
  });

  test("footnote 3: Cache and Report form no cycle, the caches' gossip does, and it is confluent", async () => {
    const analysis = await example("ads-thresh");
    assert.equal(analysis.streams.get("answers")?.derivation?.cycle, true);
    assert.equal(analysis.streams.get("reports")?.derivation?.cycle, false);
    assert.equal(labels(analysis).answers, "Async");
  });
});

describe("the examples", () => {
  for (const [name, output, label] of [
    ["wordcount", "db", "Run"],
    ["wordcount-sealed", "db", "Async"],
    ["ads-thresh", "answers", "Async"],
    ["ads-poor", "answers", "Diverge"],
    ["ads-window-sealed", "answers", "Async"],
    ["ads-campaign", "answers", "Diverge"],
    ["ads-campaign-sealed", "answers", "Async"],
  ] as const) {
    test(`${name} gives the paper's label, ${label}`, async () => {
      const { outputs } = await example(name);
      assert.deepEqual(
        outputs.map(({ stream, label }) => [stream.name, label]),
        [[output, label]],
      );
    });
  }
});
