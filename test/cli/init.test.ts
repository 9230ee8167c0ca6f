import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { commands } from "#src/cli/commands.js";
import { clock, node, synced } from "#src/cli/examine-machine.js";
import { TEMPLATES } from "#src/cli/templates.js";
import { headwater, packageWith, ROOT, runHere } from "./headwater.js";

const execute = promisify(execFile);

/** test/cli/packed.test.ts starts the projects, and runs their tests. */
describe("headwater init", () => {
  for (const template of Object.keys(TEMPLATES)) {
    test(`writes the template ${template}, which type-checks`, async (t) => {
      const folder = join(packageWith(t, {}), "my-app");
      const { exitCode, stderr } = await headwater("init", folder, "--template", template, "--no-install");
      assert.equal(exitCode, 0, stderr);
      mkdirSync(join(folder, "node_modules", "@types"), { recursive: true });
      for (const name of ["tsx", "typescript", "@types/node"])
        symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name), "dir");
      symlinkSync(ROOT, join(folder, "node_modules", "headwater"), "dir");
      await execute(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", folder], { cwd: folder });
    });
  }

  test("overwrites nothing, and knows its templates", async (t) => {
    const folder = packageWith(t, {});
    assert.equal((await runHere(folder, "init", ".")).exitCode, 2);
    const unknown = await runHere(folder, "init", "new", "--template", "chess");
    assert.equal(unknown.exitCode, 2);
    assert.match(unknown.stderr, /no template "chess"/);
  });
});

test("headwater completion prints what the shell itself can read, with all commands", async () => {
  const { stdout } = await headwater("completion", "bash");
  const script = `${stdout}\nCOMP_WORDS=(headwater ""); COMP_CWORD=1; _headwater; echo "\${COMPREPLY[@]}"`;
  const words = (await execute("bash", ["-c", script])).stdout.trim().split(" ");
  assert.deepEqual(
    words,
    commands.map(({ name }) => name),
  );
  const options = `${stdout}\nCOMP_WORDS=(headwater run --jo); COMP_CWORD=2; _headwater; echo "\${COMPREPLY[@]}"`;
  assert.equal((await execute("bash", ["-c", options])).stdout.trim(), "--journal");
  assert.match((await headwater("completion", "fish")).stdout, /-a doctor -d/);
  assert.match((await headwater("completion", "zsh")).stdout, /^autoload .*bashcompinit/);
  assert.equal((await headwater("completion", "tcsh")).exitCode, 2);
});

test("headwater doctor measures the disk, looks at ports and journals, and says what to do", async (t) => {
  const folder = packageWith(t, {});
  const { stdout } = await headwater("doctor", "--journal", folder, "--port", "0", "--json");
  const found = JSON.parse(stdout) as readonly { what: string }[];
  assert.deepEqual(
    found.map(({ what }) => what),
    ["node", "clock", "journal", "disk", "port"],
  );
  assert.equal((await headwater("doctor", "--port", "x")).exitCode, 2);
  assert.deepEqual(
    [node("20.18.3").verdict, node("20.19.0").verdict, node("24.0.0").verdict],
    ["wrong", "good", "good"],
  );
  assert.equal(clock(0).verdict, "wrong");
  assert.deepEqual(
    [[1, 2, 3], [20], [500]].map((times) => synced(times).verdict),
    ["good", "warning", "wrong"],
  );
});
