import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import type { Manifest, Pipeline } from "headwater/fluxion";
import { ROOT } from "../house/source.js";

const execute = promisify(execFile);
const headwater = join(ROOT, "dist", "cli", "main.js");
const COUNTER = join("examples", "fluxion", "counter.js");
const SQUARES = join("test", "fluxion", "programs", "top-level-await.mjs");

function run(...args: string[]) {
  return execute(process.execPath, [headwater, "compile", ...args], { cwd: ROOT });
}

test("compile says what goes, what stays, why, and what would free it", async () => {
  const { stdout } = await run(COUNTER);
  assert.match(stdout, /3 parts, 0 stages that can run on workers, 1 group/);
  assert.match(stdout, /HW-7002 counter\.js:7:5: it writes count/);
  assert.match(stdout, /write count in a part of its own/);
});

test("compile --json gives the pipeline as data", async () => {
  const { stdout } = await run(COUNTER, "--json");
  const { parts, streams, groups } = JSON.parse(stdout) as Pipeline;
  assert.deepEqual(
    parts.map(({ name }) => name),
    ["main", "handler", "reply"],
  );
  assert.deepEqual(
    streams.map(({ from, to, kind }) => [from, kind, to]),
    [
      ["main", "start", "handler"],
      ["handler", "post", "reply"],
    ],
  );
  assert.deepEqual(
    groups.map(({ name, parts: members }) => [name, members]),
    [["grp_res", ["main", "reply"]]],
  );
});

test("compile --dry-run draws each part with its group, its placement and why, and writes nothing", async () => {
  const { stdout, stderr } = await run(COUNTER, "--dry-run");
  for (const text of [
    "reply &amp; grp_res {count, template}",
    "runs on: main loop",
    "HW-7002 7:5",
    "fs.readFile →",
  ]) {
    assert.ok(stdout.includes(text), text);
  }
  assert.match(stdout, /^<svg [\s\S]*<\/svg>\n$/);
  assert.match(stderr, /Stays on the main loop/);
});

test("compile --out gives a folder that plain node runs as before", async (t) => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "compiled-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { stdout } = await run(SQUARES, "--out", folder);
  const env = { ...process.env, HEADWATER_MOVE: "all" };
  const ran = (file: string) => execute(process.execPath, [file], { cwd: ROOT, env });
  assert.deepEqual(await ran(join(ROOT, stdout.trim())), await ran(join(ROOT, SQUARES)));
  const { stages } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
  assert.deepEqual(
    stages.map(({ name, worker }) => [name, worker]),
    [["squares", "w1.mjs"]],
  );
});

test("compile --analyze finds nothing that a worker would make different", async () => {
  const { stdout } = await run(COUNTER, "--analyze");
  assert.match(stdout, /effects of reply/);
});

test("compile refuses what excludes each other, and what it cannot read", async () => {
  await assert.rejects(run(COUNTER, "--print", "--dry-run"), /HW-2001/);
  await assert.rejects(run(COUNTER, "--isolated"), /HW-2001/);
  await assert.rejects(run(join("examples", "fluxion", "none.js")), /HW-7001/);
  await assert.rejects(run(COUNTER, "--out", join("examples", "fluxion")), /HW-7001/);
});
