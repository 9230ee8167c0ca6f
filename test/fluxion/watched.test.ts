import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { withGuards } from "#src/fluxion/checked/guards.js";
import { ROOT } from "../house/source.js";
import { CHEATS } from "./fuzz/program/cheats.js";

mkdirSync(join(ROOT, ".cache"), { recursive: true });
const folder = mkdtempSync(join(ROOT, ".cache", "watched-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Call = readonly [name: string, ...inputs: unknown[]];
type Said = { readonly value: unknown } | { readonly error: string };

/** What a thread that watches says of calls of a file. It may forget what was wrong with a call before the next, or not heed a guard. */
function watch(
  file: string,
  calls: readonly Call[],
  early: readonly Call[] = [],
  { forgets = false, without = null }: { readonly forgets?: boolean; readonly without?: string | null } = {},
): Promise<readonly Said[]> {
  const worker = new Worker(new URL("./checked/thread.mjs", import.meta.url), {
    workerData: { file, early, calls, forgets, without },
    execArgv: [],
  });
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

function written(text: string): string {
  const file = join(mkdtempSync(join(folder, "package-")), "index.cjs");
  writeFileSync(file, text);
  return file;
}

const isSaid = (said: Said | undefined, pattern: RegExp) => assert.match(JSON.stringify(said), pattern);

describe("a package that only looks as if it computed is noticed by the thread that it runs in", () => {
  for (const [name, { text }] of Object.entries(CHEATS)) {
    test(name, async () => {
      const given = name.startsWith("what it was given") ? { n: 0 } : "abc";
      const setting: Call[] = name === "options that are set" ? [["set", 2]] : [];
      const said = await watch(written(text), [...setting, ["of", given]]);
      assert.ok(said[0] !== undefined && "error" in said[0], JSON.stringify(said));
    });
  }
});

/** Functions that do in other words what the ones above do, each in a file with `kept`, which is older than any call. */
const WRITES: Readonly<Record<string, string>> = {
  "an assignment to a pattern": "[kept.n] = [1];",
  "a pattern with names": "({ n: kept.n } = { n: 1 });",
  "a loop": "for (kept.n of [1]);",
  "a deleted field": "delete kept.n;",
  "an assignment that depends": "kept.m ??= 1;",
  "a method by reference": "Array.prototype.push.call(list, 1);",
  "a method by its name": 'list["pu" + "sh"](1);',
  "a method that is handed over": "[1].forEach(list.push, list);",
  "Object.assign": "Object.assign(kept, { n: 1 });",
  "Reflect.set": 'Reflect.set({}, "n", 1, kept);',
  "a prototype": "Object.setPrototypeOf(kept, {});",
  "a frozen object": "Object.freeze(kept);",
  "a map": "map.set(1, 2);",
  "a weak map": "weak.set(kept, 2);",
  "a date": "date.setTime(0);",
  bytes: "bytes[0] = 1;",
  "bytes by another view": "new DataView(bytes.buffer).setInt8(0, 1);",
  "bytes that are copied": "Buffer.from('abc').copy(bytes);",
  "an expression": "expression.lastIndex += 1;",
  "another field of an expression": "kept.lastIndex = 1;",
  "an object that inherits nothing": "nothing.n = 1;",
  "an object that a class gives as its own": "new Field();",
  "a setter that all have": "kept.__proto__ = null;",
  "a variable of the file": "variable += 1;",
  "a variable in a pattern": "[variable] = [1];",
  "a variable of a loop": "for (variable of [1]);",
  "a variable of a function around": "count();",
  "a name of everybody": "undeclared = 1;",
  "what the language brings along": "String.prototype.shout = 1;",
  "the time": "new Date();",
  "the time by a class of its own": "new (class extends Date {})();",
  chance: "Math.random();",
  "the environment": "environment.HOME;",
  "a file": "require('fs').readFileSync(__filename);",
  "a promise": "Promise.resolve();",
  "an asynchronous function": "(async () => {})();",
  "a timer": "setTimeout(() => {}, 0);",
  "a module": "require('node:http').createServer();",
  "where an error comes from": "new Error('x').stack;",
  "what was matched": "/a/.exec('a'); RegExp.lastMatch;",
  code: "new Function('kept', 'kept.n = 1')(kept);",
  "code in other words": "(() => {}).constructor('kept', 'kept.n = 1')(kept);",
  "code at its place": "eval('kept.n = 1');",
  "code that no guards can be put into": "try { new Function('o', 'with (o) { n = 1; }')(kept); } catch {}",
  "memory that all share": "new SharedArrayBuffer(1);",
  "a proxy": "new Proxy(kept, {}).n = 1;",
};

const FILE = `const kept = { n: 0 }, list = [], map = new Map(), weak = new WeakMap(), date = new Date(5);
const bytes = Buffer.alloc(4), expression = /a/g, nothing = Object.create(null), environment = process.env;
class Given { constructor() { return kept; } }
class Field extends Given { n = 1; }
let variable = 0;
const count = (() => { let n = 0; return () => { n++; }; })();
${Object.values(WRITES)
  .map((statement, i) => `exports.plain${i} = () => 7;\nexports.of${i} = () => { ${statement} return 7; };`)
  .join("\n")}
`;

/** The cheats that a thread lets pass. */
async function unseen(without: string | null): Promise<string[]> {
  const names = Object.keys(WRITES);
  const calls = names.flatMap((_, i): Call[] => [[`plain${i}`], [`of${i}`]]);
  const said = await watch(written(FILE), calls, [], { forgets: true, without });
  for (const i of names.keys()) assert.deepEqual(said[2 * i], { value: 7 });
  return names.filter((_, i) => "value" in (said[2 * i + 1] ?? {}));
}

test("a call that changes, asks for or begins anything else is noticed too, in each of many words", async () => {
  assert.deepEqual(await unseen(null), []);
});

for (const guard of ["write", "outer", "captured", "index", "deny", "isOld"]) {
  test(`a thread without the guard "${guard}" misses some of them`, async () => {
    assert.notDeepEqual(await unseen(guard), []);
  });
}

test("a call that changes only what it has made is none of these", async () => {
  const text = `exports.of = (text) => {
  const found = []; const by = Object.create(null); const map = new Map(); let n = 0;
  class Reader { at = 0; next() { this.at += 1; n += this.at; return text[this.at - 1]; } }
  class Other extends Reader { more = []; }
  const reader = new Other();
  for (let c = reader.next(); c !== undefined; c = reader.next()) { found.push(c); by[c] = (by[c] || 0) + 1; map.set(c, n); }
  function* twice(list) { for (const each of list) { yield each; yield each; } }
  const bytes = Buffer.from(text); bytes[0] = 65;
  const make = new Function("a", "const o = {}; o.a = a; return o.a;");
  return { found: [...twice(found)].join(""), by: { ...by }, map, first: bytes.toString(), made: make(3), match: text.replace(/a/g, "b") };
};\n`;
  const [said] = await watch(written(text), [["of", "aab"]]);
  assert.deepEqual(said, {
    value: {
      found: "aaaabb",
      by: { a: 2, b: 1 },
      map: new Map([
        ["a", 3],
        ["b", 6],
      ]),
      first: "Aab",
      made: 3,
      match: "bbb",
    },
  });
});

test("what a package makes at its first call is there when the call was done again", async () => {
  const lazily = "let table = null;\nexports.of = (x) => { table ??= { a: 1 }; return { is: table[x] }; };\n";
  isSaid((await watch(written(lazily), [["of", "a"]]))[0], /writes to a variable .*index\.cjs:2\)/);
  assert.deepEqual(await watch(written(lazily), [["of", "a"]], [["of", "a"]]), [{ value: { is: 1 } }]);
  const kept = "let table = null;\nexports.of = () => { table ??= { a: 1 }; return table; };\n";
  isSaid((await watch(written(kept), [["of"]], [["of"]]))[0], /gives what it keeps/);
});

test("guards keep lines where they are, and leave alone what is plainly new", () => {
  const text =
    '"use strict";\nconst a = (x) => {\n  const o = {};\n  o.x = x;\n  return o;\n};\nlet n = 0;\nexports.b = () => { n++; };\n';
  const guarded = withGuards("/x.cjs", text, "commonjs");
  assert.equal(guarded.split("\n").length, text.split("\n").length);
  assert.match(guarded, /^"use strict";/);
  assert.ok(guarded.includes("\n  o.x = x;\n") && guarded.includes("($hw.outer(), n++)"), guarded);
});

const require = createRequire(import.meta.url);
/** Published packages of which the compiler knows nothing, and what is asked of them. */
const PACKAGES: Readonly<Record<string, readonly Call[]>> = {
  "js-yaml": [["load", "a: 1\nb: [1, {c: d}]"]],
  underscore: [["uniq", [1, 1, 2]]],
  "csv-parse/sync": [["parse", "a,b\n1,2"]],
};

for (const [name, calls] of Object.entries(PACKAGES)) {
  test(`${name} is found to compute, and gives the same`, async () => {
    const loaded = require(name) as Record<string, unknown>;
    const plain = calls.map(([key, ...inputs]) => {
      const of = key === "" ? loaded : loaded[key];
      return { value: (of as (...args: unknown[]) => unknown)(...inputs) };
    });
    assert.deepEqual(await watch(require.resolve(name), calls, calls), plain);
  });
}
