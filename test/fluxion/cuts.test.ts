import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codesFor, compileText, EXPRESS, stageNames } from "./compiling.js";

const HEAVY = "function heavy(x) { let s = 0; for (let i = 0; i < 9; i++) s += i; return s; }\n";
const route = (body: string, before = "") =>
  `${EXPRESS}${HEAVY}${before}\napp.get("/", function handler(req, res) {\n${body}\n});`;
const COUNTING = "let hits = 0;\n";
const USERS = 'const users = new Map([["b", { visits: 0 }]]);\n';

function goes(text: string, files: Readonly<Record<string, string>> = {}, name = "app.cjs"): void {
  const compiled = compileText(text, files, { name });
  const reasons = compiled.pipeline.diagnostics.map(({ reason }) => reason);
  assert.ok(stageNames(compiled).includes("cut heavy"), JSON.stringify(reasons));
}

function stays(text: string, files: Readonly<Record<string, string>> = {}, name = "app.cjs"): void {
  const compiled = compileText(text, files, { name });
  assert.deepEqual(
    stageNames(compiled).filter((each) => each === "handler" || each.endsWith("heavy")),
    [],
  );
  assert.ok(
    codesFor(compiled, "heavy()").includes("HW-7011"),
    JSON.stringify(compiled.pipeline.diagnostics.map(({ reason }) => reason)),
  );
}

describe("a cut goes if what is used after it", () => {
  const cases: Record<string, string> = {
    "was made by this request": route(
      "hits++; const list = [1]; list.push(2); res.json([heavy(1), list]);",
      COUNTING,
    ),
    "was made by a function for this request": route(
      "hits++; const all = make(req.query.n); all.push(1); const h = heavy(1); res.json([h, all]);",
      `${COUNTING}function make(n) { const made = [n]; made.push(n); return made; }`,
    ),
    "was filled by a callback that has ended": route(
      "hits++; const all = []; req.body.forEach((x) => all.push(x)); const h = heavy(1); res.json([h, all]);",
      COUNTING,
    ),
    "is a number that was read before": route(
      "const u = users.get('b'); u.visits++; const n = String(u.visits); res.json([heavy(1), n]);",
      USERS,
    ),
    "is a table that nobody changes": route(
      "hits++; const row = TABLE[req.query.k]; res.json([heavy(1), row.name]);",
      `${COUNTING}const TABLE = { a: { name: "a" } };`,
    ),
    "was put into the request for it alone": route(
      "hits++; const h = heavy(1); res.json([h, req.seen.n, req.query.a, req.get('accept')]);",
      `${COUNTING}app.use((req, res, next) => { req.seen = { n: 1 }; next(); });`,
    ),
  };
  for (const [what, text] of Object.entries(cases)) test(what, () => goes(text));

  test("was read from a file for it", () => {
    goes(
      route(
        "fs.readFile('f', (error, data) => { hits++; const h = heavy(1); res.json([h, data.length, String(data)]); });",
        COUNTING,
      ),
    );
  });
});

