import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { headwater, ROOT, Running } from "../cli/headwater.js";
import { exampleText, WORDCOUNT } from "./dataflows.js";

const file = (name: string) => join(ROOT, "examples", "analysis", `${name}.yaml`);

function written(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "flow.yaml"), text);
  return join(folder, "flow.yaml");
}

describe("headwater analyze", () => {
  for (const [name, label] of [
    ["wordcount", "Run"],
    ["wordcount-sealed", "Async"],
    ["ads-thresh", "Async"],
    ["ads-poor", "Diverge"],
    ["ads-window-sealed", "Async"],
    ["ads-campaign", "Diverge"],
    ["ads-campaign-sealed", "Async"],
  ] as const) {
    test(`says ${label} for ${name}, and ${label === "Async" ? "succeeds" : "fails"}`, async () => {
      const { exitCode, stdout, stderr } = await headwater("analyze", file(name), "--format", "json");
      const { outputs } = JSON.parse(stdout) as { outputs: { name: string; label: string }[] };
      assert.deepEqual(
        outputs.map((each) => each.label),
        [label],
      );
      assert.equal(exitCode, label === "Async" ? 0 : 1);
      assert.equal(stderr, "");
    });
  }

  test("prints a report, or a derivation, or a picture", async () => {
    assert.match(
      (await headwater("analyze", file("wordcount"))).stdout,
      /^3 components, 4 streams\n[\s\S]*db: Run/,
    );
    assert.match(
      (await headwater("analyze", file("wordcount"), "--explain", "words")).stdout,
      /words: Async$/,
    );
    assert.match((await headwater("analyze", file("wordcount"), "--format", "dot")).stdout, /^digraph/);
    assert.match(
      (await headwater("analyze", file("wordcount"), "--format", "svg")).stdout,
      /^<svg[\s\S]*<\/svg>$/,
    );
  });

  test("--json is --format json on one line, and goes with --explain", async () => {
    const { stdout } = await headwater("analyze", file("wordcount"), "--json");
    assert.doesNotMatch(stdout, /\n/);
    assert.deepEqual(
      JSON.parse(stdout),
      JSON.parse((await headwater("analyze", file("wordcount"), "--format", "json")).stdout),
    );
    const one = JSON.parse(
      (await headwater("analyze", file("wordcount"), "--json", "--explain", "db")).stdout,
    );
    assert.equal(one.name, "db");
  });

  test("succeeds when somebody has accepted what is worse than Async, with a reason", async (t) => {
    const accepted = written(
      t,
      `${WORDCOUNT}\naccept:\n  - { stream: counts, label: Run, reason: only a demo }\n`,
    );
    const { exitCode, stdout } = await headwater("analyze", accepted);
    assert.equal(exitCode, 0);
    assert.match(stdout, /counts is Run, accepted: only a demo/);
  });

  test("the advised order, written down with a reason, ends the finding", async (t) => {
    const ordered = WORDCOUNT.replace(
      "Count:",
      "Count:\n  coordination: { kind: order, reason: a single log }",
    );
    const { exitCode, stdout } = await headwater("analyze", written(t, ordered));
    assert.equal(exitCode, 0, stdout);
    assert.match(stdout, /counts is Run, accepted: a single log/);
  });

  test("an internal failure is not taken for a finding: it has an exit code of its own", async (t) => {
    const file = written(t, WORDCOUNT);
    const folder = dirname(file);
    writeFileSync(
      join(folder, "broken.mjs"),
      'Array.prototype.toSorted = () => { throw new TypeError("this is broken inside"); };\n',
    );
    const preload = `export NODE_OPTIONS="--import=${pathToFileURL(join(folder, "broken.mjs")).href}"`;
    const { exitCode, stderr } = await new Running(["analyze", file], folder, preload).ended;
    assert.equal(exitCode, 70, stderr);
    assert.match(stderr, /this is broken inside/);
  });

  test("a coordination that cannot be is the file's fault, and is told with its place", async (t) => {
    const wrong = WORDCOUNT.replace("Count:", "Count:\n  coordination: { kind: seal, reason: cheaper }");
    const { exitCode, stderr } = await headwater("analyze", written(t, wrong));
    assert.equal(exitCode, 2);
    assert.match(stderr, /HW-5004: .*flow\.yaml:6:3: The coordination of Count/);
  });

  test("says where a file is wrong, with exit code 2", async (t) => {
    const { exitCode, stderr, stdout } = await headwater(
      "analyze",
      written(t, exampleText("wordcount").replace("CR", "CX")),
    );
    assert.equal(exitCode, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /HW-5001: .*flow\.yaml:5:\d+: label cannot be "CX"\. Did you mean "CR"\?/);
  });

  for (const [args, message] of [
    [[], /FILE is missing/],
    [["nowhere.yaml"], /HW-2004: There is no file nowhere\.yaml/],
    [
      [file("wordcount"), "--format", "svgg"],
      /--format is text, json, dot, svg, sarif, not "svgg"\. Did you mean "svg"\?/,
    ],
    [[file("wordcount"), "--json", "--format", "svg"], /exclude each other/],
    [[file("wordcount"), "--format", "svg", "--explain", "db"], /--explain goes with text and json/],
    [[file("wordcount"), "--explain", "dbb"], /There is no stream "dbb"\. Did you mean "db"\?/],
  ] as const) {
    test(`is misused with ${args.map((arg) => arg.replace(ROOT, "")).join(" ") || "nothing"}`, async () => {
      const { exitCode, stderr } = await headwater("analyze", ...args);
      assert.equal(exitCode, 2);
      assert.match(stderr, message);
    });
  }
});
