import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { codes } from "#src/errors.js";
import { headwater, ROOT, runHere } from "./headwater.js";

test("--version prints the package's version", async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  assert.deepEqual(await headwater("--version"), { exitCode: 0, stdout: version, stderr: "" });
  assert.deepEqual(JSON.parse((await headwater("--version", "--json")).stdout), { version });
});

test("--help lists every command on stdout; no command at all gives the same on stderr and fails", async () => {
  const asked = await headwater("--help");
  for (const command of [
    "run",
    "hosts",
    "events",
    "observe",
    "journal",
    "replay",
    "query",
    "analyze",
    "compile",
    "policy",
    "sim",
    "explain",
    "help",
  ])
    assert.match(asked.stdout, new RegExp(`^  ${command}\\b`, "m"));
  assert.equal(asked.exitCode, 0);
  const unasked = await headwater();
  assert.deepEqual(unasked, { exitCode: 2, stdout: "", stderr: asked.stdout });
});

test("the overview fits a terminal of 80 columns", async () => {
  const lines = (await headwater("help")).stdout.split("\n");
  assert.ok(lines.length > 20);
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  );
});

test("help COMMAND and COMMAND --help say the same: usage and each option", async () => {
  const { stdout, exitCode } = await headwater("help", "run");
  assert.equal(exitCode, 0);
  assert.match(stdout, /Usage: headwater run PROGRAM \[options\]/);
  for (const option of ["--commit-order observer|total", "--forever", "--json"])
    assert.ok(stdout.includes(option));
  assert.equal((await headwater("run", "--help")).stdout, stdout);
  assert.equal((await headwater("run", "-h")).stdout, stdout);
});

test("help --json gives each command as one JSON object per line", async () => {
  const { stdout } = await headwater("help", "--json");
  const described = stdout.split("\n").map((line): { name: string } => JSON.parse(line));
  assert.deepEqual(
    described.map(({ name }) => name),
    [
      "init",
      "dev",
      "run",
      "serve",
      "streams",
      "cluster",
      "doctor",
      "hosts",
      "events",
      "observe",
      "state",
      "journal",
      "replay",
      "query",
      "analyze",
      "compile",
      "policy",
      "sim",
      "completion",
      "explain",
      "help",
    ],
  );
});

const misunderstood: [args: string[], message: RegExp][] = [
  [["rum", "x"], /There is no command "rum"\. Did you mean "run"\?/],
  [["xyzzy"], /There is no command "xyzzy"\. See/],
  [["--versoin"], /There is no option "--versoin"\. Did you mean "--version"\?/],
  [["run"], /PROGRAM is missing: headwater run PROGRAM/],
  [["run", "a", "b"], /"b" is one word too many/],
  [["run", "a", "--forevr"], /"headwater run" has no option --forevr\. Did you mean "--forever"\?/],
  [["run", "a", "--commit-ordre=total"], /Did you mean "--commit-order"\?/],
  [["run", "a", "--commit-order"], /--commit-order needs a value: --commit-order observer\|total/],
  [["run", "a", "--commit-order", "--json"], /--commit-order needs a value/],
  [["run", "a", "--commit-order", "totl"], /observer or total, not "totl"\. Did you mean "total"\?/],
  [["run", "a", "--forever=yes"], /--forever takes no value/],
  [["run", "a", "--constructor"], /has no option --constructor/],
  [["explain", "HW-1O01"], /There is no error code "HW-1O01"\. Did you mean "HW-1001"\?/],
  [["help", "rnu"], /There is no command "rnu"\. Did you mean "run"\?/],
];

for (const [args, message] of misunderstood) {
  test(`headwater ${args.join(" ")} is refused with HW-2001 and exit code 2`, async () => {
    const { exitCode, stdout, stderr } = await headwater(...args);
    assert.match(stderr, message);
    assert.match(stderr, /^error HW-2001: /);
    assert.match(stderr, /headwater explain HW-2001/);
    assert.equal(exitCode, 2);
    if (!args.includes("--json")) assert.equal(stdout, "");
  });
}

test("with --json an error is also a JSON object on stdout", async () => {
  const { stdout } = await headwater("rum", "--json");
  const { kind, code, message } = JSON.parse(stdout);
  assert.deepEqual([kind, code], ["error", "HW-2001"]);
  assert.match(message, /Did you mean "run"\?/);
});

test("explain lists all codes, or prints the page of one however it is written", async () => {
  const list = (await headwater("explain")).stdout.split("\n");
  assert.deepEqual(
    list,
    Object.entries(codes).map(([code, [, title]]) => `${code}  ${title}`),
  );
  const page = readFileSync(join(ROOT, "docs/errors/HW-1001.md"), "utf8").trimEnd();
  for (const written of ["HW-1001", "hw-1001", "1001"]) {
    assert.deepEqual(await headwater("explain", written), { exitCode: 0, stdout: page, stderr: "" });
  }
  const { code, title, consequence } = JSON.parse((await headwater("explain", "1001", "--json")).stdout);
  assert.deepEqual([code, [consequence, title]], ["HW-1001", codes["HW-1001"]]);
});

test("sim hands its options to the simulator and refuses what it cannot use", async () => {
  const found = await headwater("sim", "--seeds", "2", "--events", "20", "--json");
  assert.deepEqual([found.exitCode, JSON.parse(found.stdout).seeds], [0, 2]);
  const refused = await headwater("sim", "--seeds", "many");
  assert.equal(refused.exitCode, 2);
  assert.match(refused.stderr, /^error HW-2001: --seeds takes a whole number/);
  assert.match((await headwater("sim", "--sedes", "2")).stderr, /Did you mean "--seeds"\?/);
  const negative = await headwater("sim", "--seeds", "-3");
  assert.match(negative.stderr, /^error HW-2001: --seeds takes a whole number of at least 1, not "-3"/);
  const endless = await headwater("sim", "--seeds", "1", "--events", "1000000000");
  assert.equal(endless.exitCode, 2);
  assert.match(endless.stderr, /^error HW-2001: --events takes at most 1,000,000, not "1000000000"/);
});

test("sim runs one seed, or several from one on, and counts them in words", async () => {
  const sim = async (...args: string[]) => (await headwater("sim", "--events", "20", ...args)).stderr;
  const [one, several] = [await sim("--seed", "5"), await sim("--seed", "5", "--seeds", "2")];
  assert.match(one, /^1 seed, \d+ events, /m);
  assert.match(several, /^2 seeds, \d+ events, /m);
  const trace = (said: string) => said.match(/trace (\w+)/)?.[1];
  assert.notEqual(trace(several), trace(one));
  assert.notEqual(trace(several), trace(await sim("--seeds", "2")));
  assert.match(
    (await headwater("help", "sim")).stdout,
    /--seed K +replay only this seed, or begin --seeds with it/,
  );
});

test("as a process, it exits with the code and writes no colours where nobody looks", async () => {
  const fine = await runHere(ROOT, "explain", "9001");
  assert.equal(fine.exitCode, 0);
  assert.match(fine.stdout, /^# HW-9001/);
  const refused = await runHere(ROOT, "rum");
  assert.equal(refused.exitCode, 2);
  assert.match(refused.stderr, /^error HW-2001/);
  assert.ok(!refused.stderr.includes("\u001b"));
});