describe("a cut stays if what is used after it is changed by others", () => {
  const after = "u.visits++; const h = heavy(1); res.json([h, u.visits]);";
  const cases: Record<string, string> = {
    "and was found in a map": route(`const u = users.get("b"); ${after}`, USERS),
    "and was found in an object": route(
      `const u = db[req.query.k]; ${after}`,
      "const db = { b: { visits: 0 } };",
    ),
    "and was searched for": route(
      `const u = db.find((x) => x.id); ${after}`,
      "const db = [{ id: 1, visits: 0 }];",
    ),
    "and is an instance": route(
      "const u = acc; u.inc(); const h = heavy(1); res.json([h, u.n]);",
      "class Acc { n = 0; inc() { this.n++; } }\nconst acc = new Acc();",
    ),
    "and was taken out of an object": route(
      "const { list } = state; list.push(1); const h = heavy(1); res.json([h, list.length]);",
      "const state = { list: [] };",
    ),
    "and is in a copy one level deep": route(
      "const own = { ...state }; own.list.push(1); const h = heavy(1); res.json({ h, ...own });",
      "const state = { list: [] };",
    ),
    "and is only answered with": route(
      'const u = users.get("b"); u.visits++; const h = heavy(1); res.json({ h, user: u });',
      USERS,
    ),
    "and is only written": route(
      'const u = users.get("b"); const n = u.visits; const h = heavy(1); u.visits = n + 1; res.json([h, n]);',
      USERS,
    ),
    "and a middleware put it into the request": route(
      "req.user.visits++; const h = heavy(1); res.json([h, req.user.visits]);",
      `${USERS}app.use((req, res, next) => { req.user = users.get("b"); next(); });`,
    ),
    "and a middleware put it there with others": route(
      "req.user.visits++; const h = heavy(1); res.json([h, req.user.visits]);",
      `${USERS}app.use((req, res, next) => { Object.assign(req, { user: users.get("b") }); next(); });`,
    ),
    "and a middleware put it beside the response": route(
      "res.locals.user.visits++; const h = heavy(1); res.json([h, res.locals.user.visits]);",
      `${USERS}app.use((req, res, next) => { res.locals.user = users.get("b"); next(); });`,
    ),
    "and is taken apart": route(
      "const { user } = req; user.visits++; const h = heavy(1); res.json([h, user.visits]);",
      `${USERS}app.use((req, res, next) => { req.user = users.get("b"); next(); });`,
    ),
    "and a helper changes it": route(
      "touch(req.user); const h = heavy(1); res.json([h, req.user.visits]);",
      `${USERS}function touch(u) { u.visits++; }\napp.use((req, res, next) => { req.user = users.get("b"); next(); });`,
    ),
    "and a helper reads it": route(
      "touch(req.user); const h = heavy(1); res.json([h, seen(req.user)]);",
      `${USERS}function touch(u) { u.visits++; }\nfunction seen(u) { return u.visits; }\napp.use((req, res, next) => { req.user = users.get("b"); next(); });`,
    ),
    "and a factory keeps it": route(
      "req.ctx.n++; const h = heavy(1); res.json([h, req.ctx.n]);",
      "function keep() { const ctx = { n: 0 }; return (req, res, next) => { req.ctx = ctx; next(); }; }\napp.use(keep());",
    ),
    "and a function gives it back that keeps it": route(
      "const u = kept.get(); u.n++; const h = heavy(1); res.json([h, u.n]);",
      "const kept = (() => { const c = { n: 0 }; return { get: () => c }; })();",
    ),
    "in a function that keeps count": route(
      "kept(); const h = heavy(1); res.json([h, kept()]);",
      "const kept = (() => { let n = 0; return () => ++n; })();",
    ),
    "as the request's own object was given away": route(
      "const job = JSON.parse('{}'); jobs.push(job); const h = heavy(1); res.json([h, job]);",
      "const jobs = [];\napp.get('/mark', (req, res) => { for (const each of jobs) each.marked = true; res.end(); });",
    ),
    "or nothing is known of it": route(
      "hits++; const u = store.find('b'); const h = heavy(1); res.json([h, u.visits]);",
      `${COUNTING}const store = require('unknown-package');`,
    ),
    "or a package may have put it there": route(
      "hits++; const h = heavy(1); res.json([h, req.user.n]);",
      COUNTING,
    ),
    "and `this` has it": route("this.n = (this.n || 0) + 1; const h = heavy(1); res.json([h, this.n]);"),
  };
  for (const [what, text] of Object.entries(cases)) test(what, () => stays(text));

  test("and another file exports it", () => {
    const text = `import express from "express";\nimport { count, inc } from "./state.mjs";\nconst app = express();\n${HEAVY}
      app.get("/", function handler(req, res) { inc(); const h = heavy(1); res.json([h, count]); });`;
    stays(text, { "state.mjs": "export let count = 0;\nexport function inc() { count++; }" }, "app.mjs");
  });
});

