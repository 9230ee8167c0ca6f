import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { link } from "headwater/fluxion";
import { codesFor, compileText, EXPRESS, stageNames } from "./compiling.js";

/** `loops` makes a stage that is not plainly too small; it is pure. */
const LOOPS = 'function loops(x) { let out = ""; for (const c of String(x)) out += c; return out; }\n';
const handler = (body: string, before = "") =>
  `${EXPRESS}${LOOPS}${before}\napp.get("/", function handler(req, res, next) {\n${body}\n});`;

describe("a whole handler goes", () => {
  for (const [what, text] of Object.entries({
    "with a pure function": handler("res.send(loops(req.query.a));"),
    "with constants of the file": handler("res.send(loops(A + B.c));", "const A = 1, B = { c: [2] };"),
    "with a table that a function builds": handler(
      "res.json(TABLE[loops(req.query.n)]);",
      "const TABLE = make();\nfunction make() { const t = []; for (let i = 0; i < 9; i++) t.push(i); return t; }",
    ),
    "with a class that changes only itself": handler(
      "const sum = new Sum(); sum.add(1); res.send(loops(sum.n));",
      "class Sum { n = 0; add(x) { this.n += x; } }",
    ),
    "with an instance that its constructor fills": handler(
      "res.send(loops(store.get()));",
      "class Store { constructor(n) { this.n = n; } get() { return this.n; } }\nconst store = new Store(5);",
    ),
    "with a closure over constants": handler(
      "res.send(quote(loops(req.query.a)));",
      "const quote = quoted('*');\nfunction quoted(mark) { return (x) => mark + x + mark; }",
    ),
    "that changes a copy": handler("const list = [...req.body]; list.sort(); res.json(list);"),
    "that reads a counter": handler("res.send(loops(hits));", "let hits = 0;\napp.use(() => { hits++; });"),
    "that asks for a header": handler("res.send(loops(req.get('accept')));"),
    "that goes on with an error": handler("next(new Error(loops(req.path)));"),
    "that prints": handler("console.log(loops(req.path)); res.end();"),
    "that sets a field of the request": handler("req.parsed = { a: loops(req.path) }; next();"),
    "with a promise that it makes itself": handler(
      "return new Promise((resolve) => resolve(loops(1))).then((x) => { res.send(x); });",
    ),
    "with a known library": handler(
      "res.send(md.render(req.query.a));",
      "const md = new (require('markdown-it'))({ html: true });\nmd.use(plugin);\nfunction plugin(it) {}",
    ),
    "whose helper is named pure": handler(
      "res.send(loops(/* headwater: pure */ unknown(req.path)));",
      "const unknown = require('unknown-package');",
    ),
  })) {
    test(what, () => {
      const compiled = compileText(text);
      assert.deepEqual(
        stageNames(compiled).filter((name) => name === "handler"),
        ["handler"],
        JSON.stringify(compiled.pipeline.diagnostics.map(({ reason }) => reason)),
      );
    });
  }
});

