import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { blocksOf } from "../house/blocks.js";
import { MAIN, packageWith, ROOT } from "./headwater.js";
import { freePort } from "./ports.js";

const execute = promisify(execFile);

test("the session with curl in docs/streams.md does what the page says", async (t) => {
  const folder = packageWith(t, {});
  const port = await freePort();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  // `npx headwater serve` of this package, at a port of its own; what it says to people is no part of the session.
  const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${MAIN}" "$@" --port ${port} > serve.log 2>&1\n`;
  writeFileSync(join(bin, "npx"), npx);
  chmodSync(join(bin, "npx"), 0o755);
  const blocks = blocksOf(readFileSync(join(ROOT, "docs", "streams.md"), "utf8")).filter(
    ({ section }) => section === "A session with curl",
  );
  const script = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
  const printed = blocks.filter(({ language }) => language === "text").map(({ text }) => text);
  assert.equal(script.length, 2);
  const options = { cwd: folder, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } };
  try {
    const { stdout } = await execute(
      "bash",
      ["-c", script.join("").replaceAll("4400", String(port))],
      options,
    );
    assert.equal(stdout, printed.join(""));
  } finally {
    await execute("bash", ["-c", "kill -9 $(cat headwater-data/serve.pid) || true"], options);
  }
});
