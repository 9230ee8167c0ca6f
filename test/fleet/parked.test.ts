import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  type FailedEvent,
  type HeadwaterError,
  MemoryJournal,
  parkedOf,
  type RunOptions,
  run,
} from "headwater";
import { until } from "../waits.js";
import Shop from "./programs/shop.js";

const module = new URL("./programs/shop.ts", import.meta.url).href;

async function directory(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-parked-"));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

/** A shop on one host process; what fails there is in `failed`. */
async function shop(t: TestContext, options: RunOptions) {
  const failed: FailedEvent[] = [];
  const service = await run(Shop, {
    hosts: 1,
    hostsAs: "processes",
    module,
    onWarning: () => {},
    onError: (failure) => void failed.push(failure),
    ...options,
  });
  t.after(() => service.stop({ graceMs: 0 }));
  return { service, failed, parcels: service.root.parcels, parked: parkedOf(service) };
}

test("a started event whose hosts are killed from outside again and again happens all the same", async (t) => {
  const at = await directory(t);
  const [gate, log] = [join(at, "gate"), join(at, "log")];
  const { service, failed, parcels } = await shop(t, { journal: new MemoryJournal() });
  await service.root.order(1, "send", gate, log);
  for (let kills = 1; kills <= 5; kills++) {
    await until(() => linesOf(log).length >= kills);
    process.kill(Number(linesOf(log).at(-1)), "SIGKILL");
  }
  await until(() => linesOf(log).length >= 6);
  writeFileSync(gate, "");
  await service.idle();
  assert.deepEqual(failed, []);
  assert.equal(await parcels(1).count(), 1);
});

test("an event that ends its hosts though they run nothing else is parked, and its neighbours go on", async (t) => {
  const at = await directory(t);
  const [gate, cure, log] = [join(at, "gate"), join(at, "cure"), join(at, "log")];
  const journal = join(at, "journal");
  const first = await shop(t, { journal });
  for (const parcel of [2, 3]) await first.service.root.order(parcel, "send", gate, join(at, `log${parcel}`));
  await first.service.root.order(1, "burn", cure, log);
  await until(() => first.failed.length > 0);
  writeFileSync(gate, "");
  await first.service.idle();
  assert.deepEqual(
    [await first.parcels(1).count(), await first.parcels(2).count(), await first.parcels(3).count()],
    [0, 1, 1],
  );
  const codes = first.failed.map(({ error }) => (error as HeadwaterError).code);
  assert.deepEqual(codes, ["HW-6031"]);
  await first.service.stop();

  const second = await shop(t, { journal });
  const [event, ...others] = second.parked.list();
  assert.ok(event !== undefined && others.length === 0);
  assert.deepEqual(
    [event.context, event.method, event.args, event.startedBy],
    ["Shop.parcels(1)", "burn", [cure, log], "start"],
  );
  assert.match(event.why, /SIGKILL/);
  assert.ok(event.hostsLost >= 4 && event.bytes > 0);
  await assert.rejects(second.parked.replay(event.id), { code: "HW-6031" });
  const [again] = second.parked.list();
  assert.ok(again !== undefined && again.id !== event.id);
  assert.equal(second.parked.list().length, 1);
  writeFileSync(cure, "");
  assert.equal(await second.parked.replay(again.id), 1);
  assert.deepEqual(second.parked.list(), []);
  assert.equal(await second.parcels(1).count(), 1);
  await assert.rejects(second.parked.replay(again.id), { code: "HW-6033" });
});

test("a parked event can be dropped", async (t) => {
  const at = await directory(t);
  const { service, failed, parked, parcels } = await shop(t, { journal: new MemoryJournal() });
  await service.root.order(1, "burn", join(at, "cure"), join(at, "log"));
  await until(() => failed.length > 0);
  const [event] = parked.list();
  await parked.drop(event?.id ?? "");
  assert.deepEqual(parked.list(), []);
  await assert.rejects(parked.drop(event?.id ?? ""), { code: "HW-6033" });
  assert.equal(await parcels(1).count(), 0);
});

test("a request that ends its hosts though they run nothing else is not parked: its caller hears of it", async (t) => {
  const at = await directory(t);
  const { parcels, parked } = await shop(t, { journal: new MemoryJournal() });
  await assert.rejects(parcels(1).burn(join(at, "cure"), join(at, "log")), { code: "HW-6003" });
  assert.deepEqual(parked.list(), []);
  assert.ok(linesOf(join(at, "log")).length >= 6); // three shared ones, then three alone
});

test("a program stops rather than lose an event for which there is no room among the parked", async (t) => {
  const at = await directory(t);
  const journal = new MemoryJournal();
  const stopped = new Promise<string>((resolve) => {
    void shop(t, { journal, limits: { parkedBytes: 10 }, onFailure: ({ code }) => resolve(code) }).then(
      ({ service }) => service.root.order(1, "burn", join(at, "cure"), join(at, "log")),
    );
  });
  assert.equal(await stopped, "HW-6032");
  writeFileSync(join(at, "cure"), "");
  const { service, parcels } = await shop(t, { journal });
  await service.idle();
  assert.equal(await parcels(1).count(), 1);
});
