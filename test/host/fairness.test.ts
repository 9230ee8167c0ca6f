import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Context, run } from "headwater";

class Spinner extends Context {
  turns = 0;

  /** Starts itself again, without end. */
  spin() {
    this.turns += 1;
    this.event.start(this.above(Spinner)).spin();
  }

  add() {
    this.turns += 1;
    return this.turns;
  }
}

test("events that start events without end leave timers, input and signals their turn", async () => {
  const service = await run(Spinner);
  await service.root.spin();
  await once(AbortSignal.timeout(1), "abort");
  const before = await service.root.add();
  await turn();
  assert.ok((await service.root.add()) > before);
  await service.stop();
});

test("requests that are awaited one after the other leave timers their turn", async () => {
  await using service = await run(Spinner);
  let timeIsUp = false;
  setTimeout(() => {
    timeIsUp = true;
  }, 1);
  while (!timeIsUp) await service.root.add();
});

test("a client's callback that throws does not stop the logical node", async () => {
  class Bell extends Context {
    ring() {
      this.event.send("ada", "ding");
      return "rung";
    }
  }
  await using service = await run(Bell);
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const ada = service.client("ada", () => {
    throw new Error("ada dropped it");
  });
  assert.equal(await ada.root.ring(), "rung");
  assert.equal(await ada.root.ring(), "rung");
  await turn();
  process.off("warning", onWarning);
  assert.deepEqual(
    warnings.map(({ name }) => name),
    ["HeadwaterCallbackFailed", "HeadwaterCallbackFailed"],
  );
  assert.match(String(warnings[0]?.message), /ada dropped it/);
});

test("a client that was closed can neither call nor be told", async () => {
  await using service = await run(Spinner);
  const ada = service.client("ada", () => {});
  assert.equal(await ada.root.add(), 1);
  ada.close();
  await assert.rejects(ada.root.add(), { code: "HW-1401" });
  const again = service.client("ada", () => {});
  assert.equal(await again.root.add(), 2);
  ada.close(); // closing the old one once more does not close the new one
  assert.equal(await again.root.add(), 3);
});
