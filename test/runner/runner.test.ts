import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../waits.js";
import { FileRun, type Patience } from "./file-run.js";
import { processesOf } from "./processes.js";

const CACHE = fileURLToPath(new URL("../../.cache", import.meta.url));

/** A file that hangs is noticed after a few looks instead of minutes. */
const HASTY: Patience = {
  lookEveryMs: 100,
  waitLooksMax: 10,
  idleLooksMax: 20,
  busyCpuMsMax: 2_000,
  leftoverLooksMax: 20,
};

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

test("a test that waits by name in vain fails where it waits, and the others go on", async (t) => {
  const gates = JSON.stringify(new URL("../gates.ts", import.meta.url).href);
  const waits = JSON.stringify(new URL("../waits.ts", import.meta.url).href);
  const { failures, passed } = await new FileRun(
    fileWith(
      t,
      `import { Gates } from ${gates};
      import { until } from ${waits};
      const gates = new Gates();
      let seen = 0;
      const other = setInterval(() => {}, 1_000_000);
      test("gate", async () => { await gates.reached("the far side"); });
      test("method", async () => { await gates.pass("the near side"); });
      test("condition", async () => { await until(() => seen > 3); });
      test("other", () => clearInterval(other));`,
    ),
    HASTY,
  ).run();
  const inVain = failures.map((failure) => failure.split("\n").slice(0, 2).join(": "));
  assert.deepEqual(inVain, [
    'gate: Error: waited in vain for a method to get to the gate "the far side": nothing moves any more.',
    'method: Error: waited in vain for the gate "the near side" to be opened: nothing moves any more.',
    "condition: Error: waited in vain until seen>3: nothing moves any more.",
  ]);
  for (const failure of failures) assert.match(failure, /some\.test\.ts:\d+/, "it says where");
  assert.equal(passed, 1);
});

test("a test that waits by name where nothing else can happen fails without the runner", async (t) => {
  const gates = JSON.stringify(new URL("../gates.ts", import.meta.url).href);
  const file = fileWith(
    t,
    `import { Gates } from ${gates};
    test("alone", async () => { await new Gates().reached("the end"); });
    test("other", () => {});`,
  );
  const { failures, passed } = await new FileRun(file, {
    ...HASTY,
    waitLooksMax: 1e6,
    idleLooksMax: 1e6,
  }).run();
  assert.match(
    failures.join(),
    /^alone\nError: waited in vain .* "the end": nothing is left that could happen\./,
  );
  assert.deepEqual([failures.length, passed], [1, 1]);
});

test("a test that waits in vain beside heartbeats ends by itself", async (t) => {
  // Two per cent of a processor, in many small parts.
  const beat = `setInterval(() => { const until = performance.now() + 1; while (performance.now() < until); }, 50);`;
  const { failures } = await new FileRun(
    fileWith(t, `test("waits", async () => { ${beat} await new Promise(() => {}); });`),
    { ...HASTY, lookEveryMs: 500, idleLooksMax: 2 },
  ).run();
  assert.match(failures[0] ?? "", /^waits hangs: .* do nothing/);
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
  await until(() => run.processes().length === 0); // it was killed, and ends
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
  await until(() => processesOf(session, "none").length === 0);
});
