import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileText, EXPRESS, stageNames } from "./compiling.js";

const HEAVY = "function heavy(x) { let s = 0; for (let i = 0; i < 3e6; i++) s += i % 7; return s + x; }\n";
const handler = (before: string, use: string) =>
  `${EXPRESS}${HEAVY}${before}\napp.get("/", async function handler(req, res) { ${use}; res.json(heavy(1)); });`;
const isWhole = (text: string, files: Readonly<Record<string, string>> = {}) =>
  stageNames(compileText(text, files)).includes("handler");

/** Members that count, each made of what counts, and an object that has it. */
const members: Readonly<Record<string, (count: string) => string>> = {
  "toString of an object": (count) => `const o = { toString() { return "x" + ${count}; } };`,
  "toString of a class": (count) => `class O { toString() { return "x" + ${count}; } }\nconst o = new O();`,
  "toString of the class above": (count) =>
    `class A { toString() { return "x" + ${count}; } }\nclass O extends A {}\nconst o = new O();`,
  "toString as a field": (count) => `class O { toString = () => "x" + ${count}; }\nconst o = new O();`,
  "toString that was assigned": (count) => `const o = {};\no.toString = () => "x" + ${count};`,
  "toString of a function": (count) => `function o() {}\no.toString = () => "x" + ${count};`,
  "toString of a class itself": (count) => `class o { static toString() { return "x" + ${count}; } }`,
  "valueOf of an object": (count) => `const o = { valueOf: () => ${count} };`,
  toJSON: (count) => `const o = { toJSON: function () { return ${count}; } };`,
  toPrimitive: (count) => `const o = { [Symbol.toPrimitive](hint) { return ${count}; } };`,
  toStringTag: (count) =>
    `class O { get [Symbol.toStringTag]() { return "x" + ${count}; } }\nconst o = new O();`,
  hasInstance: (count) => `class o { static [Symbol.hasInstance](x) { return ${count} > 3; } }`,
  species: (count) =>
    `class O extends Array { static get [Symbol.species]() { ${count}; return Array; } }\nconst o = new O();`,
  iterator: (count) => `class O { *[Symbol.iterator]() { yield ${count}; } }\nconst o = new O();`,
  "an iterator that was assigned": (count) =>
    `const o = {};\no[Symbol.iterator] = function* () { yield ${count}; };`,
  "an iterator by hand": (count) =>
    `const o = { [Symbol.iterator]() { return { next: () => ({ value: ${count}, done: true }) }; } };`,
  asyncIterator: (count) => `const o = { async *[Symbol.asyncIterator]() { yield ${count}; } };`,
  thenable: (count) => `const o = { then(go) { go(${count}); } };`,
  inspect: (count) => `const o = { [require("util").inspect.custom]() { return "x" + ${count}; } };`,
  "a key that is only known later": (count) =>
    `const INSPECT = Symbol.for("nodejs.util.inspect.custom");\nconst o = {};\no[INSPECT] = () => "x" + ${count};`,
  "what a class of the language calls": (count) =>
    `class O extends Array { join() { return "x" + ${count}; } }\nconst o = new O();`,
  "a getter that was defined": (count) =>
    `const o = {};\nObject.defineProperty(o, "x", { enumerable: true, get() { return ${count}; } });`,
  "a getter": (count) => `const o = { get x() { return ${count}; } };`,
};

