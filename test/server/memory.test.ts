import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "headwater/client";
import { temporaryDirectory } from "../store/support.js";
import type { WarehouseApi, WarehouseOptions } from "./programs/warehouse.js";
import { RawSocket } from "./raw.js";

/**
 * Callers that make a service keep as much for them as they can, against a real process whose memory is measured; and an
 * honest client beside them, which must be served as if they were not there. Each of these attacks took more than a
 * gigabyte, or ended the process, when only counts were limited.
 */

const PROGRAM = fileURLToPath(new URL("programs/warehouse.ts", import.meta.url));
const MEGABYTE = 2 ** 20;
/** The process alone takes about 100 megabytes, and the largest share of one caller is 256. */
const PEAK_MAX = 600 * MEGABYTE;

interface Warehouse {
  readonly url: string;
  readonly port: number;
  /** The most memory that the process has had so far, in bytes. */
  peak(): number;
}

async function warehouse(t: TestContext, options: WarehouseOptions = {}): Promise<Warehouse> {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--import", "tsx", PROGRAM, JSON.stringify(options)],
    { stdio: ["pipe", "pipe", "inherit"] }, // it ends when the pipe does, however this process ends
  );
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  assert.ok(child.stdout);
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  const peak = () => {
    assert.equal(child.exitCode, null, "the process has ended");
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]);
  };
  return { url, port: Number(new URL(url).port), peak };
}

/** Lets somebody misbehave while an honest client goes on, and looks how much memory that took. */
async function attacked(
  t: TestContext,
  options: WarehouseOptions,
  misbehave: (warehouse: Warehouse) => Promise<void>,
  peakMax = PEAK_MAX,
): Promise<void> {
  const target = await warehouse(t, options);
  using honest = connect<WarehouseApi>(target.url, { backoffMs: 1 });
  let count = 0;
  let isOver = false;
  const before = target.peak();
  const working = (async () => {
    while (!isOver) {
      assert.equal((await honest.api.take("honest", 1000)).length, 1000);
      count += 1;
    }
  })();
  const megabytes = (bytes: number) => Math.round(bytes / MEGABYTE);
  const misbehaving = misbehave(target).finally(() => {
    isOver = true;
    t.diagnostic(`${megabytes(before)} MB before, at most ${megabytes(target.peak())} MB during the attack`);
  });
  await Promise.all([working, misbehaving]);
  assert.equal(await honest.api.taken("honest"), count, "each request had its effect once");
  assert.ok(target.peak() < peakMax, `${megabytes(target.peak())} MB`);
}

/** Posts under ever new keys, several at a time, and counts the statuses. */
async function keyedPosts(port: number, posts: number, bytes: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let sent = 0;
  const caller = async () => {
    while (sent < posts) {
      const key = `key-${++sent}`;
      const response = await fetch(`http://127.0.0.1:${port}/api/take`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(["attacked", bytes]),
      });
      if (response.status === 503) assert.equal(response.headers.get("retry-after"), "1");
      await response.arrayBuffer();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  return statuses;
}

test("1,500 requests with new keys and results of a megabyte do not fill the memory: some are refused", async (t) => {
  await attacked(t, {}, async ({ port }) => {
    const statuses = await keyedPosts(port, 1500, 1_000_000);
    assert.deepEqual([...statuses.keys()].toSorted(), [200, 503]);
  });
});

test("with a journal, the answers are there, and all are kept", async (t) => {
  await attacked(t, { journal: await temporaryDirectory(t) }, async ({ port }) => {
    const statuses = await keyedPosts(port, 400, 1_000_000);
    assert.deepEqual([...statuses], [[200, 400]]);
  });
});

test("a socket that does not read a thousand replies of a megabyte takes little memory, and gets all when it reads", async (t) => {
  await attacked(t, { serve: { limits: { stallMs: 600_000 } } }, async ({ url }) => {
    const socket = new RawSocket(t, url);
    await socket.hello();
    socket.ask(1, "take", "attacked", 1_000_000);
    await socket.reply(1);
    socket.ws.pause();
    for (let number = 2; number <= 1025; number++) socket.ask(number, "take", "attacked", 1_000_000);
    using other = connect<WarehouseApi>(url, { backoffMs: 1 });
    let before = -1;
    // As long as anything goes on there.
    for (let taken = 0; taken !== before; taken = await other.api.taken("attacked")) {
      before = taken;
      for (let i = 0; i < 50; i++) await other.api.taken("attacked");
    }
    socket.ws.resume();
    const code = (reply: unknown[]) => (reply[1] === true ? "ok" : (reply[2] as { code: string }).code);
    let heldBack = 0;
    for (let number = 2; number <= 1025; number++) {
      let outcome = "HW-4032";
      while (outcome === "HW-4032" || outcome === "HW-4030") {
        const reply = await socket.reply(number);
        socket.heard.splice(socket.heard.indexOf(reply), 1);
        outcome = code(reply);
        if (outcome !== "ok") heldBack += 1;
        if (outcome !== "ok") socket.ask(number, "take", "attacked", 1_000_000);
      }
      assert.equal(outcome, "ok");
      socket.say([0, "done", number + 1]);
    }
    assert.ok(heldBack > 0);
    assert.equal(await other.api.taken("attacked"), 1025, "each was done once");
  });
});

test("a client that never says which answers it has is refused in the end, and goes on when it does", async (t) => {
  await attacked(t, {}, async ({ url }) => {
    const socket = new RawSocket(t, url);
    await socket.hello();
    let number = 0;
    let refused = false;
    while (!refused) {
      assert.ok(number < 100_000, "no end of it");
      for (let i = 0; i < 100; i++) socket.ask(++number, "take", "attacked", 20_000);
      const last = await socket.reply(number);
      refused = last[1] !== true;
      if (refused) assert.equal((last[2] as { code: string }).code, "HW-4030");
      socket.heard.length = 0;
    }
    socket.say([0, "done", number]);
    socket.ask(++number, "take", "attacked", 20_000);
    assert.equal((await socket.reply(number))[1], true);
  });
});

test("a client that asks for more at once than its share gets all of it, a part at a time", async (t) => {
  const askMuch = async ({ url }: Warehouse) => {
    using client = connect<WarehouseApi>(url, { backoffMs: 1, timeoutMs: 600_000 });
    const results = await Promise.all(
      Array.from({ length: 600 }, () => client.api.take("attacked", 1_000_000)),
    );
    assert.ok(results.every((result) => result.length === 1_000_000));
    assert.equal(await client.api.taken("attacked"), 600, "each was done once");
  };
  await attacked(t, {}, askMuch, Number.POSITIVE_INFINITY); // it reads, so most of the memory is for the garbage collector
});
