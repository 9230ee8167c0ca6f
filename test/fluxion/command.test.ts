import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type Manifest, type Pipeline, type Profile, parse } from "headwater/fluxion";
import { ROOT } from "../house/source.js";

const execute = promisify(execFile);
const headwater = join(ROOT, "dist", "cli", "main.js");
const COUNTER = join("examples", "fluxion", "counter.js");
const MIDDLEWARE = join("test", "fluxion", "programs", "middleware.cjs");
const TEMPLATES = join("test", "fluxion", "programs", "templates.cjs");
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

test("compile says which awaits are not cut; with --print beside the program, which stays readable", async (t) => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "awaits-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "app.cjs");
  writeFileSync(
    file,
    `const fs = require("fs");
const app = require("express")();
app.get("/", async function all(req, res) {
  for (const name of ["a", "b"]) res.write(await fs.promises.readFile(name));
  res.end();
});
`,
  );
  const told =
    /Stays in one part with what follows\n {2}app\.cjs:4:44 await fs\.promises\.readFile\(\) in GET \/\n {4}HW-7015 app\.cjs:4:44: it is awaited in a loop.*\n {6}move it/;
  assert.match((await run(file)).stdout, told);
  const { stdout, stderr } = await run(file, "--print");
  assert.match(stderr, told);
  assert.deepEqual(
    parse(stdout).map(({ name }) => name),
    ["main", "all"],
  );
  assert.equal((await run(COUNTER, "--print")).stderr, "");
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

test("compile --out keeps what package.json says of folders, #names and .js, and an entry further down", async (t) => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "named-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = {
    "package.json": '{ "main": "src/lib.js", "imports": { "#lib": "./src/lib.js" } }',
    "src/lib.js": "module.exports = { a: 1 };",
    "src/sub/package.json": '{ "type": "module" }',
    "src/sub/two.js": "export const two = 2;",
    "src/sub/up/package.json": '{ "main": "../../lib.js" }',
    "src/main.js": `const lib = require("#lib");
      console.log(lib, require("./sub/up") === lib, require("..") === lib);
      import("./sub/two.js").then(({ two }) => console.log(two));`,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, "in", name)), { recursive: true });
    writeFileSync(join(folder, "in", name), text);
  }
  const entry = join(folder, "in", "src", "main.js");
  const { stdout } = await run(entry, "--out", join(folder, "out"));
  const ran = (file: string) => execute(process.execPath, [file], { cwd: ROOT });
  const before = await ran(entry);
  assert.equal(before.stdout, "{ a: 1 } true true\n2\n");
  assert.deepEqual(await ran(join(ROOT, stdout.trim())), before);
});

test("compile --profiled bakes in what a profile says", async (t) => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "profiled-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const profile = join(folder, "profile.json");
  const { stages } = JSON.parse((await run(TEMPLATES, "--json")).stdout) as Pipeline;
  const idOf = (name: string) => stages.find((stage) => stage.name === name)?.id ?? "";
  writeFileSync(profile, JSON.stringify({ stages: { [idOf("byEjs")]: 7.25, [idOf("byPug")]: 0.123 } }));

  const said = await run(TEMPLATES, "--profiled", profile);
  assert.match(said.stdout, /byEjs \(GET \/ejs\): the whole part;.*; measured 7\.3 ms, moves at once/);
  assert.match(said.stdout, /byPug \(GET \/pug\): the whole part;.*; measured 0\.12 ms, not worth it/);
  const { stdout: drawn } = await run(TEMPLATES, "--profiled", profile, "--dry-run");
  assert.match(drawn, /<title>[^<]*byPug: main loop[^<]*<\/title>/);
  assert.match(drawn, /<title>[^<]*byEjs: workers[^<]*<\/title>/);
  assert.match(drawn, /isolated, but not worth a worker \(measured 0\.12 ms\)/);

  const out = join(folder, "out");
  await run(TEMPLATES, "--profiled", profile, "--out", out);
  const manifest = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8")) as Manifest;
  assert.deepEqual(
    manifest.stages.map(({ name, heavy }) => [name, heavy]),
    stages.filter(({ name }) => name !== "byPug").map(({ name }) => [name, true]),
  );
  const text = readFileSync(join(out, "templates.cjs"), "utf8");
  assert.ok(text.includes(idOf("byEjs")) && !text.includes(idOf("byPug")));

  for (const wrong of [
    '{ "stages": { "a": "slow" } }',
    '{ "stages": {}, "time": { "totalMs": 1, "chains": [1] } }',
  ]) {
    writeFileSync(profile, wrong);
    await assert.rejects(run(TEMPLATES, "--profiled", profile), /HW-2002.*is not a profile/s);
  }
});