describe("an awaited call of what only computes", () => {
  const SLOW = "async function slow(x) { return heavy(x); }\nlet total = 0;\nconst seen = new Map();\n";
  const asked = (body: string, before = "") =>
    `${EXPRESS}${HEAVY}${SLOW}${before}\napp.get("/", async function handler(req, res) {\n${body}\n});`;
  const names = (text: string) => stageNames(compileText(text)).filter((each) => / (slow|heavy)$/.test(each));

  const going: Record<string, string> = {
    "state is only used after it": asked("const h = await slow(1); total += h; res.json(total);"),
    "state is only used before it": asked("total += 1; const h = await slow(total); res.json(h);"),
    "its result goes into state": asked("seen.set(req.path, await slow(1)); res.end();"),
    "a function uses state that is given its result": asked(
      "add(await slow(1)); res.end();",
      "function add(n) { total += n; }",
    ),
    "a continuation uses state": asked("slow(1).then((n) => { total += n; res.json(total); });"),
    "different state is used on both sides": asked(
      "total += 1; const h = await slow(1); seen.set(h, 1); res.end();",
    ),
    "what was read before is only answered with": asked("res.json({ total, h: await slow(1) });"),
  };
  for (const [what, text] of Object.entries(going)) {
    test(`goes if ${what}`, () => assert.notDeepEqual(names(text), []));
  }

  const staying: Record<string, string> = {
    "adds to state": asked("total += await slow(1); res.json(total);"),
    "adds to a field": asked("state.n += await slow(1); res.json(state.n);", "const state = { n: 0 };"),
    "is added to what was read before": asked(
      "const n = total; const h = await slow(1); total = n + h; res.end();",
    ),
    "stands in what is written to state": asked("total = total + (await slow(1)); res.json(total);"),
    "stands between a look and an act": asked(
      "if (total < 5) { await slow(1); total += 1; } res.json(total);",
    ),
    "fills what was found empty": asked("if (!seen.has(1)) seen.set(1, await slow(1)); res.end();"),
    "is between writing and reading": asked("total += 1; const h = await slow(1); res.json([h, total]);"),
    "is between writing and reading under another name": asked(
      "const u = users.get('b'); u.visits++; const h = await slow(1); res.json([h, u.visits]);",
      USERS,
    ),
    "is between helpers that use state": asked(
      "const n = get(); await slow(1); set(n + 1); res.end();",
      "function get() { return total; }\nfunction set(n) { total = n; }",
    ),
    "stands beside an object that is changed before": asked(
      "const u = users.get('b'); u.visits++; res.json({ h: 1, user: [u], n: await slow(1) });",
      USERS,
    ),
    "is awaited with others": asked(
      "const n = total; const [a] = await Promise.all([slow(1)]); total = n + a; res.end();",
    ),
    "is in a function that such a place awaits": asked(
      "total += await twice(1); res.json(total);",
      "async function twice(x) { return (await slow(x)) * 2; }",
    ),
    "is followed by others while it runs": asked("slow(1).then((n) => { total += n; }); res.json(total);"),
  };
  for (const [what, text] of Object.entries(staying)) {
    test(`stays if it ${what}: HW-7011`, () => {
      assert.deepEqual(names(text), []);
      assert.ok(codesFor(compileText(text), "slow()").includes("HW-7011"));
    });
  }

  test("stays as a continuation of a promise if it is between uses of state", () => {
    const chain = (first: string) =>
      asked(
        `const n = total; ${first}.then(function calc(x) { return heavy(x); }).then((h) => { total = n + h; res.end(); });`,
      );
    assert.ok(!stageNames(compileText(chain("Promise.resolve(1)"))).includes("calc"));
    assert.ok(codesFor(compileText(chain("Promise.resolve(1)")), "heavy()").includes("HW-7011"));
    assert.ok(stageNames(compileText(chain("fs.promises.readFile('f')"))).includes("calc"));
  });

  test("goes if others came in between before", () => {
    const text = `${EXPRESS}const bcrypt = require("bcryptjs");\nconst users = new Map();\napp.get("/", async (req, res) => {
      if (users.has(req.path)) return res.end();\nusers.set(req.path, await bcrypt.hash(req.path, 4));\nres.end(); });`;
    assert.ok(stageNames(compileText(text)).includes("awaited bcrypt.hash"));
  });
});

