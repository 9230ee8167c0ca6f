import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codesFor, compileText, EXPRESS, stageNames } from "./compiling.js";

const HEAVY = "function heavy(x) { let s = 0; for (let i = 0; i < 3e6; i++) s += i % 7; return s + x; }\n";
const program = (text: string) => `${EXPRESS}${HEAVY}${text}`;
const handler = (before: string, body: string) =>
  program(`${before}\napp.get("/", function handler(req, res) { ${body} });`);

/** Only whole parts; calls in them may go all the same. */
function partsOf(text: string, files: Readonly<Record<string, string>> = {}, name = "app.cjs"): string[] {
  return stageNames(compileText(text, files, { name })).filter((each) => !each.includes(" "));
}

describe("an arrow stays that has the `this` of what is around it", () => {
  const answer = "res.json([this.title, heavy(1)]);";
  for (const [what, text] of Object.entries({
    "of an instance, as its field": `class Pages { title = "a"; show = (req, res) => { ${answer} }; }\nconst pages = new Pages();\napp.get("/", pages.show);`,
    "of an instance, made by its constructor": `class Pages { constructor() { this.title = "a"; this.show = (req, res) => { ${answer} }; } }\nconst pages = new Pages();\napp.get("/", pages.show);`,
    "of an instance, in a method": `class Pages { title = "a"; go() { app.get("/", (req, res) => { ${answer} }); } }\nnew Pages().go();`,
    "of an instance, through another arrow": `class Pages { title = "a"; make = () => (req, res) => { ${answer} }; }\nconst pages = new Pages();\napp.get("/", pages.make());`,
    "of a class, as its static field": `class Pages { static title = "a"; static show = (req, res) => { ${answer} }; }\napp.get("/", Pages.show);`,
    "of a class, in a static block": `class Pages { static title = "a"; static { app.get("/", (req, res) => { ${answer} }); } }`,
    "of an object, in its method": `const pages = { title: "a", go() { app.get("/", (req, res) => { ${answer} }); } };\npages.go();`,
    "of the file": `this.title = "a";\napp.get("/", (req, res) => { ${answer} });`,
    "as `super`": `class A { title() { return "a"; } }\nclass B extends A { go() { app.get("/", (req, res) => { res.json([super.title(), heavy(1)]); }); } }\nnew B().go();`,
    "with a private name": `class Pages { #title = "a"; static one = new Pages(); static show = (req, res) => { res.json([Pages.one.#title, heavy(1)]); }; }\napp.get("/", Pages.show);`,
  })) {
    test(what, () => {
      const { stages, diagnostics } = compileText(program(text)).pipeline;
      assert.deepEqual(
        stages.filter(({ kind }) => kind === "part"),
        [],
      );
      assert.ok(diagnostics.every(({ code }) => code === "HW-7007"));
    });
  }

  test("and so does a call in it, if others change that object meanwhile", () => {
    const text =
      "class Pages { hits = 0; show = (req, res) => { const s = heavy(1); this.hits++; res.json([s, this.hits]); }; }\nconst pages = new Pages();\napp.get('/', pages.show);";
    assert.deepEqual(stageNames(compileText(program(text))), []);
  });
});

describe("what is done to an object is seen", () => {
  for (const [what, text] of Object.entries({
    "in an arrow that is a field": handler(
      "class P { n = 0; add = (x) => { this.n++; return x + this.n; }; }\nconst p = new P();",
      "res.json(p.add(heavy(1)));",
    ),
    "through a getter": handler(
      "class P { constructor() { this.items = []; } get list() { return this.items; } }\nconst p = new P();",
      "p.list.push(heavy(1)); res.end();",
    ),
    "by a setter": handler("let n = 0;\nclass P { set x(v) { n++; } }", "new P().x = heavy(1); res.end();"),
    "by a setter that comes before its getter": handler(
      "const all = [];\nclass P { set x(v) {} get x() { return all; } }",
      "new P().x.push(heavy(1)); res.end();",
    ),
    "by a method of the class above": handler(
      "class A { items = []; add(x) { this.items.push(x); } }\nclass B extends A { add(x) { super.add(x); } }\nconst b = new B();",
      "b.add(heavy(1)); res.end();",
    ),
    "by a method of the language, above": handler(
      "class B extends Map { put(x) { super.set(x, 1); } }\nconst b = new B();",
      "b.put(heavy(1)); res.end();",
    ),
    "in what a class has from the one above": handler(
      "class A { static items = []; }\nclass B extends A {}",
      "B.items.push(heavy(1)); res.end();",
    ),
    "by the last of two methods of one name": handler(
      "let n = 0;\nclass P { f() { return 1; } f() { return ++n; } }",
      "res.json([new P().f(), heavy(1)]);",
    ),
    "by what an instance has in place of a method": handler(
      "let n = 0;\nclass P { f() { return 1; } }\nconst p = new P();\np.f = () => ++n;",
      "res.json([p.f(), heavy(1)]);",
    ),
    "in a static block": handler(
      "const all = [];\nclass P { static { all.push(1); } }",
      "res.json([all, heavy(1)]);",
    ),
  })) {
    test(what, () => {
      assert.deepEqual(partsOf(text), []);
      const codes = codesFor(compileText(text), "handler");
      assert.ok(codes.includes("HW-7002") || codes.includes("HW-7012"), codes.join());
    });
  }

  test("in what a field of a class of another file holds", () => {
    const text = handler(
      'const { B } = require("./b.cjs");',
      "const b = new B(); b.items.push(heavy(1)); res.end();",
    );
    const files = { "b.cjs": "const all = []; class B { items = all; } module.exports = { B };" };
    assert.deepEqual(partsOf(text, files), []);
  });

  test("in what a parameter of a constructor makes a field", () => {
    const text = handler(
      "class S { constructor(private list: string[]) {} add(x: string) { this.list.push(x); } }\nconst s = new S([]);",
      "s.add('x'); res.json(heavy(1));",
    );
    assert.deepEqual(partsOf(text, {}, "app.cts"), []);
  });
});

describe("objects go along that are the same elsewhere", () => {
  for (const [what, text] of Object.entries({
    "with a field that is an arrow": handler(
      "class P { n = 1; add = (x) => x + this.n; }\nconst p = new P();",
      "res.json(p.add(heavy(1)));",
    ),
    "with a method of the class above": handler(
      "class A { constructor(n) { this.n = n; } add(x) { return x + this.n; } }\nclass B extends A { add(x) { return super.add(x) + 1; } }\nconst b = new B(1);",
      "res.json(b.add(heavy(1)));",
    ),
    "that a part makes and fills": handler(
      "class B extends Map { put(x) { super.set(x, 1); } }",
      "const b = new B(); b.put(heavy(1)); res.json(b.size);",
    ),
    "with a getter": handler(
      "class P { constructor() { this.n = 1; } get double() { return this.n * 2; } }\nconst p = new P();",
      "res.json(p.double + heavy(1));",
    ),
    "with what compilers write for imports": handler(
      "var __own = (this && this.__own) || function (x) { return x; };",
      "res.json(__own(heavy(1)));",
    ),
  })) {
    test(what, () => assert.deepEqual(partsOf(text), ["handler"]));
  }

  test("with fields that need variables of another file", () => {
    const text = handler('const { B } = require("./b.cjs");', "res.json(new B().n + heavy(1));");
    const compiled = compileText(text, {
      "b.cjs": "const START = 7; class B { n = START; } module.exports = { B };",
    });
    assert.deepEqual(stageNames(compiled), ["handler"]);
  });
});
