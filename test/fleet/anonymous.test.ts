import assert from "node:assert/strict";
import { test } from "node:test";
import { run, type Service } from "headwater";
import Workers from "./programs/workers.js";

const module = new URL("./programs/workers.ts", import.meta.url).href;

async function started(): Promise<Service<Workers>> {
  return await run(Workers, { hosts: 2, module, hostHeapMb: 64, onFailure: () => {} });
}

for (const how of ["end", "exhaust"] as const) {
  test(`without a journal, an anonymous context's event that kills its host fails alone: ${how}`, async () => {
    const { root, ...service } = await started();
    for (let round = 0; round < 3; round++) {
      for (let key = 0; key < 4; key++) assert.equal(await root.workers(key).double(key), 2 * key);
      await assert.rejects(root.workers(round)[how](), { code: "HW-6004", message: /host \d has ended/ });
    }
    for (let key = 0; key < 4; key++) assert.equal(await root.workers(key).double(key), 2 * key);
    await service.idle();
    await service.stop();
  });
}

test("events on other hosts go on when a host of anonymous contexts ends", async () => {
  const { root, ...service } = await started();
  // Of these keys, some are on either host: those that were not on the lost one still wait afterwards.
  const waiting = Array.from({ length: 16 }, (_, key) => root.workers(key).never());
  let failed = 0;
  for (const each of waiting) each.catch((error: { code: string }) => error.code === "HW-6004" && failed++);
  await assert.rejects(root.workers(0).end(), { code: "HW-6004" });
  assert.equal(await root.workers(0).double(4), 8);
  assert.ok(failed > 0 && failed < waiting.length, `${failed} failed`);
  await service.stop({ graceMs: 0 });
});

test("a host that had a context with state takes the program with it", async () => {
  const { root, ...service } = await started();
  for (let key = 0; key < 8; key++) await root.counters(key).add();
  await assert.rejects(root.workers(0).end(), { code: "HW-6001" });
  await assert.rejects(root.counters(0).add(), { code: "HW-6001" });
  await service.stop();
});
