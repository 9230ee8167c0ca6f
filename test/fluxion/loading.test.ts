import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { compile } from "headwater/fluxion";
import { ROOT } from "../house/source.js";
import { compiled, plain, writtenOut } from "./both-ways.js";
import { compileText, EXPRESS, stageNames } from "./compiling.js";

const HEAVY = "function heavy() { let s = 0; for (let i = 0; i < 1e5; i++) s += i % 7; return s; }\n";
const PROGRAM = `${EXPRESS}${HEAVY}
const seen = [];
for (const name of ["first", "second"]) {
  try { name === "first" ? require("./broken.cjs") : require("./missing.cjs"); } catch (error) { seen.push(error.name); }
}
try { require("./bad.json"); } catch (error) { seen.push(error.name); }
try { require("no-such-package"); } catch (error) { seen.push(error.code); }
console.log(seen.join());
app.get("/", function handler(req, res) { res.send(String(heavy())); });
app.get("/late", async function late(req, res) {
  const names = [];
  try { await import("./broken.mjs"); } catch (error) { names.push(error.name); }
  try { require("./missing.cjs"); } catch (error) { names.push(error.code, error.message.split("\\n")[0]); }
  res.json([...names, heavy()]);
});
const server = app.listen(0, () => console.log(\`listening on \${server.address().port}\`));
`;

describe("a file that Node cannot load either", () => {
  test("is left to Node, and the rest of the program is compiled", async (t) => {
    await mkdir(join(ROOT, ".cache"), { recursive: true });
    const folder = await mkdtemp(join(ROOT, ".cache", "broken-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const files = { "app.cjs": PROGRAM, "broken.cjs": "const a = ;", "broken.mjs": "export const a = ;" };
    for (const [name, text] of Object.entries({ ...files, "bad.json": "{ bad" }))
      await writeFile(join(folder, name), text);
    const asked = { file: join(folder, "app.cjs"), requests: ["GET /", "GET /late"] };
    const [before, after] = await Promise.all([plain(asked), compiled(asked)]);
    const { stages, ...seen } = after;
    assert.deepEqual(seen, before);
    assert.match(before.stdout, /^SyntaxError,Error,SyntaxError,MODULE_NOT_FOUND/);
    assert.ok(stages.some(({ name, inWorkers }) => name === "handler" && inWorkers > 0));
    const written = await writtenOut({ ...asked, requests: ["GET /"] });
    assert.equal(written.stdout, before.stdout);
  });

  test("is named, with the place that loads it", () => {
    const text = `${EXPRESS}try { require("./broken.cjs"); } catch {}\n`;
    const [said, ...others] = compileText(text, { "broken.cjs": "const a = ;" }).pipeline.diagnostics;
    assert.deepEqual([said?.code, said?.subject, said?.place.line], ["HW-7001", "broken.cjs", 4]);
    assert.match(said?.reason ?? "", /nothing is known of this file.*broken\.cjs:1:11/);
    assert.deepEqual(others, []);
  });

  test("is unknown to those who load it", () => {
    const text = `${EXPRESS}const broken = require("./broken.cjs");
app.get("/", function handler(req, res) { res.send(broken.render(req.url)); });`;
    const found = compileText(text, { "broken.cjs": "const a = ;" });
    assert.deepEqual(stageNames(found), []);
    assert.ok(
      found.pipeline.diagnostics.some(({ code, subject }) => code === "HW-7004" && subject === "handler"),
    );
  });

  test("is an error as the program itself", () => {
    assert.throws(() => compileText("const a = ;"), { code: "HW-7001" });
  });
});

describe("a file with `require` that Node takes for an ES module", () => {
  const said = (text: string, name: string) =>
    compileText(text, {}, { name }).pipeline.diagnostics.filter(({ code }) => code === "HW-7001");

  test("is said to fail", () => {
    const [first, ...others] = said(EXPRESS, "app.mjs");
    assert.deepEqual(others, []);
    assert.equal(first?.place.line, 1);
    assert.match(first?.reason ?? "", /ES module, where there is no `require`: this call will fail/);
  });

  test("also by the package.json beside it", async (t) => {
    await mkdir(join(ROOT, ".cache"), { recursive: true });
    const folder = await mkdtemp(join(ROOT, ".cache", "typed-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(folder, "app.js"), EXPRESS);
    const { diagnostics } = compile(join(folder, "app.js")).pipeline;
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ["HW-7001"],
    );
  });

  test("unless it makes one", () => {
    const own =
      'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\n';
    assert.deepEqual(said(`${own}const fs = require("fs");`, "app.mjs"), []);
    assert.deepEqual(said(EXPRESS, "app.cjs"), []);
  });
});
