import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { removeLeftTables, tableDirectory } from "#src/journal/stream/table-directory.js";
import { Random } from "#src/random.js";
import { waitFor } from "../waits.js";

const DIST = new URL("../../dist/journal/stream/table-directory.js", import.meta.url).href;
/** Makes a table's directory, says where, and releases it when its input ends. */
const OWNER = `
  const { tableDirectory } = await import(process.argv[1]);
  const { path, release } = await tableDirectory({ parent: process.argv[2] });
  console.log(path);
  process.stdin.resume().on("end", () => release().then(() => process.exit(0)));
`;
const DAY_MS = 86_400_000;

function place(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), "headwater-tables-of-"));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  return parent;
}

const tables = (parent: string) => readdirSync(parent).sort();

class Owner {
  readonly path: Promise<string>;
  readonly #child: ChildProcess;
  isPaused = false;

  constructor(t: TestContext, parent: string) {
    this.#child = spawn(process.execPath, ["--input-type=module", "-e", OWNER, DIST, parent], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    t.after(() => this.#child.kill("SIGKILL"));
    assert.ok(this.#child.stdout);
    this.path = once(createInterface({ input: this.#child.stdout }), "line").then(([line]) => String(line));
  }

  pause(): void {
    this.isPaused = true;
    this.#child.kill("SIGSTOP");
  }

  async end(how: "killed" | "released"): Promise<void> {
    const ended = once(this.#child, "exit");
    if (how === "killed") this.#child.kill("SIGKILL");
    else this.#child.stdin?.end();
    await waitFor("for the end of an owner", ended);
  }
}

test("each process removes the tables of killed processes, and no table of one that lives or is stopped", async (t) => {
  const parent = place(t);
  const random = new Random(7);
  const owners = new Map<string, Owner>();
  const left = new Set<string>();
  for (let step = 0; step < 14; step++) {
    const names = [...owners.keys()];
    const does =
      names.length < 3 ? "begins" : random.pick(["begins", "killed", "killed", "released", "stops"] as const);
    if (does === "begins") {
      const owner = new Owner(t, parent);
      owners.set(basename(await waitFor("for a table", owner.path)), owner);
      left.clear(); // by the one that has begun
    } else {
      const name = random.pick(names);
      const owner = owners.get(name);
      assert.ok(owner);
      if (does === "stops") owner.pause();
      else {
        const how = does === "released" && !owner.isPaused ? "released" : "killed";
        await owner.end(how);
        owners.delete(name);
        if (how === "killed") left.add(name);
      }
    }
    assert.deepEqual(tables(parent), [...owners.keys(), ...left].sort(), `after ${step}: ${does}`);
  }
  assert.equal(await removeLeftTables({ parent }), left.size);
  assert.deepEqual(tables(parent), [...owners.keys()].sort());
});

test("what another machine may use, or a version that shows no owner, is kept for a week after it was used last", async (t) => {
  const parent = place(t);
  const [foreign, old] = ["headwater-table-foreign", "headwater-table-old"];
  const made = await tableDirectory({ parent });
  const own = basename(made.path);
  const boot = readFileSync(join(made.path, "owner.boot"), "utf8");
  for (const name of [foreign, old]) {
    const path = mkdtempSync(join(parent, `${name}-`));
    writeFileSync(join(path, "data"), "a table");
    if (name === foreign) writeFileSync(join(path, "owner.boot"), `${boot}0`);
  }
  writeFileSync(join(parent, "headwater-table-file"), "no directory");
  const before = tables(parent);
  assert.equal(before.length, 4);
  const now = Date.now();
  assert.equal(await removeLeftTables({ parent, now: () => now + 6 * DAY_MS }), 0);
  assert.deepEqual(tables(parent), before);
  const used = before.find((name) => name.startsWith(foreign)) ?? "";
  utimesSync(join(parent, used), (now + 5 * DAY_MS) / 1000, (now + 5 * DAY_MS) / 1000);
  assert.equal(await removeLeftTables({ parent, now: () => now + 8 * DAY_MS }), 1);
  assert.deepEqual(tables(parent), [own, used, "headwater-table-file"].sort());
  await made.release();
  assert.deepEqual(tables(parent), [used, "headwater-table-file"].sort());
});
