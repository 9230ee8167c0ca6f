import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import {
  analyze,
  baselineText,
  compared,
  findingsOf,
  readBaseline,
  severityOf,
  toSarif,
} from "headwater/analysis";
import { headwater } from "../cli/headwater.js";
import fc from "../properties.js";
import { analysisOf, example, WORDCOUNT } from "./dataflows.js";
import { dataflow } from "./random-dataflows.js";

type Sarif = ReturnType<typeof toSarif>;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What SARIF 2.1.0 (sections 3.13 to 3.52) demands of what is written here. */
function assertSarif(log: Sarif): void {
  assert.equal(log.version, "2.1.0");
  const [run] = log.runs;
  assert.ok(run);
  const { rules } = run.tool.driver;
  assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length, "ids of rules are unique");
  for (const each of run.results) {
    assert.equal(rules[each.ruleIndex]?.id, each.ruleId);
    assert.ok(["none", "note", "warning", "error"].includes(each.level));
    assert.notEqual(each.message.text, "");
    for (const location of "locations" in each ? each.locations : []) {
      if (location.physicalLocation === undefined) continue;
      const { artifactLocation, region } = location.physicalLocation;
      assert.equal(new URL(artifactLocation.uri, "file:///").protocol, "file:");
      assert.doesNotMatch(artifactLocation.uri, /^\/|\\|\s/, "a relative reference");
      assert.ok(region.startLine >= 1 && region.startColumn >= 1);
    }
  }
}

describe("SARIF", () => {
  test("has a result for each stream that is worse than Async, with its place and what to do", async () => {
    const log = toSarif(await example("wordcount"), "1.2.3", null);
    assertSarif(log);
    const results = log.runs[0]?.results ?? [];
    assert.deepEqual(
      results.map(({ ruleId, level, partialFingerprints }) => [
        ruleId,
        level,
        partialFingerprints["stream/v1"],
      ]),
      [
        ["Run", "warning", "counts"],
        ["Run", "warning", "db"],
      ],
    );
    assert.match(results[0]?.message.text ?? "", /^counts is Run\. Count, words → counts .*\n {2}seal /s);
    assert.equal(log.runs[0]?.tool.driver.version, "1.2.3");
  });

  test("has what was accepted as suppressed, with the reason", async () => {
    const accepted = await analysisOf(
      `${WORDCOUNT}\naccept: [{ stream: counts, reason: rough numbers will do }]\n`,
    );
    const results = toSarif(accepted, "1", null).runs[0]?.results ?? [];
    for (const each of results) {
      assert.deepEqual("suppressions" in each ? each.suppressions : [], [
        { kind: "external", justification: "rough numbers will do" },
      ]);
    }
  });

  test("is well formed for any dataflow, with and without a baseline", () => {
    fc.assert(
      fc.property(dataflow, dataflow, (one, other) => {
        const analysis = analyze(one);
        assertSarif(toSarif(analysis, "1", null));
        const known = readBaseline(baselineText(findingsOf(analyze(other))), "baseline.json");
        assertSarif(toSarif(analysis, "1", compared(findingsOf(analysis), known)));
      }),
      { numRuns: 100 },
    );
  });

  test("is a format of the command line", async (t) => {
    const file = join(folderOf(t), "flow.yaml");
    writeFileSync(file, WORDCOUNT);
    const { stdout, exitCode } = await headwater("analyze", file, "--format", "sarif");
    assert.equal(exitCode, 1);
    assertSarif(JSON.parse(stdout) as Sarif);
  });
});

describe("a baseline", () => {
  test("of a dataflow makes all its findings known, and a finding is new if it is worse than the baseline says", () => {
    fc.assert(
      fc.property(dataflow, dataflow, (one, other) => {
        const [now, before] = [findingsOf(analyze(one)), findingsOf(analyze(other))];
        const own = compared(now, readBaseline(baselineText(now), "baseline.json"));
        assert.deepEqual([own.fresh, own.fixed], [[], []]);
        const known = readBaseline(baselineText(before), "baseline.json");
        const { fresh, fixed } = compared(now, known);
        const was = (name: string) =>
          severityOf(known.find(({ stream }) => stream === name)?.label ?? "Async");
        for (const each of now.filter(({ accepted }) => accepted === null)) {
          assert.equal(fresh.includes(each), severityOf(each.label) > Math.max(2, was(each.stream)));
        }
        for (const { stream, label } of fixed) {
          const found = now.find((each) => each.stream === stream && each.accepted === null);
          assert.ok(found === undefined || severityOf(found.label) < severityOf(label));
        }
      }),
      { numRuns: 100 },
    );
  });

  test("lets known findings pass, fails for new ones, and tells what was fixed", async (t) => {
    const folder = folderOf(t);
    const [file, baseline] = [join(folder, "flow.yaml"), join(folder, "baseline.json")];
    const analyzed = (...more: string[]) => headwater("analyze", file, "--baseline", baseline, ...more);
    writeFileSync(file, WORDCOUNT);
    const missing = await analyzed();
    assert.equal(missing.exitCode, 2);
    assert.match(missing.stderr, /HW-2004: There is no file .*baseline\.json/);
    const written = await analyzed("--update-baseline");
    assert.equal(written.exitCode, 0, written.stderr);
    assert.match(readFileSync(baseline, "utf8"), /^ {4}\{"stream":"counts","label":"Run"\},$/m);

    const known = await analyzed();
    assert.deepEqual([known.exitCode, known.stderr], [0, "baseline: 0 new, 2 known, 0 fixed"]);

    writeFileSync(file, WORDCOUNT.replace("Count:", "Count:\n  Rep: true"));
    const worse = await analyzed();
    assert.equal(worse.exitCode, 1);
    assert.match(
      worse.stderr,
      /^new: counts is Diverge\nnew: db is Diverge\nbaseline: 2 new, 0 known, 0 fixed$/,
    );

    writeFileSync(file, `${WORDCOUNT}\nstreams: { tweets: { seal: [batch] } }\n`);
    const fixed = await analyzed("--format", "sarif");
    assert.equal(fixed.exitCode, 0);
    assert.match(fixed.stderr, /fixed: counts was Run; --update-baseline takes it out\n/);
    const states = (JSON.parse(fixed.stdout) as Sarif).runs[0]?.results.map((each) =>
      "baselineState" in each ? each.baselineState : "",
    );
    assert.deepEqual(states, ["absent", "absent"]);
  });

  test("that is none is refused, and so is updating nothing", async (t) => {
    const folder = folderOf(t);
    const [file, baseline] = [join(folder, "flow.yaml"), join(folder, "baseline.json")];
    writeFileSync(file, WORDCOUNT);
    for (const text of [
      "",
      "{}",
      '{ "version": 1 }',
      '{ "version": 1, "findings": [{ "stream": "x", "label": "Async" }] }',
    ]) {
      writeFileSync(baseline, text);
      const { exitCode, stderr } = await headwater("analyze", file, "--baseline", baseline);
      assert.equal(exitCode, 2);
      assert.match(stderr, /HW-5010: .*baseline\.json is no baseline: /);
    }
    const alone = await headwater("analyze", file, "--update-baseline");
    assert.equal(alone.exitCode, 2);
    assert.match(alone.stderr, /--update-baseline goes with --baseline FILE/);
  });
});