describe("a whole handler stays", () => {
  const cases: Record<string, [code: string, text: string]> = {
    "if it counts": ["HW-7002", handler("hits++; res.send(loops(1));", "let hits = 0;")],
    "if it fills a map": ["HW-7002", handler("seen.set(loops(1), 1); res.end();", "const seen = new Map();")],
    "if it reads what others fill": [
      "HW-7002",
      handler(
        "res.json(loops(list.length) + list[0]);",
        "const list = [];\napp.use((q) => { list.push(q.url); });",
      ),
    ],
    "if it reads through an alias what others fill": [
      "HW-7002",
      handler(
        "res.json(loops(1) + all.inner[0]);",
        "const list = [];\nconst all = { inner: list };\nfunction put(to, x) { to.push(x); }\napp.use((q) => { put(list, q.url); });",
      ),
    ],
    "if a closure keeps a count": [
      "HW-7002",
      handler("res.send(loops(count()));", "const count = (() => { let n = 0; return () => ++n; })();"),
    ],
    "if a function remembers results": [
      "HW-7002",
      handler(
        "res.send(fast(req.path));",
        "const fast = memo(loops);\nfunction memo(f) { const known = {}; return (x) => (known[x] ??= f(x)); }",
      ),
    ],
    "if a static field counts": [
      "HW-7002",
      handler("A.n++; res.send(loops(A.n));", "class A { static n = 0; }"),
    ],
    "if an instance of the file changes itself": [
      "HW-7002",
      handler(
        "store.add(loops(1)); res.end();",
        "class Store { items = []; add(x) { this.items.push(x); } }\nconst store = new Store();",
      ),
    ],
    "if a method of an instance of the file changes what its constructor set": [
      "HW-7002",
      handler(
        "res.send(loops(store.next()));",
        "class Store { constructor(n) { this.n = n; } next() { this.n += 1; return this.n; } }\nconst store = new Store(5);",
      ),
    ],
    "if a function has a property that counts": ["HW-7002", handler("loops.calls = 1; res.send(loops(1));")],
    "if a regular expression remembers": [
      "HW-7002",
      handler("res.send(loops(WORDS.test(req.path)));", "const WORDS = /a/g;"),
    ],
    "if the program changes the language": [
      "HW-7002",
      handler("res.send(loops(req.path));", "Array.prototype.map = function () { return []; };"),
    ],
    "if it passes an object to unknown code": [
      "HW-7004",
      handler("res.send(loops(unknown(req.body)));", "const unknown = require('unknown-package');"),
    ],
    "if it calls a parameter": [
      "HW-7004",
      handler("res.send(run(req.body));", "function run(f) { for (;;) return f(); }"),
    ],
    "if it sorts the body": ["HW-7005", handler("res.json(req.body.sort());")],
    "if a helper changes the body": [
      "HW-7005",
      handler("mark(req.body); res.json(loops(1));", "function mark(x) { x.seen = true; }"),
    ],
    "if it changes the body through a container": [
      "HW-7005",
      handler("const box = { a: req.body }; const b = box; b.a.x = loops(1); res.end();"),
    ],
    "if it keeps the body under another name": ["HW-7005", handler("req.copy = req.body; loops(1); next();")],
    "if it asks whether two objects are the same": [
      "HW-7005",
      handler("res.send(loops(req.body === DEFAULTS));", "const DEFAULTS = {};"),
    ],
    "if it sends a function": ["HW-7006", handler("res.json({ f: () => loops(1) });")],
    "if it sends an instance": [
      "HW-7006",
      handler("res.json(new A(loops(1)));", "class A { constructor(x) { this.x = x; } }"),
    ],
    "if it uses this": ["HW-7007", handler("res.send(loops(this.x));")],
    "if it uses arguments": ["HW-7007", handler("res.send(loops(arguments.length));")],
    "if it listens to the response": ["HW-7008", handler("res.on('close', () => {}); res.send(loops(1));")],
    "if it reads the response after answering": [
      "HW-7008",
      handler("res.send(loops(1)); if (res.headersSent) next();"),
    ],
    "if it reads the request after going on": ["HW-7008", handler("next(); loops(req.user);")],
    "if it uses what write gives back": ["HW-7008", handler("if (res.write(loops(1))) res.end();")],
    "if it answers in a try": ["HW-7008", handler("try { res.send(loops(1)); } catch (e) { next(e); }")],
    "if it goes through the request": ["HW-7008", handler("for (const x of req) loops(x); res.end();")],
    "if it reads a file": ["HW-7009", handler("fs.readFile(loops(1), () => {}); res.end();")],
    "if it starts a timer": ["HW-7009", handler("setTimeout(() => {}, 1); res.send(loops(1));")],
    "if what it needs is made by unknown code": [
      "HW-7012",
      handler("res.send(loops(db.name));", "const db = require('unknown-package')();"),
    ],
    "if what it needs is different each time": [
      "HW-7012",
      handler("res.send(loops(ID.value));", "const ID = { value: Math.random() };"),
    ],
    "if making what it needs prints": [
      "HW-7012",
      handler(
        "res.json(loops(LIST[0]));",
        "const LIST = make();\nfunction make() { console.log('made'); return [1]; }",
      ),
    ],
    "if it declares a parameter again": ["HW-7013", handler("var next = next || loops; res.send(loops(1));")],
    "if a comment says so": [
      "HW-7013",
      handler("res.send(loops(1));").replace("app.get", "/* headwater: stay */ app.get"),
    ],
  };
  for (const [what, [code, text]] of Object.entries(cases)) {
    test(`${what}: ${code}`, () => {
      const compiled = compileText(text);
      assert.ok(!stageNames(compiled).includes("handler"), "it goes");
      assert.ok(codesFor(compiled, "handler").includes(code), JSON.stringify(compiled.pipeline.diagnostics));
    });
  }

  test("if events have an order: HW-7010", () => {
    const compiled = compileText(
      `${LOOPS}const e = new (require("events"))();\ne.on("x", function hear(a) { console.log(loops(a)); });`,
    );
    assert.deepEqual(codesFor(compiled, "hear"), ["HW-7010"]);
  });

  test("if it is also called directly: HW-7010", () => {
    const compiled = compileText(
      `${EXPRESS}${LOOPS}function show(req, res) { res.send(loops(1)); }\napp.get("/", show);\nshow({}, {});`,
    );
    assert.deepEqual(codesFor(compiled, "show"), ["HW-7010"]);
  });
});

