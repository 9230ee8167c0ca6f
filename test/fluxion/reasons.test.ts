import assert from "node:assert/strict";
import { test } from "node:test";
import { showPipeline } from "headwater/fluxion";
import { compileText, EXPRESS, stageNames } from "./compiling.js";

test("variables of a function in another file are its own, wherever in their files both stand", () => {
  const body = "let sum = 0;\n  for (let i = 0; i < 9; i++) { const x = i; sum += x; }\n  return sum;";
  const before = "// A long beginning.\n".repeat(9);
  const helper = `exports.sum = function sum() {\n  ${body}\n${before.repeat(9)}};`;
  const text = `${before}const { sum } = require("./sum.cjs");
async function all() { return sum(); }
${EXPRESS}let hits = 0;
app.get("/", async function handler(req, res) { hits++; res.send(String(await all())); });`;
  const compiled = compileText(text, { "sum.cjs": helper });
  assert.ok(stageNames(compiled).includes("awaited all"), JSON.stringify(compiled.pipeline.diagnostics));
});

test("no more than a handful of reasons of one kind is shown", () => {
  const writes = Array.from({ length: 20 }, (_, i) => `a${i} = req.url;`).join("\n");
  const names = Array.from({ length: 20 }, (_, i) => `a${i}`).join(", ");
  const text = `${EXPRESS}let ${names};\napp.get("/", function handler(req, res) {\n${writes}\neval(req.url);\n});`;
  const { pipeline } = compileText(text);
  const shown = showPipeline(pipeline, "/").split("\n");
  assert.equal(shown.filter((line) => line.includes("HW-7002")).length, 3);
  assert.equal(shown.filter((line) => line.includes("HW-7007")).length, 1);
  assert.ok(pipeline.diagnostics.length > 20);
  const all = pipeline.diagnostics.filter(({ code }) => code === "HW-7002").length;
  assert.ok(shown.includes(`      … and ${all - 3} more like it`), shown.join("\n"));
});
