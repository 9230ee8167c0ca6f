import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { headwater, packageWith, ROOT, runHere } from "../cli/headwater.js";

const file = (name: string) => join(ROOT, "examples", "analysis", `${name}.yaml`);

describe("headwater analyze --check", () => {
  test("shows the anomaly of POOR, and none for THRESH and sealed CAMPAIGN", async () => {
    const poor = await headwater("analyze", file("ads-poor"), "--check", "--seeds", "3");
    assert.equal(poor.exitCode, 1, "the label is not accepted, and the check does not change that");
    assert.match(poor.stdout, /reports is Inst, as predicted:\n[\s\S]*× 100/);
    assert.match(poor.stdout, /no label proved wrong, an anomaly on 3 of 3 streams that may have one\.$/);
    for (const name of ["ads-thresh", "ads-campaign-sealed"]) {
      const { exitCode, stdout } = await headwater("analyze", file(name), "--check", "--seeds", "3");
      assert.equal(exitCode, 0, stdout);
      assert.match(stdout, /no label proved wrong, no anomaly\.$/);
    }
  });

  test("gives data, too", async () => {
    const { stdout, exitCode } = await headwater(
      "analyze",
      file("wordcount"),
      "--check",
      "--seed",
      "1",
      "--json",
    );
    assert.equal(exitCode, 1);
    const { outputs, check: data } = JSON.parse(stdout) as {
      outputs: { name: string; label: string }[];
      check: {
        ok: boolean;
        seeds: number;
        predicted: { stream: string; label: string; found: { kind: string; replay: string } }[];
      };
    };
    assert.equal(outputs[0]?.name, "db");
    assert.deepEqual([data.ok, data.seeds], [true, 1]);
    assert.deepEqual(
      data.predicted.map(({ stream, label, found }) => [stream, label, found.kind]),
      [
        ["counts", "Run", "Run"],
        ["db", "Run", "Run"],
      ],
    );
    assert.match(data.predicted[0]?.found.replay ?? "", /--check --seed 1$/);
  });

  test("runs TypeScript modules beside the file, and fails when a label is not true", async (t) => {
    const module = (body: string) => `
      import type { RunnableComponent } from "headwater/analysis/check";
      const component: RunnableComponent<number> = {
        initial: () => 0,
        receive(state, _input, { value }) { ${body} },
      };
      export default component;`;
    const flow = (name: string) =>
      `A: { runs: ./${name}.ts, annotation: { from: in, to: out, label: CW } }\nstreams: { in: { attributes: [value] } }\n`;
    const folder = packageWith(t, {
      "digits.yaml": flow("digits"),
      "digits.ts": module(
        "const n = state * 10 + Number(value); return { state: n, emit: [['out', { n }]] };",
      ),
      "copy.yaml": flow("copy"),
      "copy.ts": module("return { state, emit: [['out', { value }]] };"),
      "none.yaml": flow("none"),
      "none.ts": "export default {};",
      "nothing.yaml": "A: { annotation: { from: in, to: out, label: CW } }\n",
    });
    const digits = await runHere(folder, "analyze", "digits.yaml", "--check");
    assert.equal(digits.exitCode, 1, digits.stderr);
    assert.match(
      digits.stdout,
      /A, in → out at digits\.yaml:1:\d+ is CW, but the order of its input decides/,
    );
    assert.match(digits.stdout, /replay: npx headwater analyze digits\.yaml --check --seed \d+/);
    assert.match(digits.stderr, /HW-5008/);
    const copy = await runHere(folder, "analyze", "copy.yaml", "--check");
    assert.equal(copy.exitCode, 0, copy.stdout + copy.stderr);
    const none = await runHere(folder, "analyze", "none.yaml", "--check");
    assert.equal(none.exitCode, 2);
    assert.match(none.stderr, /HW-5006: The default export of \.\/none\.ts cannot be run/);
    const nothing = await runHere(folder, "analyze", "nothing.yaml", "--check");
    assert.equal(nothing.exitCode, 2);
    assert.match(nothing.stderr, /HW-5007/);
  });

  for (const [args, message] of [
    [["--seed", "x"], /--seed is a whole number of at least 0, not "x"/],
    [["--seeds", "0"], /--seeds is a whole number of at least 1, not "0"/],
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
