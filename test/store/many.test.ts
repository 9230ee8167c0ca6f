import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { compiledPrograms } from "./standby.js";
import { temporaryDirectory } from "./support.js";

/** By hand, with 1,000,000 contexts, the first answer comes about 0.3 s after the start of the process. */
const COUNT = 200_000;
const IN_MEMORY = 1000;
const MEGABYTE = 2 ** 20;

async function said<T>(t: TestContext, file: string, args: readonly string[], flags: readonly string[] = []) {
  const child = fork(file, args, { execArgv: [...flags] });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const [report] = (await Promise.race([once(child, "message"), ended])) as [T];
  assert.deepEqual(await ended, [0, null]);
  return report;
}

test("a journal with many contexts is opened without reading them, and they need not fit into memory", async (t) => {
  const file = join(await compiledPrograms(t), "many.js");
  const journal = await temporaryDirectory(t);
  await said(t, file, ["fill", journal, String(COUNT)]);
  const { changes, ms } = await said<{ changes: number; ms: number }>(t, file, ["first", journal]);
  assert.equal(changes, 2);
  t.diagnostic(`the first answer came after ${ms} ms`);

  const args = ["touch", journal, String(COUNT), String(IN_MEMORY)];
  const { bytes, grown } = await said<{ bytes: number; grown: number }>(t, file, args, ["--expose-gc"]);
  assert.ok(bytes > 95 * MEGABYTE, `${bytes} bytes were read`);
  assert.ok(grown < 30 * MEGABYTE, `${grown} bytes more are in use`);
});
