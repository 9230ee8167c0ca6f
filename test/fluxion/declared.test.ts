import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { link } from "headwater/fluxion";
import { codesFor, compileText, EXPRESS, stageNames } from "./compiling.js";

const HEAVY = "function heavy(x) { let s = 0; for (let i = 0; i < 3e6; i++) s += i % 7; return s + x; }\n";
const handler = (before: string, use: string) =>
  `${EXPRESS}${HEAVY}${before}\napp.get("/", function handler(req, res) { res.json([${use}, heavy(1)]); });`;
const compiled = (before: string, use: string, lib = "") =>
  compileText(handler(before, use), { "lib.cjs": lib });
const isWhole = (...args: Parameters<typeof compiled>) => stageNames(compiled(...args)).includes("handler");

describe("what is declared several times", () => {
  for (const [what, before] of Object.entries({
    "as functions": 'function f() { return "old"; }\nfunction f() { return "new"; }',
    "as a function and a variable": 'function f() { return "old"; }\nvar f = () => "new";',
    "as variables": 'var f = () => "old";\nvar f = () => "new";',
  })) {
    test(`goes with all of its declarations, in order: ${what}`, () => {
      const { workers } = link(compiled(before, "f()"));
      const text = [...workers.values()].map(({ code }) => code).join();
      assert.ok(text.indexOf('"old"') >= 0 && text.indexOf('"old"') < text.indexOf('"new"'), text);
    });
  }

  test("stays if one of them is in another statement", () => {
    const block = 'function f() { return "old"; }\nif (app) { function f() { return "new"; } }';
    assert.deepEqual(codesFor(compiled(block, "f()"), "handler"), ["HW-7012"]);
    assert.ok(!isWhole('var f = () => "old";\nif (app) { var f = () => "new"; }', "f()"));
    assert.ok(!isWhole("if (app) { function escape(x) { return 1; } }", 'escape("a")'));
  });

  test("is looked at in all of its forms", () => {
    const counts = "let n = 0;\nfunction f() { return 1; }\nif (app) { function f() { return ++n; } }";
    assert.ok(codesFor(compiled(counts, "f()"), "handler").includes("HW-7002"));
  });

  test("is sent if it is a primitive value that a worker cannot make", () => {
    assert.ok(isWhole("var f = 1;\nif (app) { var f = Date.now(); }", "f"));
  });
});

describe("what a file exports several times", () => {
  const from = 'const lib = require("./lib.cjs");';
  test("is the last, if all of it simply stands in the file", () => {
    assert.ok(isWhole(from, "lib.f()", 'exports.f = void 0;\nexports.f = () => "new";'));
    assert.ok(isWhole(from, "lib.f()", 'exports.f = () => "new";\nif (Math) exports.g = 1;'));
  });
  for (const [what, lib] of Object.entries({
    "in a condition": 'exports.f = () => "old";\nif (Math) exports.f = () => "new";',
    "in a function": 'exports.f = () => "old";\n(function () { exports.f = () => "new"; })();',
    "as a whole, in a condition": 'exports.f = () => "old";\nif (Math) module.exports = { f: () => "new" };',
    "under a name that is only known later": 'exports.f = () => "old";\nexports["f" + ""] = () => "new";',
    "through another name": 'exports.f = () => "old";\nconst self = module.exports;\nself.f = () => "new";',
    "by a description":
      'exports.f = () => "old";\nObject.defineProperty(exports, "f", { value: () => "new" });',
    "by somebody else": 'exports.f = () => "old";\nObject.assign(exports, { f: () => "new" });',
  })) {
    test(`is not clear ${what}`, () => {
      assert.ok(!isWhole(from, "lib.f()", lib));
      assert.ok(!isWhole('const { f } = require("./lib.cjs");', "f()", lib));
    });
  }
});

describe("what belongs to the file itself", () => {
  for (const use of [
    "module.id",
    "require.main === module",
    'require.resolve("express")',
    "exports.f",
    "typeof module.exports",
  ]) {
    test(`does not go with a part: ${use}`, () => {
      assert.ok(codesFor(compiled("exports.f = 1;", use), "handler").includes("HW-7007"));
    });
  }

  test("is sent if it was read into a constant", () => {
    assert.ok(isWhole("const isMain = require.main === module, id = module.id;", "isMain, id"));
  });

  test("does not take the place of what a worker exports", () => {
    assert.ok(!isWhole("const f = (module.exports = (x) => x);", "f(1)"));
    assert.ok(isWhole("const f = (exports.f = (x) => x);", "f(1)"));
  });

  test("is known for `new.target`", () => {
    const made = "class A { constructor() { this.n = new.target.name; } }\nclass B extends A {}";
    assert.ok(isWhole(made, "new B().n"));
    assert.ok(isWhole(`${made}\nconst b = new B();`, "b.n"));
  });
});

describe("what another file exports without a name of its own", () => {
  const from = 'const lib = require("./lib.cjs");';
  const lib = "exports.o = { x: 1 };\nexports.p = 1;";
  test("stays if it is changed while files are loaded", () => {
    assert.ok(!isWhole(`${from}\nlib.o.x = 2;`, "lib.o.x", lib));
    assert.ok(!isWhole(from, "lib.o.x", `${lib}\nexports.o.x = 2;`));
  });

  test("goes if only something else of that file is", () => {
    assert.ok(isWhole(`${from}\nlib.o.x = 2;`, "lib.p", lib));
  });
});

test("a class may take the place of the one above", () => {
  const made =
    "let A = class { f() { return 1; } };\nA = class extends A { x = 1; };\nA = class extends A {};";
  assert.ok(!isWhole(made, "new A().f(), new A().x, A.y"));
});
