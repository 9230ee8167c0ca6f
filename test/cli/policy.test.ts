import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { lineOf } from "#src/elastic/load.js";
import { loadOf } from "../elastic/loads.js";
import { headwater, packageWith, Running, runHere } from "./headwater.js";

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "headwater-policy-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const rising = [...loadOf({ seconds: 30, hostsAt: (second) => 0.2 + second / 20, costMs: 5 })]
  .map(lineOf)
  .join("\n");

test("policy try says what the policy did, when and why, and what fixed numbers of hosts would have given", async (t) => {
  const folder = folderWith(t, { load: rising });
  const svg = join(folder, "out.svg");
  const { exitCode, stdout } = await headwater(
    "policy",
    "try",
    "--load",
    join(folder, "load"),
    "--hosts",
    "1..3",
    "--svg",
    svg,
  );
  assert.equal(exitCode, 0);
  assert.match(
    stdout,
    /^after \d+ s a host is added: hosts are busy for \d\d% of the time on average, more than 70%\.$/m,
  );
  assert.match(stdout, /^policy .* 0$/m);
  assert.match(stdout, /^1 fixed /m);
  assert.match(stdout, /^3 fixed /m);
  assert.match(readFileSync(svg, "utf8"), /^<svg /);
});

test("a policy of one's own is loaded from TypeScript, with the same limits", async (t) => {
  const policy = `
    import type { Policy } from "headwater";
    const eager: Policy = () => [{ kind: "add", count: 9, reason: "why not" }];
    export default eager;`;
  const folder = packageWith(t, {
    "policy.ts": policy,
    "bounds.ts": "export default { queueMs: [1, 20] };",
    load: rising,
  });
  const args = ["policy", "try", "--load", "load", "--hosts", "1..3", "--json"];
  const own = JSON.parse((await runHere(folder, ...args, "--policy", "policy.ts")).stdout);
  assert.equal(own.hostsMax, 3);
  assert.deepEqual(own.decisions[0].action, { kind: "add", count: 2, reason: "why not" });
  const bounds = JSON.parse((await runHere(folder, ...args, "--policy", "bounds.ts")).stdout);
  assert.match(bounds.decisions[0].action.reason, /^events wait on their hosts for/);
});

test("what is not a load or not a policy is refused with the line or the reason", async (t) => {
  const folder = folderWith(t, {
    load: rising,
    bad: `${rising}\n{"atMs": -1}`,
    empty: "",
    "no.mjs": "export default 3;",
  });
  const tried = (...args: string[]) => headwater("policy", "try", ...args, "--json");
  const at = (name: string) => join(folder, name);
  const codeOf = (stdout: string) => (JSON.parse(stdout) as { code: string }).code;
  const bad = await tried("--load", at("bad"));
  assert.deepEqual([bad.exitCode, codeOf(bad.stdout)], [2, "HW-6022"]);
  assert.match(bad.stdout, /line \d+ of the load is not an event: atMs is not/);
  assert.equal(codeOf((await tried("--load", at("empty"))).stdout), "HW-6022");
  assert.equal(codeOf((await tried("--load", at("missing"))).stdout), "HW-2004");
  assert.equal(codeOf((await tried()).stdout), "HW-2001");
  assert.equal(codeOf((await tried("--load", at("load"), "--hosts", "4..1")).stdout), "HW-2001");
  assert.equal(codeOf((await tried("--load", at("load"), "--policy", at("no.mjs"))).stdout), "HW-6021");
});

const town = `
  import { Context } from "headwater";
  class House extends Context {
    visit(ms) { const until = performance.now() + ms; while (performance.now() < until); }
  }
  export default class Town extends Context { houses = this.children(House); }
  export async function main({ root }, io) {
    const busy = async (house) => { while (!io.signal.aborted) await root.houses(house).visit(2); };
    await Promise.all([0, 1, 2, 3, 4, 5].map(busy));
  }`;

test("run says what is done about hosts, and records a load that a policy can be tried under", async (t) => {
  const bounds = "export default { utilisation: [0.05, 0.2] };";
  const folder = packageWith(t, { "town.js": town, "bounds.js": bounds });
  const args = ["run", "town.js", "--hosts", "1..2", "--policy", "bounds.js", "--record-load", "town.load"];
  const running = new Running(args, folder);
  await running.hasWritten("a host is added: hosts are busy for");
  running.interrupt();
  const { stderr, exitCode } = await running.ended;
  assert.equal(exitCode, 0);
  assert.match(stderr, /^Running Town from town\.js, on 1 to 2 hosts, in memory\./m);
  const tried = await runHere(folder, "policy", "try", "--load", "town.load", "--json");
  assert.ok(JSON.parse(tried.stdout).events > 100);
});

test("run refuses a policy without a range of hosts, and a range that is none", async (t) => {
  const folder = packageWith(t, {
    "town.js": town,
    "bounds.js": "export default { utilisation: [0.1, 0.2] };",
  });
  assert.match(
    (await runHere(folder, "run", "town.js", "--policy", "bounds.js")).stderr,
    /it needs --hosts MIN\.\.MAX/,
  );
  assert.match(
    (await runHere(folder, "run", "town.js", "--hosts", "2..1")).stderr,
    /--hosts is a number from 1 to 256/,
  );
  const dark = await runHere(folder, "run", "town.js", "--hosts", "2", "--record-load", "no/such/folder");
  assert.match(dark.stderr, /no\/such\/folder cannot be written/);
});

test("policy try says so if its picture cannot be written", async (t) => {
  const folder = folderWith(t, { load: '{"atMs": 1, "context": ["Town", "houses(1)"], "costMs": 1}' });
  const svg = join(folder, "nowhere", "out.svg");
  const { exitCode, stderr } = await headwater("policy", "try", "--load", join(folder, "load"), "--svg", svg);
  assert.equal(exitCode, 2);
  assert.match(stderr, /^error HW-2001: .*out\.svg cannot be written: ENOENT/);
});
