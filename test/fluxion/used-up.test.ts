import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { link } from "headwater/fluxion";
import { codesFor, compileText, EXPRESS, stageNames } from "./compiling.js";

/** `loops` makes a stage that is not plainly too small; it is pure. */
const LOOPS = 'function loops(x) { let out = ""; for (const c of String(x)) out += c; return out; }\n';
const handler = (before: string, body: string) =>
  `${EXPRESS}${LOOPS}${before}\napp.get("/", function handler(req, res, next) { loops(1); ${body} });`;

describe("a handler stays that goes on with something of the file where the last one left it", () => {
  const LIST = "const it = [1, 2, 3].values();";
  const GENERATOR = "function* g() { yield 1; yield 2; }\nconst it = g();";
  const MEMORY = "const ab = new ArrayBuffer(4);";
  const BYTES = "const bytes = Buffer.alloc(4);";
  const ARRAY = "const u = new Uint8Array(4);";
  for (const [what, [before, body]] of Object.entries({
    "an iterator that is spread": [LIST, "res.json([...it]);"],
    "an iterator that is spread into a call": [LIST, "res.json(Math.max(...it));"],
    "an iterator that is taken apart": [LIST, "const [a] = it; res.json(a);"],
    "an iterator that is taken apart by an assignment": [LIST, "let a; [a] = it; res.json(a);"],
    "an iterator that is taken apart into nothing": [LIST, "const [] = it; res.json([]);"],
    "an iterator that becomes a list": [LIST, "res.json(Array.from(it));"],
    "an iterator that becomes a set": [LIST, "res.json(new Set(it).size);"],
    "an iterator with a method": [LIST, "res.json(it.map((x) => x).toArray());"],
    "an iterator that a callback goes through": [LIST, "it.forEach((x) => { loops(x); }); res.end();"],
    "entries of a map": [
      "const it = new Map([[1, 2]]).entries();",
      "for (const x of it) loops(x); res.end();",
    ],
    "keys of a map": ["const it = new Map([[1, 2]]).keys();", "for (const x of it) loops(x); res.end();"],
    matches: ['const it = "aab".matchAll(/a/g);', "for (const x of it) loops(x); res.end();"],
    "a generator": [GENERATOR, "res.json([...it]);"],
    "a generator that becomes a set": [GENERATOR, "res.json(new Set(it).size);"],
    "a generator behind another": [`${GENERATOR}\nfunction* h() { yield* it; }`, "res.json([...h()]);"],
    "a part of a Buffer": [BYTES, "const s = bytes.subarray(0, 2); s[0]++; res.json(bytes[0]);"],
    "a slice of a Buffer": [BYTES, "const s = bytes.slice(0, 2); s[0]++; res.json(bytes[0]);"],
    "a part of an array": [ARRAY, "u.subarray(1).fill(1); res.json(u[1]);"],
    "a Buffer of memory": [MEMORY, "const s = Buffer.from(ab); s[0]++; res.json(s[0]);"],
    "an array of memory": [MEMORY, "const s = new Uint8Array(ab); s[0]++; res.json(s[0]);"],
    "a view of memory": [MEMORY, "const v = new DataView(ab); v.setInt8(0, v.getInt8(0) + 1); res.end();"],
    "an array of another's memory": [ARRAY, "const s = new Uint8Array(u.buffer); s[0]++; res.json(s[0]);"],
    "an array of a Buffer's memory": [
      BYTES,
      "const s = new Uint8Array(bytes.buffer); s[0]++; res.json(s[0]);",
    ],
    "an array of memory under a name": [ARRAY, "const b = u.buffer; new Uint8Array(b)[0]++; res.end();"],
    "a Buffer that is copied to": [BYTES, 'Buffer.from("abcd").copy(bytes); res.json(bytes[0]);'],
    "a sticky expression that replaces": ["const re = /a/y;", 'res.json("aab".replace(re, "x"));'],
    "a sticky expression that matches": ["const re = /a/y;", 'res.json("aab".match(re));'],
    "an expression that tests": ["const re = /a/g;", 'res.json(re.test("aab"));'],
    "an expression that is made, and tests": [
      'const re = new RegExp("a", "g");',
      'res.json(re.test("aab"));',
    ],
    "an expression of an expression": [
      "const re = new RegExp(/a/g);",
      'res.json([re.exec("aab").index, loops(2)]);',
    ],
    "an expression with a flag that is not written there": [
      'const flags = ["g"].join("");\nconst re = new RegExp("a", flags);',
      'res.json(re.test("aab"));',
    ],
    "a decoder that is told to wait for more": [
      "const d = new TextDecoder();",
      "res.json(d.decode(new Uint8Array([195]), { stream: true }));",
    ],
    "parameters of a URL": [
      'const u = new URL("http://a/");',
      'u.searchParams.append("a", "b"); res.json(u.href);',
    ],
    "parameters of a URL, under a name": [
      'const { searchParams } = new URL("http://a/");',
      'searchParams.append("a", "b"); res.json(String(searchParams));',
    ],
    "a field of a URL": ['const u = new URL("http://a/");', 'u.pathname += "b"; res.json(u.href);'],
    "a date": ["const d = new Date(0);", "d.setDate(2); res.json(d.getTime());"],
    "a hash": [
      'const h = require("crypto").createHash("md5");',
      'h.update("a"); res.json(h.copy().digest("hex"));',
    ],
    "a hash that is ended": ['const h = require("crypto").createHash("md5");', 'res.json(h.digest("hex"));'],
  } as const)) {
    test(what, () => {
      const compiled = compileText(handler(before, body));
      assert.ok(!stageNames(compiled).includes("handler"), "it goes");
      assert.ok(
        codesFor(compiled, "handler").includes("HW-7002"),
        JSON.stringify(compiled.pipeline.diagnostics),
      );
    });
  }
});