describe("what a middleware begins before it goes on", () => {
  const behind = (middleware: string, before = "", body = "res.json(heavy(1));") =>
    `${EXPRESS}${HEAVY}${before}\napp.use(function first(req, res, next) {\n${middleware}\n});\napp.get("/", function handler(req, res) {\n${body}\n});`;
  const moved = (text: string) =>
    stageNames(compileText(text)).filter((each) => each === "handler" || / heavy$/.test(each));
  const LATE = "if (!res.headersSent) res.status(503).end();";

  const going: Record<string, string> = {
    "tells of an answer": behind("res.on('finish', () => console.log(req.method, res.statusCode)); next();"),
    "looks when the connection is closed": behind(
      "res.on('close', () => console.log(res.statusCode)); next();",
    ),
    "is waited for": behind("fs.readFile('f', (error, data) => { req.data = String(data); next(); });"),
    "is waited for, or is not begun": behind(
      "if (req.query.plain) return next(); fs.readFile('f', (error, data) => { req.data = String(data); next(); });",
    ),
    "is waited for in a chain": behind(
      "fs.promises.readFile('f').then((data) => { req.data = String(data); }).then(() => next());",
    ),
    "is the last thing that it does": behind(
      "if (req.query.late) return setTimeout(() => { res.end(); }, 1); next();",
    ),
    "writes down something of the request": behind("fs.appendFile('f', req.url, () => {}); next();"),
    "has nothing to do with it": behind(
      "setTimeout(() => { tick(); }, 1); next();",
      "function tick() { return 1; }",
    ),
  };
  for (const [what, text] of Object.entries(going)) {
    test(`lets handlers go if it ${what}`, () => {
      const reasons = compileText(text).pipeline.diagnostics.map(({ reason }) => reason);
      assert.notDeepEqual(moved(text), [], JSON.stringify(reasons));
    });
  }

  const staying: Record<string, string> = {
    "answers after some time": behind(
      `const t = setTimeout(() => { ${LATE} }, 1); res.on("finish", () => clearTimeout(t)); next();`,
    ),
    "writes a line after some time, which could come before an error of the handler": behind(
      "setTimeout(() => { tick(); }, 1); next();",
      "function tick() { console.log(1); }",
    ),
    "writes a line if a file cannot be written": behind(
      "fs.appendFile('f', req.url, (error) => { if (error) console.log(req.url); }); next();",
    ),
    "answers after some time in a helper": behind(
      "guard(res); next();",
      `function guard(it) { setTimeout(() => { it.status(503).end(); }, 1); }`,
    ),
    "gives up after some time": behind(
      "const t = setTimeout(() => { slow += 1; }, 1); res.on('finish', () => clearTimeout(t)); next();",
      "let slow = 0;",
    ),
    "answers at the next turn": behind(`setImmediate(() => { ${LATE} }); next();`),
    "goes on with an error after some time": behind("setTimeout(() => next(new Error('late')), 1); next();"),
    "answers when a file is read": behind(`fs.readFile("f", () => { ${LATE} }); next();`),
    "answers when a promise is kept": behind(`fs.promises.readFile("f").then(() => { ${LATE} }); next();`),
    "gives the request a field later": behind(
      "fs.readFile('f', (error, data) => { req.data = data; }); next();",
    ),
    "begins before it waits for something else": behind(
      `setTimeout(() => { ${LATE} }, 1); fs.readFile("f", () => { next(); });`,
    ),
    "says how long an answer may take": behind(`res.setTimeout(5, () => { ${LATE} }); next();`),
    "says how long a request may take": behind("req.setTimeout(5); next();"),
    "says how long any answer may take": `${behind("next();")}\napp.listen(0).setTimeout(5);`,
  };
  for (const [what, text] of Object.entries(staying)) {
    test(`keeps handlers if it ${what}: HW-7010`, () => {
      assert.deepEqual(moved(text), []);
      assert.ok(codesFor(compileText(text), "handler").includes("HW-7010"));
    });
  }

  test("keeps a call that others could overtake in the same function", () => {
    const after = "hits++; const h = heavy(1); if (!res.headersSent) res.json(h);";
    for (const body of [
      `res.setTimeout(5, () => { ${LATE} }); ${after}`,
      `guard(res); ${after}`,
      `setImmediate(() => { ${LATE} }); ${after.replace("heavy", "await heavy")}`,
      "const log = []; setImmediate(() => log.push(1)); const h = await heavy(1); log.push(h); res.json(log);",
    ]) {
      const text = behind(
        "next();",
        `${COUNTING}function guard(it) { setTimeout(() => { it.status(503).end(); }, 1); }`,
        body,
      ).replace('"/", function', '"/", async function');
      assert.deepEqual(moved(text), [], body);
      assert.notDeepEqual(codesFor(compileText(text), "heavy()"), [], body);
    }
  });
});

