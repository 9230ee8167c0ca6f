import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { compile, link, withMap } from "headwater/fluxion";
import { compileApart } from "#src/fluxion/apart.js";
import { ROOT } from "../house/source.js";
import { refused } from "../refused.js";

const MARKDOWN = join(ROOT, "examples", "fluxion", "markdown-server", "index.js");

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "headwater-apart-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

test("a program is compiled in a process of its own as it is here", async () => {
  const here = link(compile(MARKDOWN));
  const apart = await compileApart({ file: MARKDOWN, packages: [], trivial: false });
  const texts = (generated: typeof here.files) => [...generated].map(([name, each]) => [name, withMap(each)]);
  assert.ok(here.workers.size > 0);
  assert.deepEqual([...apart.files], texts(here.files));
  assert.deepEqual([...apart.workers], texts(here.workers));
  assert.deepEqual(apart.manifest, here.manifest);
});

test("why it cannot be compiled is told as it is here", async (t) => {
  const folder = folderWith(t, { "app.js": "", "headwater.fluxions.json": "{" });
  const compiling = compileApart({ file: join(folder, "app.js"), packages: [], trivial: false });
  await refused(compiling, "HW-7001", "headwater.fluxions.json cannot be read");
});

test("if the process that compiles ends in the middle of it, that is told", async () => {
  const compiling = compileApart({ file: MARKDOWN, packages: 7 as never, trivial: false }); // which is a bug there
  await refused(compiling, "HW-7001", MARKDOWN, "ended with code 1");
});

test("what Node is told to load before a program is loaded once, for the program", async (t) => {
  const folder = folderWith(t, {
    "before.cjs": `console.log("before");`,
    "app.cjs": `require("node:http").createServer((req, res) => res.end(req.url)); console.log("app");`,
  });
  const child = spawn(
    process.execPath,
    [join(ROOT, "dist", "cli", "main.js"), "run", "--fluxions", join(folder, "app.cjs")],
    {
      env: { ...process.env, NODE_OPTIONS: `--require ${join(folder, "before.cjs")}` },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  assert.equal(await text(child.stdout), "before\napp\n");
});
