import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../house/source.js";
import { compiled } from "./both-ways.js";

const PROGRAM = `
const express = require("express");
const app = express();
app.get("/grow/:lines", function grow(req, res) {
  const all = [];
  for (let i = 0; i < Number(req.params.lines); i++) all.push((i + " ").repeat(10).split(" "));
  res.send("kept " + all.length);
});
app.use(function failed(err, req, res, next) {
  res.status(500).send(err.code);
});
const server = app.listen(0, () => console.log("listening on " + server.address().port));
`;

test("a stage that runs out of memory fails its request; its worker is replaced, and the server lives on", async (t) => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "memory-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "app.cjs");
  writeFileSync(file, PROGRAM);
  const lines = [10, 5e6, 20, 5e6, 30];
  const requests = lines.map((each) => `GET /grow/${each}`);
  const { answers, stages, exitCode } = await compiled({ file, requests, alone: true, heapMb: 96 });
  assert.deepEqual(
    answers.map((each) => [/ (\d+) /.exec(each)?.[1], each.split("\r\n\r\n")[1]]),
    lines.map((each) => (each > 1000 ? ["500", "HW-7101"] : ["200", `kept ${each}`])),
  );
  assert.equal(exitCode, 0);
  const grow = stages.find(({ name }) => name === "grow");
  assert.deepEqual([grow?.inWorkers, grow?.here, grow?.lost], [3, 0, 2]);
});
