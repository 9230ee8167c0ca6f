import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Profile } from "headwater/fluxion";
import { headwater, packageWith, Running, runHere } from "./headwater.js";

const SPIN = `
  function spin(ms) {
    const until = Date.now() + ms;
    while (Date.now() < until);
    return ms;
  }`;

/** A program that asks itself, so that it needs no outside. */
const SERVER = `
  const http = require("node:http");
  ${SPIN}
  const server = http.createServer(function handler(req, res) {
    const ms = spin(Number(req.url.slice(1)));
    res.end(String(ms));
  });
  server.listen(0, async () => {
    const { port } = server.address();
    for (let i = 0; i < 12; i++) await (await fetch("http://127.0.0.1:" + port + "/6")).text();
    console.log("asked");
    if (process.argv[2] !== "stay") process.exit(7);
  });`;

test("a program gets its arguments, and its exit code and output are the command's", async (t) => {
  const program = `
    console.log(process.argv.slice(2).join(" "), require.main === module, __filename.endsWith("app.js"));
    console.log(require("node:fs").readFileSync(__filename, "utf8").includes("__fl" + "x"));
    require("node:http").createServer(function handler(req, res) { res.end(req.url.repeat(100)); });
    process.on("exit", () => console.log("end", process.exitCode));
    process.exitCode = 5;`;
  const folder = packageWith(t, { "app.js": program }, "commonjs");
  const { exitCode, stdout, stderr } = await runHere(
    folder,
    "run",
    "--fluxions",
    "app",
    "--",
    "one",
    "--two",
    "-3",
  );
  assert.equal(stdout, "one --two -3 true true\nfalse\nend 5\n", stderr);
  assert.deepEqual([exitCode, stderr], [5, ""]);
});

test("a program ends by a signal as it would without", async (t) => {
  const folder = packageWith(t, { "app.js": 'setInterval(() => {}, 1000); console.log("up");' }, "commonjs");
  const running = new Running(["run", "--fluxions", "app.js"], folder);
  await running.hasWritten("up");
  running.interrupt("SIGTERM");
  assert.equal((await running.ended).exitCode, null);
});

test("a heavy stage moves by itself; --stats says what became of it", async (t) => {
  const folder = packageWith(t, { "app.js": SERVER }, "commonjs");
  const { exitCode, stderr } = await runHere(
    folder,
    "run",
    "--fluxions",
    "app.js",
    "--threads",
    "1",
    "--stats",
    "s.json",
  );
  assert.deepEqual([exitCode, stderr], [7, ""]);
  const [stage] = JSON.parse(readFileSync(join(folder, "s.json"), "utf8")) as Record<string, unknown>[];
  assert.equal(stage?.isMoved, true);
  assert.ok(Number(stage?.localMs) >= 2, String(stage?.localMs));
});

test("--profile measures and moves nothing; --profiled moves what the profile says", async (t) => {
  const folder = packageWith(t, { "app.js": SERVER }, "commonjs");
  await runHere(folder, "run", "--fluxions", "app.js", "--profile", "p.json", "--stats", "s.json");
  const { stages: profile } = JSON.parse(readFileSync(join(folder, "p.json"), "utf8")) as Profile;
  const figures = () => JSON.parse(readFileSync(join(folder, "s.json"), "utf8")) as Record<string, unknown>[];
  assert.ok(Object.values(profile).every((ms) => ms >= 2));
  assert.deepEqual([figures()[0]?.inWorkers, figures()[0]?.here], [0, 12]);
  await runHere(
    folder,
    "run",
    "--fluxions",
    "app.js",
    "--threads",
    "1",
    "--profiled",
    "p.json",
    "--stats",
    "s.json",
  );
  assert.equal(figures()[0]?.isMoved, true);
  const bad = await runHere(folder, "run", "--fluxions", "app.js", "--profiled", "app.js");
  assert.match(bad.stderr, /^error HW-2002.*is not a profile.*\nMore about it/);
});

test("an error of a stage points to the program's own source", async (t) => {
  const program = `
    const http = require("node:http");
    const server = http.createServer(function handler(req, res) {
      const value = { path: req.url };
      if (value.path.length > 0) throw new TypeError("no " + value.path);
      res.end("done");
    });
    process.on("uncaughtException", (error) => {
      console.log(error.stack.split("\\n").slice(0, 2).join("|"));
      process.exit();
    });
    server.listen(0, () => fetch("http://127.0.0.1:" + server.address().port + "/x").catch(() => {}));`;
  const folder = packageWith(t, { "app.js": program }, "commonjs");
  const { stdout, stderr } = await runHere(folder, "run", "--fluxions", "--move", "all", "app.js");
  assert.match(stdout, /^TypeError: no \/x\|\s+at .*app\.js:5:/, stderr);
});

test("options of --fluxions without it, and words too many, are refused", async () => {
  assert.match((await headwater("run", "x.ts", "--threads", "2")).stderr, /--threads is about stages/);
  assert.match((await headwater("run", "x.ts", "--", "one")).stderr, /one word too many/);
  assert.match(
    (await headwater("run", "x.ts", "--fluxions", "--threads", "0")).stderr,
    /HW-2004|--threads is a number/,
  );
});
