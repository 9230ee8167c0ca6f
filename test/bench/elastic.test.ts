import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { troubleIn } from "../elastic/boxes.js";

const root = new URL("../../", import.meta.url);

type Line = Readonly<Record<string, number | string>>;

/** Runs a bench, looks at its figures, and returns its lines. */
async function bench(t: TestContext, name: string, pictures: readonly string[]): Promise<Line[]> {
  const folder = await mkdtemp(join(tmpdir(), "headwater-figures-"));
  t.after(() => rm(folder, { recursive: true }));
  const command = ["--import", "tsx", "bench/main.ts", name, "--quick", "--json", "--figures", folder];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
  assert.deepEqual((await readdir(folder)).sort(), [`${name}.json`, ...pictures].sort());
  for (const picture of pictures)
    assert.deepEqual(troubleIn(await readFile(join(folder, picture), "utf8")), []);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const data = JSON.parse(await readFile(join(folder, `${name}.json`), "utf8")) as { rows: unknown[] };
  assert.equal(data.rows.length, lines.length);
  for (const line of lines) {
    assert.equal(line.bench, name);
    assert.ok(
      Number(line.eventsPerSecond) > 0 && Number(line.ratio) > 0 && line.baseline !== undefined,
      JSON.stringify(line),
    );
  }
  return lines;
}

test("throughput measures one and two hosts, and simulates up to 128", async (t) => {
  const lines = await bench(t, "throughput", ["throughput.svg"]);
  const hosts = (kind: string) => [
    ...new Set(lines.filter((line) => line.case === kind).map((line) => line.hosts)),
  ];
  assert.deepEqual(hosts("real"), [1, 2]);
  assert.deepEqual(hosts("simulated"), [1, 2, 4, 8, 16, 32, 64, 128]);
  const heavy = lines.filter((line) => line.case === "simulated" && line.work === 1000);
  // How much more they do depends on what the head was measured to cost at that moment; that they do not do less, does not.
  const ratios = heavy.map(({ ratio }) => Number(ratio));
  assert.equal(ratios.length, 8);
  for (const [i, ratio] of ratios.entries()) assert.ok(ratio > 0.9 * (ratios[i - 1] ?? 1), ratios.join(", "));
});

test("migration moves contexts of several sizes under load, in both orders of commit", async (t) => {
  const lines = await bench(t, "migration", ["migration-latency.svg", "migration.svg"]);
  assert.deepEqual(
    lines.map((line) => line.case),
    ["move-4kB-observer", "move-100kB-observer", "move-4kB-total", "move-100kB-total"],
  );
  for (const line of lines)
    assert.ok(Number(line.moveMs) > 0 && Number(line.pauseMs) >= 0 && line.moves === 2);
});

test("kv-elastic keeps every put, on one host and on several", async (t) => {
  const lines = await bench(t, "kv-elastic", ["kv-elastic.svg"]);
  assert.deepEqual(
    lines.map((line) => line.case),
    ["one-host", "elastic"],
  );
});

test("game-elastic goes through its periods, with and without elasticity", async (t) => {
  const lines = await bench(t, "game-elastic", ["game-elastic.svg"]);
  assert.deepEqual(
    lines.map((line) => line.case),
    ["one-host", "elastic", "one-host"],
  );
});
