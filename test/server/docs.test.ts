import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ROOT, Running } from "../cli/headwater.js";
import { blocksOf } from "../house/blocks.js";

/** The command lines of pages about programs that are served say what the page says they say. */

const execute = promisify(execFile);
/** How the output of each program's main ends. */
const ENDS: Readonly<Record<string, string>> = {
  "examples/kv": "deleted delta",
  "examples/bank": "changes nothing",
  "examples/auction": "spent: ben 310",
};
const blocks = ["docs/server.md", "docs/contexts-and-streams.md"].flatMap((page) =>
  blocksOf(readFileSync(join(ROOT, page), "utf8"))
    .filter(({ section }) => section === "From the command line")
    .map((block) => ({ page, ...block })),
);

test("the pages show how to serve a program", () => assert.equal(blocks.length, 3));

for (const { page, text, line } of blocks) {
  test(`${page}:${line} answers what the page says`, async (t) => {
    const [start = "", ...rest] = text.trimEnd().split("\n");
    const [, program = ""] = /^npx headwater run (\S+) --port 8080$/.exec(start) ?? [];
    const running = new Running(["run", program, "--port", "0"], ROOT);
    t.after(async () => {
      running.interrupt();
      assert.equal((await running.ended).exitCode, 0);
    });
    await running.hasWritten("Listening on ");
    await running.hasWritten(ENDS[program] ?? ""); // what main did is part of what the page shows
    const url = /Listening on (\S+)/.exec(running.stderr)?.[1] ?? "";
    for (let i = 0; i < rest.length; i += 2) {
      const command = rest[i]?.replace("http://127.0.0.1:8080", url) ?? "";
      assert.match(command, /^curl /);
      const { stdout } = await execute("sh", ["-c", command]);
      assert.equal(stdout, rest[i + 1], rest[i]);
    }
  });
}
