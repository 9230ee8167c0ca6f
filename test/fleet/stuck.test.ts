import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type HeadwaterError, MemoryJournal, type RunOptions, run } from "headwater";
import Counters from "./programs/counters.js";

const module = new URL("./programs/counters.ts", import.meta.url).href;
const KEYS = 12;

async function file(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-stuck-"));
  t.after(() => rm(made, { recursive: true }));
  return join(made, "begun");
}

async function started(options: RunOptions) {
  const warnings: HeadwaterError[] = [];
  const onWarning = (warning: HeadwaterError) => void warnings.push(warning);
  const service = await run(Counters, { hosts: 2, module, onWarning, onFailure: () => {}, ...options });
  return { service, warnings, root: service.root };
}

for (const hostsAs of ["threads", "processes"] as const) {
  test(`${hostsAs}: an event that blocks every host is reported once and given up, and its neighbours go on`, async (t) => {
    const begun = await file(t);
    const { service, warnings, root } = await started({
      hostsAs,
      journal: new MemoryJournal(),
      hostTimeoutMs: 300,
      slowEventMs: 100,
    });
    for (let key = 0; key < KEYS; key++) await root.counters(key).add();
    const stuck = assert.rejects(root.counters(0).spin(begun), { code: "HW-6003" });
    const others = Array.from({ length: KEYS - 1 }, (_, key) => root.counters(key + 1).add());
    assert.deepEqual(await Promise.all(others), new Array(KEYS - 1).fill(2));
    await stuck;
    assert.equal(await readFile(begun, "utf8"), "xxxx");
    assert.equal(await root.counters(0).add(), 2);
    const said = warnings.filter(
      ({ code, message }) => code === "HW-6006" && message.includes("counters(0).spin"),
    );
    assert.equal(said.length, 1);
    assert.match(
      said[0]?.message ?? "",
      /Counters\.counters\(0\)\.spin\(…\) has kept host \d from .* \d+ ms/,
    );
    await service.stop();
  });
}

test("an event that waits for ever is reported once, and its host stays", async () => {
  const { service, warnings, root } = await started({ slowEventMs: 50 });
  const reported = new Promise<void>((resolve) => {
    const look = setInterval(() => {
      if (warnings.length === 0) return;
      clearInterval(look);
      resolve();
    }, 10);
  });
  const never = root.counters(0).never();
  never.catch(() => {});
  await reported;
  for (let key = 1; key < KEYS; key++) assert.equal(await root.counters(key).add(), 1);
  assert.equal(warnings.length, 1);
  assert.equal(warnings[0]?.code, "HW-6006");
  assert.match(warnings[0]?.message ?? "", /counters\(0\)\.never\(…\) has been running for \d+ ms/);
  await service.stop({ graceMs: 0 });
});

test("with a limit, an event that waits for ever fails, changes nothing, and its context goes on", async () => {
  const { service, root } = await started({ eventTimeoutMs: 100 });
  await root.counters(0).add();
  await assert.rejects(root.counters(0).never(), { code: "HW-6007", message: /counters\(0\)\.never/ });
  assert.equal(await root.counters(0).add(), 2);
  await service.idle();
  await service.stop();
});

test("without a journal, an anonymous context's event that blocks its host fails alone", async () => {
  const { service, root } = await started({ hostTimeoutMs: 200 });
  await assert.rejects(root.workers(0).spin(), { code: "HW-6004", message: /blocked for \d+ ms/ });
  assert.equal(await root.workers(0).echo(3), 3);
  await service.stop();
});

test("a time that is no time is refused", async () => {
  await assert.rejects(started({ eventTimeoutMs: 0 }), { code: "HW-6002" });
});
