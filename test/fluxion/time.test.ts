import assert from "node:assert/strict";
import { test } from "node:test";
import { byTime, type SampledTime, showTime } from "headwater/fluxion";
import { compileText, EXPRESS } from "./compiling.js";

const TEXT = `${EXPRESS}const md = new (require("markdown-it"))();
const showdown = require("some-markdown");
const cache = {};
const helper = (text) => showdown(text);
app.get("/free", async (req, res) => { res.send(md.render(String(req.query.a))); });
app.get("/stays", async (req, res) => { const html = helper(String(req.query.a)); cache[req.url] = html; res.send(html); });
app.get("/small", (req, res) => { cache.n = 1; res.end(); });
`;

const { pipeline } = compileText(TEXT);
const [
  {
    place: { file },
  } = { place: { file: "" } },
] = pipeline.parts;
const folder = file.replace(/\/app\.cjs$/, "");
const chain = (
  lines: readonly [line: number, column: number][],
  ms: number,
  within: string | null = null,
) => ({
  functions: lines.map(([line, column]) => `${file}:${line}:${column}`),
  within,
  ms,
});
const time: SampledTime = {
  totalMs: 10_000,
  chains: [
    chain([], 500),
    chain([[8, 24]], 1000),
    chain([[9, 25]], 300),
    chain(
      [
        [9, 25],
        [7, 16],
      ],
      8000,
      "some-markdown",
    ),
    chain([[10, 19]], 50),
    chain([[7, 16]], 150),
  ],
};

test("a profile says where the time goes, why that stays, and what would free it", () => {
  const shown = showTime(pipeline, time, folder).split("\n");
  assert.match(shown[0] ?? "", /^Where the time goes \(10\.0 s in which the main loop was busy\)$/);
  assert.match(shown[1] ?? "", /^ {3}83 % GET \/stays \(app\.cjs:9:19\), most of it in some-markdown$/);
  assert.match(shown[2] ?? "", /^ {4}stays because .*some-markdown.*\(HW-7004, app\.cjs:7:26\)$/);
  assert.match(shown[3] ?? "", /^ {6}to free it: if it has no effects, say so/);
  const free = shown.findIndex((line) => line.includes("GET /free"));
  assert.match(shown[free] ?? "", /^ {3}10 % GET \/free \(app\.cjs:8:18\)$/);
  assert.equal(shown[free + 1], "    can leave: as a whole");
  assert.match(shown.at(-1) ?? "", /^ {4}7 % all else/);
  assert.ok(!shown.some((line) => line.includes("/small")), shown.join("\n"));
});

test("reasons are ranked by what they cost", () => {
  const subjects = byTime(pipeline, time).diagnostics.map(({ subjectPlace }) => subjectPlace.line);
  assert.equal(subjects[0], 9);
  assert.equal(subjects.at(-1), 10);
  assert.deepEqual(
    subjects.toSorted(),
    pipeline.diagnostics.map(({ subjectPlace }) => subjectPlace.line).toSorted(),
  );
});