test("compile --profiled --print --isolated lets only go what a profile lets go", async (t) => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "profiled-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const profile = join(folder, "profile.json");
  const { stages } = JSON.parse((await run(MIDDLEWARE, "--json")).stdout) as Pipeline;
  const written = async (ms: number) => {
    writeFileSync(profile, JSON.stringify({ stages: Object.fromEntries(stages.map(({ id }) => [id, ms])) }));
    return (await run(MIDDLEWARE, "--profiled", profile, "--print", "--isolated")).stdout;
  };
  assert.match(await written(5), /flx express_dispatcher/);
  assert.doesNotMatch(await written(0.5), /express_dispatcher/);
});

test("compile reads the profile that a run has written", async (t) => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "profiled-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [profile, program] = [join(folder, "profile.json"), join(folder, "sums.mjs")];
  const sum = "async function sum(n) { let all = 0; for (let i = 0; i < n; i++) all += i % 7; return all; }";
  // What happens while files are loaded is not counted.
  writeFileSync(
    program,
    `${sum}\nsetTimeout(async function later() { for (const n of [1e7, 2e7, 3e7]) console.log(await sum(n)); }, 1);\n`,
  );
  await execute(process.execPath, [headwater, "run", "--fluxions", "--profile", profile, program], {
    cwd: ROOT,
  });
  const { stages: measured, time } = JSON.parse(readFileSync(profile, "utf8")) as Profile;
  const { stdout } = await run(program, "--profiled", profile, "--json");
  const { stages } = JSON.parse(stdout) as Pipeline;
  assert.ok(Object.keys(measured).length > 0);
  assert.deepEqual(
    Object.fromEntries(
      stages.flatMap(({ id, measuredMs }) => (measuredMs === undefined ? [] : [[id, measuredMs]])),
    ),
    measured,
  );
  const inSum = time?.chains.filter(({ functions }) => functions.at(-1)?.startsWith(`${program}:1:`)) ?? [];
  assert.ok(inSum.reduce((all, { ms }) => all + ms, 0) > (time?.totalMs ?? 0) / 2, JSON.stringify(time));
  const said = (await run(program, "--profiled", profile)).stdout;
  assert.match(
    said,
    /^Where the time goes \(\d+\.\d s in which the main loop was busy\)\n {2,}\d+ % later \(sums\.mjs:2:12\)/,
  );
});

test("compile --analyze finds nothing that a worker would make different", async () => {
  const { stdout } = await run(COUNTER, "--analyze");
  assert.match(stdout, /effects of reply/);
});

test("compile takes a folder for its index file, as run does", async () => {
  const { stdout } = await run(join("examples", "fluxion", "markdown-server"));
  assert.match(stdout, /index\.js:\d+:\d+ markdown\.render/);
});

test("compile refuses what excludes each other, and what it cannot read", async () => {
  await assert.rejects(run(COUNTER, "--print", "--dry-run"), /HW-2001/);
  await assert.rejects(run(COUNTER, "--isolated"), /HW-2001/);
  await assert.rejects(run(join("examples", "fluxion", "none.js")), /HW-2004: There is no program/);
  await assert.rejects(run(COUNTER, "--out", join("examples", "fluxion")), /HW-7001/);
});
