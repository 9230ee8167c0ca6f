import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { needed } from "../needed.js";
import { temporaryDirectory } from "../store/support.js";
import { until } from "../waits.js";
import { Faults } from "./faults.js";
import { NotesProcess } from "./notes.js";

const execute = promisify(execFile);
const HOUR_MS = 3_600_000;

test("nothing is acknowledged before the disk has it, however slow the disk is", async (t) => {
  const journal = await temporaryDirectory(t);
  const faults = await Faults.of(t);
  const notes = await NotesProcess.start(t, journal, faults.environment);
  assert.equal(await notes.write("a", "first"), "ok");
  faults.holdSyncs();
  let isAnswered = false;
  const second = notes.write("a", "second").then((answer) => {
    isAnswered = true;
    return answer;
  });
  await until(() => faults.syncsHeld > 0);
  for (let i = 0; i < 100; i++) await turn(); // an answer that had been given would be here by now
  assert.equal(isAnswered, false);
  faults.releaseSyncs();
  assert.equal(await second, "ok");
});

test("a process that is killed while the disk is slow has lost nothing that it acknowledged", async (t) => {
  const journal = await temporaryDirectory(t);
  const faults = await Faults.of(t);
  const notes = await NotesProcess.start(t, journal, faults.environment);
  assert.equal(await notes.write("a", "acknowledged"), "ok");
  faults.holdSyncs();
  const lost = notes.write("b", "not acknowledged");
  await until(() => faults.syncsHeld > 0);
  notes.kill();
  assert.equal(await lost, "ended");
  const again = await NotesProcess.start(t, journal);
  assert.deepEqual(await again.read("a"), ["acknowledged", 0]);
});

for (const name of ["EIO", "ENOSPC", "EDQUOT"] as const) {
  test(`when a sync fails with ${name}, its events fail, nothing is acknowledged any more, and nothing is lost`, async (t) => {
    const journal = await temporaryDirectory(t);
    const faults = await Faults.of(t);
    const notes = await NotesProcess.start(t, journal, faults.environment);
    for (let i = 0; i < 20; i++) assert.equal(await notes.write(`${i}`, `text ${i}`), "ok");
    faults.failSyncs(constants.errno[name]);
    assert.equal(await notes.write("a", "not safe"), "HW-3006");
    assert.deepEqual(await notes.failed, ["HW-3006"]);
    faults.failSyncs(0);
    assert.equal(await notes.write("b", "too late"), "HW-3006", "what the disk has is not known any more");
    notes.kill();
    await notes.ended;
    const again = await NotesProcess.start(t, journal);
    for (let i = 0; i < 20; i++) assert.deepEqual(await again.read(`${i}`), [`text ${i}`, 0]);
    assert.equal(await again.write("a", "safe"), "ok");
  });
}

test("a really full file system loses nothing, and with more room everything goes on", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-full-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // A mount namespace of its own: the file system is gone with its last process.
  const isRoot = process.getuid?.() === 0;
  const inNamespace = [...(isRoot ? [] : ["--user", "--map-root-user"]), "--mount", "sh", "-c"];
  const script = 'mount -t tmpfs -o size=16m headwater "$1" && exec "$0" --import tsx "$2" "$1"';
  const program = fileURLToPath(new URL("programs/fill.ts", import.meta.url));
  const { stdout } = await execute(await needed(["unshare"], "util-linux"), [
    ...inNamespace,
    script,
    process.execPath,
    folder,
    program,
  ]);
  const report = JSON.parse(stdout) as {
    acknowledged: number;
    refused: string[];
    wrong: string[];
    then: string;
  };
  assert.ok(report.acknowledged > 10, stdout);
  assert.deepEqual(new Set(report.refused), new Set(["HW-3026"]), stdout);
  assert.deepEqual(report.wrong, [], "what was acknowledged is there");
  assert.equal(report.then, "ok");
});

for (const hours of [-1, 1]) {
  const direction = hours < 0 ? "back" : "ahead";
  test(`when the clock is set ${direction} by an hour, timers go off after their delay, and times of day follow it`, async (t) => {
    const journal = await temporaryDirectory(t);
    const faults = await Faults.of(t);
    const notes = await NotesProcess.start(t, journal, faults.environment);
    const rung = [notes.rings("before"), notes.rings("after")];
    const [, before] = await notes.later("before", 300);
    faults.shiftClock(hours * HOUR_MS);
    const [, after] = await notes.later("after", 300);
    const shift = (after as number) - (before as number);
    assert.equal(Math.round(shift / HOUR_MS), hours);
    await Promise.all(rung);
    await notes.later("far", 20 * HOUR_MS);
    assert.deepEqual(await notes.read("far"), ["", 0], "no timer goes off because the clock has jumped");
  });
}
