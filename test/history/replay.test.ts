import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "headwater";
import { Running } from "../cli/headwater.js";
import Town from "./programs/town.js";

const PROGRAM = fileURLToPath(new URL("./programs/town.ts", import.meta.url));

/** A journal with a past, and the tickets of its events. */
async function journalOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const journal = join(folder, "data");
  const service = await run(Town, { journal, history: "1h" });
  const tickets: number[] = [];
  for (let n = 0; n < 3; n++) tickets.push(await service.root.both("a", "b", 3, 10 * n));
  await service.stop();
  const headwater = (...args: string[]) => new Running(args, folder).ended;
  return { journal, tickets, folder, headwater };
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => `${each.name} ${readFileSync(join(each.parentPath, each.name)).toString("base64")}`)
    .sort();
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

test("an event of the past does again what it did, and the journal stays as it is", async (t) => {
  const { journal, tickets, folder, headwater } = await journalOf(t);
  cpSync(journal, join(folder, "copy"), { recursive: true });
  for (const [n, ticket] of tickets.entries()) {
    const again = await headwater("replay", PROGRAM, journal, "--ticket", String(ticket), "--json");
    assert.equal(again.exitCode, 0, again.stderr);
    const { value, changes } = JSON.parse(again.stdout) as { value: number; changes: unknown[] };
    assert.equal(value, ticket, "it has its ticket");
    const shown = JSON.stringify(changes);
    assert.ok(shown.includes(`sign ${10 * n}`) && shown.includes(`sign ${10 * n + 1}`), shown);
    const diff = await headwater("journal", "diff", journal, "--ticket", `${ticket - 1}..${ticket}`);
    const lines = diff.stdout.trimEnd().split("\n");
    assert.deepEqual(
      changes.toSorted(byText),
      lines.map((line) => JSON.parse(line) as unknown).toSorted(byText),
    );
  }
  assert.deepEqual(filesOf(journal), filesOf(join(folder, "copy")));
});

test("the states as of a ticket are written, and a ticket out of range is refused with the range", async (t) => {
  const { journal, tickets, headwater } = await journalOf(t);
  const at = await headwater("journal", "at", journal, "--ticket", String(tickets[1]));
  assert.ok(at.stdout.includes("sign 10") && !at.stdout.includes("sign 20"), at.stdout);
  for (const args of [
    ["journal", "at", journal],
    ["replay", PROGRAM, journal],
  ]) {
    const { exitCode, stderr } = await headwater(...args, "--ticket", "999999999");
    assert.notEqual(exitCode, 0);
    assert.match(stderr, /HW-3029.*from ticket \d+ to \d+/);
  }
});