describe("an object of the file does not come back from a worker as a copy", () => {
  const LONG = "let s = 0; for (let i = 0; i < 9; i++) s += i;";
  const used = "const r = await pick(1); seen.set(r, 1); res.json(seen.get(r));";
  const picked = (pick: string, body = used) =>
    `${EXPRESS}const seen = new WeakMap();\n${pick}\napp.get("/", async function handler(req, res, next) {\n${body}\n});`;

  const staying: Record<string, string> = {
    "from a table": picked(`const T = { a: { k: 1 } };\nfunction pick() { ${LONG} return T.a; }`),
    "from a table that a function made": picked(
      `const T = make();\nfunction make() { return { a: {} }; }\nfunction pick() { ${LONG} return T.a; }`,
    ),
    "from what was read when the file was loaded": picked(
      `const T = JSON.parse('{"a":{}}');\nfunction pick() { ${LONG} return T.a; }`,
    ),
    "inside of a new one": picked(`const T = { k: 1 };\nfunction pick() { ${LONG} return [T]; }`),
    "out of a closure": picked(
      `const pick = (() => { const T = { a: {} }; return () => { ${LONG} return T.a; }; })();`,
    ),
    "in a synchronous section": picked(
      `const T = { a: {} };\nfunction pick() { ${LONG} return T.a; }`,
      "const r = pick(1); res.json([r, req.path]); fs.readFile('f', () => {});",
    ),
    "as an error": picked(`const E = new Error("no");\nfunction pick() { ${LONG} throw E; }`),
  };
  for (const [what, text] of Object.entries(staying)) {
    test(`${what}: HW-7005`, () => {
      const compiled = compileText(text);
      assert.ok(!stageNames(compiled).some((each) => each.endsWith("pick")));
      assert.ok(codesFor(compiled, "pick()").includes("HW-7005"));
    });
  }

  for (const [what, body] of Object.entries({
    "as a field of the request": "req.shape = SHAPE; next();",
    "as an error that a handler goes on with": "next(FAILED);",
    "as an error that a handler throws": "throw FAILED;",
  })) {
    test(`${what}: HW-7005`, () => {
      const text = `${EXPRESS}${HEAVY}const SHAPE = { a: 1 };\nconst FAILED = new Error("no");
        app.get("/", function handler(req, res, next) { if (heavy(1)) { ${body} } });`;
      assert.ok(!stageNames(compileText(text)).includes("handler"));
      assert.ok(codesFor(compileText(text), "handler").includes("HW-7005"));
    });
  }

  for (const [what, pick] of Object.entries({
    "what it makes": `function pick() { ${LONG} return [s]; }`,
    "a copy": `const T = { a: 1 };\nfunction pick() { ${LONG} return { ...T }; }`,
    "what it makes as was made when the file was loaded": `let first = pick();\nfunction pick() { ${LONG} return [s]; }`,
    "what a callback of it fills": `function pick() { ${LONG} const all = []; [s].forEach((x) => all.push(x)); return all; }`,
  })) {
    test(`but a call goes that gives back ${what}`, () => {
      assert.ok(stageNames(compileText(picked(pick))).includes("awaited pick"));
    });
  }
});
