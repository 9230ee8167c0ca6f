import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { ROOT } from "../house/source.js";
import { type Compared, Comparison } from "./fuzz/compare.js";
import { CHEATS } from "./fuzz/program/cheats.js";
import type { Program } from "./fuzz/program/generate.js";
import { Elsewhere } from "./fuzz/threads.js";

mkdirSync(join(ROOT, ".cache"), { recursive: true });
const folder = mkdtempSync(join(ROOT, ".cache", "cheats-"));
const elsewhere = new Elsewhere();
after(async () => {
  await elsewhere.end();
  rmSync(folder, { recursive: true, force: true });
});

/** One program with one package that cheats, which is asked and changed in turns. */
function programWith({ text, calls, more, writes, shown }: (typeof CHEATS)[string]): Program {
  const change = writes?.("kept")[0]?.("2") ?? "";
  const app = `const express = require("express");
const app = express();
const kept = require("cheat-kept");
${more?.("kept") ?? ""}
${calls("kept")
  .map(
    (call, i) => `app.get("/${i}", function handler${i}(req, res) {
  let n = 7;
  for (let i = 0; i < 3; i++) n = (n * 31 + i) % 997;
  res.send(String(n) + " " + String(${call}));
});`,
  )
  .join("\n")}
app.get("/change", (req, res) => { ${change} res.send("changed"); });
app.get("/state", (req, res) => { res.send(String([kept.seen(), ${shown?.("kept") ?? ""}])); });
`;
  const paths = [
    "/0?q=one",
    "/0?q=two",
    ...calls("kept").map((_, i) => `/${i}?q=one`),
    "/change",
    "/0?q=one",
  ];
  return {
    files: {
      "app.js": app,
      "package.json": "{}",
      "node_modules/cheat-kept/index.js": text,
      "node_modules/cheat-kept/package.json": "{}",
    },
    entry: "app.js",
    requests: paths.map((path, nth) => ({ method: "GET", path, body: "", nth })),
    isSteady: true,
    isSynchronous: false,
    schedule: [0],
  };
}

function run(cheat: (typeof CHEATS)[string], isTrusting: boolean): Promise<Compared> {
  return new Comparison(folder, elsewhere, {}, isTrusting).compare(programWith(cheat));
}

describe("a package that only looks as if it computed", () => {
  for (const [name, cheat] of Object.entries(CHEATS)) {
    test(`${name}: its callers stay, and who believes it is found out`, async () => {
      assert.equal((await run(cheat, false)).difference, null);
      const { moved, difference } = await run(cheat, true);
      assert.notEqual(difference, null, `nothing was noticed of ${moved} calls elsewhere`);
    });
  }
});
