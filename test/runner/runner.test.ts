import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { FileRun, type Patience } from "./file-run.js";
import { processesOf } from "./processes.js";

const CACHE = fileURLToPath(new URL("../../.cache", import.meta.url));

/** A file that hangs is noticed after a few looks instead of minutes. */
const HASTY: Patience = { lookEveryMs: 100, idleLooksMax: 20, busyCpuMsMax: 2_000, leftoverLooksMax: 20 };

/** A test file with this text, inside the package, so that it finds the package's modules. */
function fileWith(t: TestContext, text: string): string {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "runner-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "some.test.ts");
  writeFileSync(
    file,
    `import { test } from "node:test";\nimport { spawn } from "node:child_process";\n${text}`,
  );
  return file;
}

test("tests that pass are counted", async (t) => {
  const file = fileWith(t, `test("a", () => {}); test("b", async (t) => { await t.test("c", () => {}); });`);
  const { passed, failures } = await new FileRun(file, HASTY).run();
  assert.deepEqual(failures, []);
  assert.equal(passed, 3);
});

test("a test that fails is named once, with its place and what was thrown", async (t) => {
  const file = fileWith(
    t,
    `test("outer", async (t) => { await t.test("inner", () => { throw new Error("no"); }); });`,
  );
  const { failures } = await new FileRun(file, HASTY).run();
  assert.equal(failures.length, 1);
  assert.match(failures[0] ?? "", /^outer > inner\nError: no\n.*some\.test\.ts:3:/);
});

test("a file without tests fails, and so does one that cannot be loaded", async (t) => {
  const none = await new FileRun(fileWith(t, ""), HASTY).run();
  assert.match(none.failures[0] ?? "", /has no tests/);
  const broken = await new FileRun(fileWith(t, `throw new Error("cannot load");`), HASTY).run();
  assert.match(`${broken.failures[0]}${broken.printed}`, /cannot load/);
});

test("a test that waits in vain ends by itself, and is named", async (t) => {
  const forever = `await new Promise(() => setInterval(() => {}, 1_000_000));`;
  const { failures } = await new FileRun(
    fileWith(t, `test("outer", async (t) => { await t.test("inner", async () => { ${forever} }); });`),
    HASTY,
  ).run();
  assert.match(failures[0] ?? "", /^outer > inner hangs: .* do nothing/);
});

test("a file in an endless loop ends by itself, and is named", async (t) => {
  const { failures } = await new FileRun(fileWith(t, `test("loop", () => { while (true); });`), HASTY).run();
  assert.match(failures[0] ?? "", /some\.test\.ts hangs: .* busy without an end/);
});

test("a file that leaves a process behind fails, and the process ends, in whatever session it is", async (t) => {
  const left = `spawn("sleep", ["100000"], { detached: true, stdio: "ignore" }).unref();`;
  const run = new FileRun(fileWith(t, `test("a", () => { ${left} });`), HASTY);
  const { failures } = await run.run();
  assert.match(failures[0] ?? "", /left processes behind:\n.*sleep 100000/);
  while (run.processes().length > 0) await new Promise(setImmediate); // it was killed, and ends
});

test("when the runner is killed, the processes of its files end", async (t) => {
  const started = `spawn("sleep", ["100000"], { stdio: "ignore" });`;
  const forever = `await new Promise(() => setInterval(() => {}, 1_000_000));`;
  const file = fileWith(t, `test("a", async () => { ${started} console.log("started"); ${forever} });`);
  const runner = fileWith(
    t,
    `import { FileRun } from ${JSON.stringify(new URL("file-run.ts", import.meta.url).href)};
    const run = new FileRun(${JSON.stringify(file)});
    void run.run();
    setInterval(() => { if (run.printed.includes("started")) console.log(run.pid); }, 10);`,
  );
  const process_ = spawn(process.execPath, ["--import", "tsx", runner], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => process_.kill("SIGKILL"));
  const [pid] = (await once(process_.stdout, "data")) as [Buffer];
  const session = Number(String(pid).split("\n")[0]);
  assert.ok(processesOf(session, "none").some(({ command }) => command === "sleep 100000"));
  process_.kill("SIGKILL");
  while (processesOf(session, "none").length > 0) await new Promise(setImmediate);
});