describe("a handler goes that has such a thing to itself, or only looks at it", () => {
  for (const [what, [before, body]] of Object.entries({
    "an iterator of its own": ["const list = [1, 2];", "res.json([...list.entries()]);"],
    "a map of the file that it goes through": [
      "const m = new Map([[1, 2]]);",
      "for (const [k, v] of m.entries()) loops(k + v); for (const k of m.keys()) loops(k); res.end();",
    ],
    "a generator of its own": ["function* g() { yield 1; }", "res.json([...g()]);"],
    "a list that was made of an iterator": ["const list = [...[1, 2].values()];", "res.json(list);"],
    "a Buffer of its own": ["", 'const b = Buffer.from("abc").subarray(1); b[0] = 1; res.json(b[0]);'],
    "memory of its own": ["", "const u = new Uint8Array(new ArrayBuffer(4)); u[0] = 1; res.json(u[0]);"],
    "an array as long as it is asked for": [
      "",
      "const u = new Uint8Array(Number(req.query.n)); u[0] = 1; res.json(u[0]);",
    ],
    "an array that is copied": [
      "const u = [1, 2];",
      "const c = Uint8Array.from(u); c[0] = 3; res.json(c[0]);",
    ],
    "a Buffer that is read": ["const b = Buffer.alloc(4);", "res.json(b.subarray(1)[0] + b.readInt8(0));"],
    "an expression that replaces all": ["const re = /a/g;", 'res.json(req.path.replace(re, "b"));'],
    "an expression that finds all": ["const re = /a/g;", 'res.json([..."aab".matchAll(re)].length);'],
    "an expression that is made without flags": ['const re = new RegExp("a");', 'res.json(re.test("aab"));'],
    "a decoder": ["const d = new TextDecoder();", "res.json(d.decode(new Uint8Array([65])));"],
    "a URL that is read": ['const u = new URL("http://a/?b=c");', 'res.json(u.searchParams.get("b"));'],
    "a format": ['const f = new Intl.NumberFormat("de");', "res.json(f.format(1));"],
    "a hash of its own": [
      'const crypto = require("crypto");',
      'res.json(crypto.createHash("md5").update(req.path).digest("hex"));',
    ],
  } as const)) {
    test(what, () => {
      const compiled = compileText(handler(before, body));
      assert.ok(stageNames(compiled).includes("handler"), JSON.stringify(compiled.pipeline.diagnostics));
    });
  }
});

describe("a worker makes what a file has as the file does", () => {
  for (const [what, before, statement] of [
    ["also if a declaration goes on with it", "const first = list.shift();", "list.shift()"],
    ["also if a pattern does", "const [first] = list.splice(0, 1);", "list.splice(0, 1)"],
    ["also if it is frozen under another name", "const again = Object.freeze(list);", "Object.freeze(list)"],
  ] as const) {
    test(what, () => {
      const compiled = compileText(handler(`const list = [1, 2];\n${before}`, "res.json(list);"));
      assert.deepEqual(stageNames(compiled), ["handler"]);
      const workers = [...link(compiled).workers.values()].map(({ code }) => code).join("\n");
      assert.ok(workers.includes(statement), workers);
    });
  }

  test("or it stays, if a prototype is changed", () => {
    const compiled = compileText(
      handler("const conf = { n: 0 };\nclass T {}\nT.prototype.conf = conf;", "res.json(new T().conf.n++);"),
    );
    assert.deepEqual(stageNames(compiled), []);
  });
});