describe("what the language calls by itself counts as called by those who have the object", () => {
  for (const [what, made] of Object.entries(members)) {
    test(what, () => {
      const before = `let n = 0;\n${made("(++n)")}`;
      assert.ok(!isWhole(handler(before, "const t = [o]")), "as a variable");
      assert.ok(
        !isWhole(handler(`${before}\nconst all = [{ o }];`, "const t = all.join()")),
        "inside of another",
      );
      const lib = { "lib.cjs": `${before}\nexports.o = o;\nexports.plain = (x) => x;` };
      const from = 'const lib = require("./lib.cjs");';
      assert.ok(!isWhole(handler(from, "const t = lib.o"), lib), "of another file");
      assert.ok(isWhole(handler(from, "const t = lib.plain(1)"), lib), "nothing else of that file");
    });
  }

  test("also if the part makes the object itself", () => {
    for (const use of ["JSON.stringify([new O()])", "String(new O())", "[...new O()]"]) {
      const text = handler("let n = 0;\nclass O { toJSON() { return ++n; } }", `const t = ${use}`);
      assert.ok(!isWhole(text), use);
    }
  });

  test("also if a class of the language calls it to fill the object", () => {
    const before = "let n = 0;\nclass O extends Map { set(a, b) { n++; return super.set(a, b); } }";
    assert.ok(!isWhole(handler(before, "const t = new O([[1, 2]])")));
    assert.ok(isWhole(handler(before, "const t = new O()")));
    const held = "const all = [{ n: 1 }];\nclass O extends Map {}\nconst o = new O([[1, all[0]]]);";
    assert.ok(!isWhole(handler(held, "o.get(1).n++")));
  });

  test("and what follows a cut, too", () => {
    const text = `${EXPRESS}${HEAVY}let n = 0;\nconst o = { toString: () => "x" + ++n };
      app.get("/", function handler(req, res) { const s = heavy(1); res.send(\`\${o}\${s}\`); });`;
    assert.deepEqual(stageNames(compileText(text)), []);
  });
});

describe("what is without effects goes", () => {
  const same = (what: string) => what !== "thenable" && !/getter/.test(what);
  for (const [what, made] of Object.entries(members).filter(([each]) => same(each))) {
    test(what, () => {
      const before = `const UNIT = 3;\nconst double = (x) => x * 2;\n${made("double(UNIT)")}`;
      assert.ok(isWhole(handler(before, "const t = [o]")));
    });
  }
});

describe("going through an object gives what its iterator gives", () => {
  const list = "const all = [{ n: 1 }];\n";
  for (const [what, before] of Object.entries({
    "by `yield`": `${list}class O { *[Symbol.iterator]() { yield all[0]; } }\nconst o = new O();`,
    "by `yield*`": `${list}class O { *[Symbol.iterator]() { yield* all; } }\nconst o = new O();`,
    "of another iterator": `${list}const o = { [Symbol.iterator]: () => all.values() };`,
    "step by step": `${list}const o = { [Symbol.iterator]() { return { next() { return { value: all[0] }; } }; } };`,
    "behind a key of its own": `${list}const KEY = Symbol.iterator;\nclass O { *[KEY]() { yield all[0]; } }\nconst o = new O();`,
    "of itself": `${list}class O { [Symbol.iterator]() { return this; } next() { return { value: all[0] }; } }\nconst o = new O();`,
  })) {
    for (const use of [
      "for (const x of o) x.n++",
      "const [x] = o; x.n++",
      "[...o][0].n++",
      "Array.from(o)[0].n++",
      "Array.from(o, (x) => { x.n++; })",
      "for (const x of new Set(o)) x.n++",
    ]) {
      test(`${what}: ${use}`, () => assert.ok(!isWhole(handler(before, use))));
    }
    test(`${what}, which may be looked at`, () =>
      assert.ok(isWhole(handler(before, "let s = 0; for (const x of o) s += x.n"))));
  }

  test("and uses up an iterator that everybody has", () => {
    for (const use of ["[...it]", "Array.from(it)", "new Set(it)"]) {
      assert.ok(!isWhole(handler("const it = [1, 2].values();", `const t = ${use}`)), use);
      assert.ok(isWhole(handler("", `const it = [1, 2].values(); const t = ${use}`)), use);
    }
  });
});

describe("a library that is given an instance", () => {
  const ejs = 'const ejs = require("ejs");\nlet n = 0;\n';
  const use = 'const t = ejs.render("<%= u.full() %>", { u: new U() })';
  test("may call its methods", () => {
    assert.ok(!isWhole(handler(`${ejs}class U { full() { return ++n; } }`, use)));
    assert.ok(isWhole(handler(`${ejs}class U { full() { return heavy(2); } }`, use)));
  });
});

test("a class that is given methods from outside stays", () => {
  assert.ok(
    !isWhole(handler("class O { f() { return 1; } }\nO.prototype.f = () => 2;", "const t = new O().f()")),
  );
});
