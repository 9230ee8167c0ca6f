import assert from "node:assert/strict";
import { test } from "node:test";
import { allOf, newDirectory, Other, openIn } from "./support.js";

/** What `programs/filler.ts` says in the end. */
interface Report {
  readonly safe: number;
  readonly codes: readonly string[];
  readonly message: string;
}

/** The shell limits how large a file may become, which fails a write as a full disk does, in the middle of a commit. */
const LIMITED = 'ulimit -f "$1"; shift; exec "$0" "$@"';

test("when the disk takes no more, what was acknowledged stays, and nothing is acknowledged any more", async (t) => {
  const directory = newDirectory(t);
  const other = new Other(t, "filler", [directory], `set -- 8192 "$@"; ${LIMITED}`);
  const report = await other.hears(
    (said): said is Report => typeof said === "object" && said !== null && "safe" in said,
  );
  assert.deepEqual(await other.ended, { code: 0, signal: null });
  assert.ok(report.safe > 10, `${report.safe} groups were safe before the limit was reached`);
  assert.deepEqual(new Set(report.codes), new Set(["HW-3006"]));
  assert.ok(report.codes.length >= 20, "those in flight and those that came later");
  assert.ok(report.message.includes(directory) && report.message.includes("a commit failed"), report.message);

  const journal = await openIn(t, directory);
  const found = Object.entries(allOf(journal));
  assert.ok(found.length % 2 === 0, "no group is there in part");
  const groups = found.length / 2;
  assert.ok(groups >= report.safe, `${report.safe} groups were safe, ${groups} are there`);
  assert.ok(groups < report.safe + 20, "what was refused later is not there");
});