describe("a part stays that changes, or passes on, what others may hold", () => {
  const part = (before: string, rest: string) => `${EXPRESS}${LOOPS}${before}\n${rest}`;
  for (const [what, text] of Object.entries({
    "an error that it was given": part(
      "",
      "app.use(function handler(e, req, res, next) { e.n = loops(1); res.json(e.n); });",
    ),
    "an error that goes on": part(
      "",
      "app.use(function handler(e, req, res, next) { if (loops(1)) next(e); else res.end(); });",
    ),
    "a field of the request that goes on": handler("", "next(req.error);"),
    "what a promise of the file resolves to": part(
      "const p = Promise.resolve({ n: 0 });",
      'app.get("/", (req, res) => { p.then(function handler(c) { c.n += loops(1); res.json(c.n); }); });',
    ),
    "what a function of the program resolves to": part(
      "const known = {};\nasync function find(id) { return (known[id] ??= { n: 0 }); }",
      'app.get("/", (req, res) => { find(1).then(function handler(c) { c.n += loops(1); res.json(c.n); }); });',
    ),
    "a field of the request that is thrown": handler("", "throw req.error;"),
    "what is given to markdown-it to fill": handler(
      'const md = new (require("markdown-it"))();',
      'res.send(md.render("a", req.body));',
    ),
  })) {
    test(what, () => {
      const compiled = compileText(text);
      assert.ok(!stageNames(compiled).includes("handler"), "it goes");
      assert.ok(
        codesFor(compiled, "handler").includes("HW-7005"),
        JSON.stringify(compiled.pipeline.diagnostics),
      );
    });
  }

  test("all fields of a request at once: HW-7008", () => {
    const compiled = compileText(handler("", "Object.assign(req, { a: req.body }); next();"));
    assert.deepEqual(codesFor(compiled, "handler"), ["HW-7008"]);
  });

  for (const [what, [code, before, body]] of Object.entries({
    "gives back an object of the file": [
      "HW-7005",
      "const TABLE = { a: { n: 0 } };\nfunction work(x) { loops(x); return TABLE.a; }",
      "seen.set(await work(1), 1);",
    ],
    "writes into memory that it is given": [
      "HW-7005",
      "function work(ab) { const u = new Uint8Array(ab); for (let i = 0; i < 4; i++) u[i] = i; return u[0]; }",
      "const ab = new ArrayBuffer(4); await work(ab); seen.set(new Uint8Array(ab)[1], 1);",
    ],
    "writes into an array's memory": [
      "HW-7005",
      "function work(v) { const u = new Uint8Array(v.buffer); for (let i = 0; i < 4; i++) u[i] = i; return u[0]; }",
      "const v = new Uint8Array(4); await work(v); seen.set(v[1], 1);",
    ],
    "has its environment filled": [
      "HW-7005",
      'const md = new (require("markdown-it"))();\nconst work = (x, env) => md.render(x, env);',
      'const env = {}; await work("a", env); seen.set(env, 1);',
    ],
  } as const)) {
    test(`a call that ${what}: ${code}`, () => {
      const text = handler(`const seen = new Map();\n${before}`, `${body} res.end();`);
      const compiled = compileText(text.replace("function handler", "async function handler"));
      assert.deepEqual(
        stageNames(compiled).filter((name) => name.endsWith(" work")),
        [],
      );
      assert.ok(codesFor(compiled, "work()").includes(code), JSON.stringify(compiled.pipeline.diagnostics));
    });
  }

  test("but not one that changes what was read for it", () => {
    const compiled = compileText(
      part(
        "",
        'app.get("/", (req, res) => { fs.promises.readFile("f").then(function handler(d) { d[0] = loops(1); res.send(d); }); });',
      ),
    );
    assert.ok(stageNames(compiled).includes("handler"), JSON.stringify(compiled.pipeline.diagnostics));
  });

  test("and not one that answers with an error", () => {
    const compiled = compileText(
      part("", "app.use(function handler(e, req, res, next) { res.status(500).send(loops(e.message)); });"),
    );
    assert.ok(stageNames(compiled).includes("handler"), JSON.stringify(compiled.pipeline.diagnostics));
  });
});
