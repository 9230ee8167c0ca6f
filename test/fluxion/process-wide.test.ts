import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codesFor, compileText, EXPRESS, stageNames } from "./compiling.js";

const HEAVY = "function heavy(x) { let s = 0; for (let i = 0; i < 3e6; i++) s += i % 7; return s + x; }\n";
const handler = (use: string, before = "") =>
  `${EXPRESS}${HEAVY}${before}\napp.get("/", async function handler(req, res) { res.json([${use}, heavy(1)]); });`;

describe("what the last match leaves behind", () => {
  for (const use of [
    "RegExp.$1",
    'RegExp["$&"]',
    "RegExp.lastMatch",
    "(({ $1 }) => $1)(RegExp)",
    "RegExp[req.path]",
  ]) {
    test(`is not the same elsewhere: ${use}`, () => {
      const compiled = compileText(handler(`/(.)/.test(req.path), ${use}`));
      assert.deepEqual(stageNames(compiled), []);
      assert.deepEqual(codesFor(compiled, "handler"), ["HW-7002"]);
    });
  }

  test("is missed if the match was elsewhere", () => {
    const text = handler(
      "await matches(req.path), RegExp.$1",
      "function matches(x) { heavy(1); return /(.)/.test(x); }",
    );
    assert.deepEqual(stageNames(compileText(text)), []);
  });

  test("does not matter to who only matches", () => {
    assert.deepEqual(stageNames(compileText(handler("/(.)/.test(req.path), RegExp(req.path).source"))), [
      "handler",
    ]);
  });
});

describe("a time zone that the program changes while it runs", () => {
  const changes = [
    "process.env.TZ = req.query.zone;",
    "process.env[req.query.key] = req.query.value;",
    "Object.assign(process.env, req.query);",
    "delete process.env.TZ;",
  ].map((each) => `app.post("/", (req, res) => { ${each} res.end(); });`);
  const local = [
    "new Date(0).getHours()",
    "String(new Date(0))",
    "new Date(2020, 1, 1).toISOString()",
    "Intl.DateTimeFormat().format(0)",
    "format.format(0)",
    "(5).toLocaleString()",
  ];
  for (const change of changes) {
    test(`keeps local time on the main loop: ${change}`, () => {
      for (const use of local) {
        const text = handler(use, `const format = new Intl.DateTimeFormat();\n${change}`);
        assert.ok(!stageNames(compileText(text)).includes("handler"), use);
        assert.ok(codesFor(compileText(text), "handler").includes("HW-7002"), use);
      }
    });
    test(`lets go what does not tell local time: ${change}`, () => {
      assert.ok(stageNames(compileText(handler("Date.UTC(2020, 1)", change))).includes("handler"));
    });
  }

  test("is not one that it sets when it is loaded, or another variable", () => {
    for (const before of ['process.env.TZ = "UTC";', 'app.post("/", () => { process.env.LEVEL = "1"; });'])
      assert.ok(
        stageNames(compileText(handler("new Date(0).getHours()", before))).includes("handler"),
        before,
      );
  });
});
