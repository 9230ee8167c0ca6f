import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { StreamService, type StreamsOptions, type TenantStreams } from "headwater/streams";
import { Batch, encodeBatch } from "#src/streams/columns/index.js";
import { MemoryShares, type MemoryTenant } from "#src/streams/service/memory-shares.js";
import fc from "../properties.js";
import { until } from "../waits.js";

const MB = 2 ** 20;

/** A tenant that would retain so much, and has state besides that it cannot give up. */
class Retaining implements MemoryTenant {
  told = Number.POSITIVE_INFINITY;

  constructor(
    public wanted: number,
    public state: number,
  ) {}

  async retain(bytes: number | null): Promise<void> {
    this.told = bytes ?? Number.POSITIVE_INFINITY;
  }

  get retained(): number {
    return Math.min(this.wanted, this.told);
  }

  get bytes(): number {
    return this.state + this.retained;
  }
}

/** By bisection: as much for each as for the next, all together at most `total`. */
function fairly(wanted: readonly number[], total: number): number {
  let [low, high] = [0, total];
  for (let i = 0; i < 60; i++) {
    const level = (low + high) / 2;
    const sum = wanted.reduce((all, each) => all + Math.min(each, level), 0);
    if (sum <= total) low = level;
    else high = level;
  }
  return low;
}

const phase = fc.record({
  wanted: fc.array(fc.integer({ min: 0, max: 200 * MB }), { minLength: 1, maxLength: 12 }),
  state: fc.integer({ min: 0, max: 2 * MB }),
});

test("tenants hold what the service may together: small ones all they want, large ones as much as each other", async () => {
  const property = fc.asyncProperty(fc.array(phase, { minLength: 1, maxLength: 4 }), async (phases) => {
    let nowMs = 0;
    const total = 256 * MB;
    const shares = new MemoryShares(total, () => nowMs);
    const tenants = Array.from({ length: 12 }, () => new Retaining(0, 0));
    for (const { wanted, state } of phases) {
      for (const [i, tenant] of tenants.entries()) {
        tenant.wanted = wanted[i] ?? 0;
        tenant.state = state;
      }
      for (let turn = 0; turn < 20; turn++) {
        for (const tenant of tenants) {
          nowMs += 50;
          shares.tell(tenant, { bytes: tenant.bytes, retained: tenant.retained });
          await null;
          await null;
        }
      }
      const all = tenants.map((each) => each.state + each.wanted);
      const sum = all.reduce((a, b) => a + b, 0);
      const level = sum <= total ? Number.POSITIVE_INFINITY : fairly(all, total);
      const held = tenants.reduce((a, { bytes }) => a + bytes, 0);
      assert.ok(held <= 1.06 * total, `all hold ${held}`);
      for (const [i, tenant] of tenants.entries()) {
        const would = all[i] as number;
        if (would <= 0.6 * level) assert.equal(tenant.bytes, would, "a small tenant is limited");
        else assert.ok(tenant.bytes >= 0.6 * Math.min(would, level), `${tenant.bytes} of ${level}`);
        assert.ok(tenant.bytes <= 1.06 * level + 64 * 1024, `${tenant.bytes} is more than ${level}`);
        assert.equal(shares.isOver(tenant), null);
      }
    }
  });
  await fc.assert(property, { numRuns: 60 });
});

async function opened(t: TestContext, options: StreamsOptions): Promise<StreamService> {
  const service = await StreamService.open(options);
  t.after(() => service.close());
  return service;
}

/** Pushes batches of 64 kB until so many bytes were pushed. */
async function pushed(streams: TenantStreams, stream: string, bytes: number): Promise<void> {
  const rows = Array.from({ length: 64 }, (_, n) => [n, `${n} ${"x".repeat(1000)}`]);
  const batch = encodeBatch(Batch.of(streams.schemaOf(stream), rows));
  for (let left = bytes; left > 0; left -= batch.length) await streams.pushColumns(stream, batch);
}

const COLUMNS = { n: "bigint", text: "text" } as const;

async function firstOf(streams: TenantStreams, name: string): Promise<number> {
  return (await streams.describe(name)).first;
}

test("a tenant that retains much gives up rows, in memory and in the journal, and keeps to it after a restart", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-shares-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const options = { journal: join(folder, "journal"), memoryBytes: 8 * MB, durability: "written" } as const;
  const service = await StreamService.open(options);
  const [light, heavy] = [await service.tenant("light"), await service.tenant("heavy")];
  await light.registerStream("s", COLUMNS);
  for (const name of ["a", "b", "c", "d"]) await heavy.registerStream(name, COLUMNS);
  await heavy.registerStream("small", COLUMNS);
  await pushed(light, "s", MB);
  await pushed(heavy, "small", 64 * 1024);
  for (const name of ["a", "b", "c", "d"]) await pushed(heavy, name, 3 * MB);
  const heldBy = async (streams: TenantStreams) => {
    await streams.describe("s").catch(() => streams.describe("a"));
    return streams.list().reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  };
  await until(async () => (await heldBy(heavy)) <= 7.5 * MB);
  assert.ok((await heldBy(heavy)) >= 5 * MB, "it keeps its share");
  assert.equal(await firstOf(light, "s"), 1, "a tenant within its share gives up nothing");
  assert.equal(await firstOf(heavy, "small"), 1, "nor does a small stream of a tenant beyond it");
  await service.close();
  const again = await opened(t, options);
  const heavyAgain = await again.tenant("heavy");
  assert.ok((await heldBy(heavyAgain)) <= 7.5 * MB);
  await pushed(heavyAgain, "a", 3 * MB);
  assert.ok((await heldBy(heavyAgain)) <= 7.5 * MB, "the limit is part of the graph");
});

test("a tenant whose state alone is more than its share takes no rows until there is room", async (t) => {
  const service = await opened(t, { memoryBytes: 4 * MB });
  const [light, heavy] = [await service.tenant("light"), await service.tenant("heavy")];
  await light.registerStream("s", COLUMNS);
  await heavy.registerStream("t", COLUMNS, { key: ["text"] });
  const rowsOf = (from: number) =>
    Array.from({ length: 1000 }, (_, n) => ({ n, text: `${from + n} ${"y".repeat(1000)}` }));
  for (let at = 0; at < 6000; at += 1000) await heavy.pushEvents("t", rowsOf(at));
  const refusal = async () =>
    await heavy.pushEvents("t", [{ n: 1, text: "one more" }]).then(
      () => null,
      (error: unknown) => String(error),
    );
  await until(async () => (await refusal()) !== null);
  assert.match((await refusal()) ?? "", /HW-5540: .* hold the 4194304 bytes .* Nothing was pushed/);
  await light.pushEvents("s", [{ n: 1, text: "others go on" }]);
  await heavy.deregister("t");
  await heavy.registerStream("t", COLUMNS);
  assert.equal(await refusal(), null);
});

test("what streams retain is what the process takes: its memory with a limit and without", async () => {
  const program = new URL("programs/retaining.ts", import.meta.url).pathname;
  const grownMb = async (memoryMb: number) => {
    const args = ["--expose-gc", "--import", "tsx", program, String(memoryMb)];
    return Number((await promisify(execFile)(process.execPath, args)).stdout);
  };
  const [limited, unlimited] = await Promise.all([grownMb(16), grownMb(4096)]);
  assert.ok(unlimited > 320, `320 MB are retained, and the process grew by ${unlimited} MB`);
  assert.ok(limited < 0.4 * unlimited, `16 MB are retained, and the process grew by ${limited} MB`);
});
