import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { needed } from "../needed.js";
import { newDirectory, Other } from "./support.js";

/** What `programs/filler.ts` says in the end. */
interface Report {
  readonly refused: string;
  readonly safeWhenFull: number;
  readonly appended: number;
  readonly codes: readonly string[];
  readonly found: number;
}

/** A file system of its own, which really has no room any more. Small tables, so that lmdb is at work all the time. */
for (const megabytes of [40, 48, 56, 64]) {
  test(`on a full disk of ${megabytes} MB nothing new is let in, nothing fails, and all goes on when there is room`, async (t) => {
    await needed(["unshare"], "util-linux");
    const directory = newDirectory(t);
    mkdirSync(directory);
    const mount = `mount -t tmpfs -o size=${megabytes}m headwater '${directory}'`;
    const script = `exec unshare -Urm sh -c "${mount} && exec \\"\\$0\\" \\"\\$@\\"" "$0" "$@"`;
    const other = new Other(t, "filler", [directory], script);
    const report = await other.hears(
      (said): said is Report => typeof said === "object" && said !== null && "refused" in said,
    );
    assert.deepEqual(await other.ended, { code: 0, signal: null });
    assert.equal(report.refused, "HW-3026");
    assert.ok(report.safeWhenFull > 10, `${report.safeWhenFull} groups were safe before`);
    assert.deepEqual(report.codes, [], "no group failed");
    assert.equal(report.found, report.appended, "every group is there");
  });
}
