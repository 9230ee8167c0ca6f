import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPrivateNames } from "#src/model/private-names.js";

const PLACEHOLDER = "$".concat("{");

/** Written as text, so that nobody formats or compiles it; "@{" stands for what begins code in a text. */
const classOf = (body: string): (() => unknown) =>
  new Function(`return class A {${body.replaceAll("@{", PLACEHOLDER)}}`)() as () => unknown;

test("private fields and methods are found, whatever stands around them", () => {
  const bodies = [
    "#a",
    "a = 1\n#b = 2",
    "a\n#b",
    "[`k`] = [1]\n#x",
    "'text' = \"#no\"\n#z",
    "get #x() { return 1 }",
    "async *#m() {}",
    "m() {} #c = 1",
    "static a = 1; #c",
    "static b = 2\n#c",
    "static {} #x",
    "static async m() {} #x",
    "x = `a@{1 + `}`}`\n#y",
    "re = /[\"'`{]/; #x = 1",
    "m() { return 1 / 2 } #k; n() { return 1 / 2 }",
    "m() { return class { a = { b: `@{{}}` } } } #x",
    "constructor() { __privateAdd(this, _cents, 5); }",
    "get cents() { return __classPrivateFieldGet(this, _A_cents, 'f') }",
    "constructor() { _classPrivateFieldInitSpec(this, _cents, 5) }",
  ];
  for (const body of bodies) assert.ok(hasPrivateNames(classOf(body)), body);
  assert.ok(hasPrivateNames(URL as unknown as () => unknown));
});

test("nothing else is taken for them: texts, comments, static ones, those of classes inside", () => {
  const bodies = [
    "",
    "a = '#x'",
    "a = \"\\\"#\"; b = '\\'#'",
    "/* #x */",
    "// #x\n",
    "m() { return `#x@{'#y'}` }",
    "m() { return `@{`#@{1}`}#` }\nx = 1",
    "css = `\n#id { color: @{'red'} }\n#other {}\n`",
    "re = /#x/",
    "re = [/#x/, /a[/#]b/]",
    "m(s) { return s.split('/').map((x) => x.replace(/#/g, '')) }",
    "m(a) { return a.b / 2 / '#'.length }",
    "m() { return { '#a': 1 } }",
    "m() { return class { #inner = 1 } }",
    "static #s = 1; static #m() {} static async *#g() {} static get #k() { return 1 }",
  ];
  for (const body of bodies) assert.ok(!hasPrivateNames(classOf(body)), body);
  const outer = classOf("static #k = 1; static Inner = class { x = A.#k; y = #k in A; z() { return A.#k } }");
  assert.ok(!hasPrivateNames((outer as unknown as { Inner: () => unknown }).Inner));
  assert.ok(!hasPrivateNames(function Old() {}));
});