describe("calls", () => {
  test("an awaited call of an own function goes, whatever follows, if somebody waits for the function around it", () => {
    const go = (how: string) =>
      `let n = 0;\nasync function slow(x) { return loops(x); }\nasync function go() { const x = await slow(1); n++; return x; }\nasync function all() { ${how} }`;
    const stages = (how: string) => stageNames(compileText(handler("return all();", go(how))));
    assert.ok(stages("await go();").includes("awaited slow"));
    assert.ok(!stages("go();").includes("awaited slow"));
  });

  test("a call in a synchronous section goes if only the answer follows", () => {
    assert.ok(
      stageNames(
        compileText(handler("hits++; const x = loops(req.path); res.send(x);", "let hits = 0;")),
      ).includes("cut loops"),
    );
  });

  for (const [what, body] of Object.entries({
    "state is written after it": "const x = loops(req.path); hits++; res.send(x);",
    "its result is written to state": "hits = loops(req.path); res.end();",
    "its result goes into shared state": "list[0] = loops(req.path); res.end();",
    "its result is passed to shared state": "list.push(loops(req.path)); res.end();",
    "state is read after it": "hits++; const x = loops(req.path); res.send(x + hits);",
    "state is written in the loop around it":
      "for (const p of [1, 2]) { hits++; res.write(loops(p)); } res.end();",
    "a helper writes state after it": "const x = loops(req.path); count(); res.send(x);",
    "a callback reads what is filled after it":
      "hits++; const own = []; fs.readFile('f', () => { own.length; }); const x = loops(1); own.push(x);",
    "a callback writes what is read after it":
      "hits++; let own = 0; fs.readFile('f', () => { own = 1; }); const x = loops(1); if (own) res.send(x);",
    "a continuation reads what is filled after it":
      "hits++; const own = []; fs.promises.readFile('f').then(() => { own.length; }); const x = loops(1); own.push(x);",
    "a file is read after it": "hits++; const x = loops(req.path); fs.readFile(x, () => {}); res.end();",
  })) {
    test(`a call in a synchronous section stays if ${what}: HW-7011`, () => {
      const compiled = compileText(
        handler(body, "let hits = 0;\nconst list = [];\nfunction count() { hits++; }"),
      );
      assert.ok(!stageNames(compiled).includes("cut loops"));
      assert.ok(codesFor(compiled, "loops()").includes("HW-7011"));
    });
  }

  test("a call stays in a function that is not asynchronous and not a listener", () => {
    const compiled = compileText(
      `${EXPRESS}${LOOPS}let n = 0;\nfunction f(x) { n++; return loops(x); }\nmodule.exports = f;`,
    );
    assert.deepEqual(stageNames(compiled), []);
  });

  test("a call stays that changes its argument: HW-7005", () => {
    const text = handler(
      "go([2, 1]);",
      "let n = 0;\nasync function sorted(x) { return x.sort()[0]; }\nasync function go(x) { const y = await sorted(x); n++; return y; }",
    );
    const compiled = compileText(text);
    assert.ok(codesFor(compiled, "sorted()").includes("HW-7005"));
  });

  test("a call stays whose argument may change while it waits: HW-7005", () => {
    const text = handler(
      "const list = []; const p = total(list); list.push(1); hits++; p.then((x) => { res.json(x); });",
      "let hits = 0;\nasync function total(list) { await null; let n = 0; for (const x of list) n += x; return n; }",
    );
    assert.ok(codesFor(compileText(text), "total()").includes("HW-7005"));
  });
});

