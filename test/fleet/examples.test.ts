import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../", import.meta.url));
const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

async function shown(example: string, hosts: number): Promise<string> {
  const args = [cli, "run", `examples/${example}`, "--hosts", String(hosts)];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: root });
  assert.match(stderr, hosts === 1 ? /, on one host, / : new RegExp(`, on ${hosts} hosts, `));
  return stdout;
}

for (const [example, ...several] of [
  ["kv", 2, 4],
  ["game", 2],
  ["life", 2],
  ["bank", 4],
] as const) {
  test(`${example} shows the same, byte for byte, on 1 host and on ${several.join(" and ")}`, async () => {
    const alone = await shown(example, 1);
    assert.ok(alone.length > 0);
    for (const hosts of several) assert.equal(await shown(example, hosts), alone);
  });
}

test("--hosts takes a number of hosts", () => {
  for (const hosts of ["0", "many", "1000"]) {
    const { status, stderr } = spawnSync(process.execPath, [cli, "run", "examples/kv", "--hosts", hosts], {
      encoding: "utf8",
    });
    assert.equal(status, 2);
    assert.match(stderr, /HW-2001: --hosts is a number/);
  }
});
