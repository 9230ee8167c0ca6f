import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Worth } from "#src/fluxion/runtime/worth.js";
import { ROOT } from "../house/source.js";
import { compiled, plain } from "./both-ways.js";
import { EXPRESS } from "./compiling.js";

const PROGRAM = `${EXPRESS}
function inner(x) { let s = 0; for (let i = 0; i < 1e4; i++) s += i; return x.a.b + s; }
app.get("/part", function thrower(req, res) { for (const x of [1]) inner(req.query); res.send("x"); });
app.get("/next", function passing(req, res, next) { let x = 0; for (const y of [1]) x += y; next(new Error(String(x))); });
let hits = 0;
app.get("/cut", function cutter(req, res) { hits++; const t = inner(req.query); res.send(String(t)); });
app.get("/arrow", async (req, res) => { hits++; const t = await inner(req.query); res.send(String(t)); });
app.use(function failed(err, req, res, next) {
  const lines = err.stack.split("\\n").map((line) => line.trim());
  res.json([lines.slice(0, req.path === "/next" ? 2 : 3), lines.filter((line) => /(src|dist).fluxion|__flx/.test(line))]);
});
const server = app.listen(0, () => console.log(\`listening on \${server.address().port}\`));
`;

test("stacks of errors from workers name the program's own functions and nothing else", async (t) => {
  await mkdir(join(ROOT, ".cache"), { recursive: true });
  const folder = await mkdtemp(join(ROOT, ".cache", "stacks-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "app.cjs");
  await writeFile(file, PROGRAM);
  const asked = { file, requests: ["GET /part", "GET /next", "GET /cut", "GET /arrow"], alone: true };
  const [before, after] = await Promise.all([plain(asked), compiled(asked)]);
  assert.deepEqual(after.answers.map(shownSame), before.answers.map(shownSame));
  assert.match(before.answers[0] ?? "", /at inner .*at thrower/);
  for (const name of ["thrower", "passing", "inner"])
    assert.ok(
      after.stages.some((each) => each.name === name && each.inWorkers > 0),
      name,
    );
});

/** Node leaves out the name of a function that has none; with source maps it says so. */
function shownSame(answer: string): string {
  return answer
    .replace(/at (?:async )?<anonymous> \(([^)]*)\)/g, "at $1")
    .replace(/Content-Length.*|ETag.*/g, "");
}

test("a profile has also what was called only once", () => {
  const worth = new Worth(2, false, true);
  worth.tookHere(1.5);
  assert.equal(worth.localMs, 1.5);
  worth.tookHere(0.5);
  assert.equal(worth.localMs, 0.5);
  const measuring = new Worth(2, null);
  measuring.tookHere(1.5);
  assert.equal(measuring.localMs, null);
});