describe("parts of one request", () => {
  const read = (body: string) => `fs.readFile("f", function part(err, data) { ${body} });`;
  for (const [what, [goes, body]] of Object.entries({
    "goes alone": [true, read("res.send(loops(data));")],
    "stays if another one answers too": [
      false,
      `${read("res.write(loops(data));")} fs.readFile("g", () => { res.end(); });`,
    ],
    "stays in a loop": [false, `for (const f of [1, 2]) ${read("res.write(loops(data));")}`],
    "stays for each of a list": [false, `[1, 2].forEach(() => { ${read("res.write(loops(data));")} });`],
    "stays if it writes what another reads": [
      false,
      `let n = 0; ${read("n += loops(data).length; res.json(n);")}`,
    ],
    "goes if it only reads what is around it": [true, `const n = 1; ${read("res.send(loops(data + n));")}`],
  } as const)) {
    test(`a continuation ${what}`, () => {
      assert.equal(stageNames(compileText(handler(body))).includes("part"), goes);
    });
  }

  test("continuations of one chain of promises go", () => {
    const text = handler(
      "fs.promises.readFile('f').then(function a(d) { res.write(loops(d)); }).then(function b() { res.end(loops(1)); });",
    );
    assert.deepEqual(stageNames(compileText(text)), ["a", "b"]);
  });
});

describe("middleware", () => {
  const behind = (body: string) =>
    `${handler("res.send(loops(req.path));")}\napp.use(function first(req, res, next) { ${body} });`;
  for (const [goes, body] of [
    [true, "next();"],
    [true, "if (req.path === '/') return next(); res.end();"],
    [true, "if (req.path === '/') { next(); return; } res.end();"],
    [true, "if (req.path === '/') next(); else res.end();"],
    [false, "next(); console.log(res.statusCode);"],
    [false, "if (req.path === '/') { next(); } console.log(1);"],
    [false, "try { next(); } finally { console.log(1); }"],
    [false, "const go = () => next(); go(); console.log(1);"],
  ] as const) {
    test(`handlers ${goes ? "go" : "stay"} behind ${body}`, () => {
      const compiled = compileText(behind(body));
      assert.equal(stageNames(compiled).includes("handler"), goes);
      if (!goes) assert.deepEqual(codesFor(compiled, "handler"), ["HW-7010"]);
    });
  }
});

describe("files", () => {
  test("a slice takes of other files only what a stage needs", () => {
    const compiled = compileText(
      `${EXPRESS}const { shout } = require("./lib.cjs");\napp.get("/", function handler(req, res) { res.send(shout(req.path)); });`,
      {
        "lib.cjs":
          'let calls = 0;\nconst MARK = "!";\nfunction count() { calls++; }\nfunction shout(x) { let o = ""; for (const c of x) o += c + MARK; return o; }\nmodule.exports = { shout, count };',
      },
    );
    const { workers, files } = link(compiled);
    assert.deepEqual(
      [...files.keys()].map((path) => path.split("/").pop()),
      ["app.cjs"],
    );
    const lib = workers.get("w2.cjs")?.code ?? "";
    assert.match(lib, /MARK = "!"/);
    assert.doesNotMatch(lib, /calls|count/);
  });

  test("files that import each other stay: HW-7012", () => {
    const compiled = compileText(
      `${EXPRESS}const a = require("./a.cjs");\napp.get("/", function handler(req, res) { res.send(a.one(3)); });`,
      {
        "a.cjs":
          'const b = require("./b.cjs");\nexports.one = (n) => { for (;;) return n > 0 ? b.two(n - 1) : "a"; };',
        "b.cjs": 'const a = require("./a.cjs");\nexports.two = (n) => (n > 0 ? a.one(n - 1) : "b");',
      },
    );
    assert.ok(codesFor(compiled, "handler").includes("HW-7012"));
  });

  test("what a project knows of its libraries is believed", () => {
    const text = handler("res.send(render(req.path));", "const render = require('own-markup');");
    assert.deepEqual(stageNames(compileText(text)), []);
    const knowledge = { libraries: { "own-markup": { pure: [""], heavy: [""] } } };
    assert.deepEqual(stageNames(compileText(text, {}, { knowledge })), ["handler"]);
  });

  test("what cannot be read is refused with its place: HW-7001", () => {
    assert.throws(() => compileText("const a = ;"), { code: "HW-7001", message: /app\.cjs:1:11/ });
  });
});
