import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codesFor, compileText, EXPRESS, stageNames } from "./compiling.js";

/** `loops` makes a stage that is not plainly too small; it is pure. */
const LOOPS = 'function loops(x) { let out = ""; for (const c of String(x)) out += c; return out; }\n';
/** One that reads an object of the file; what others do to it decides whether it may have a copy. */
const reader = (others: string) =>
  `${EXPRESS}${LOOPS}const conf = { a: 1 };
const list = [1];
app.get("/", function reader(req, res) { res.json([loops(1), conf.a, list[0]]); });
${others}`;
const route = (body: string, head = "(req, res, next)") =>
  `app.get("/x", function writer${head} { ${body} res.end(); });`;
const onError = "app.use(function caught(e, req, res, next) { e.a++; res.end(); });";

describe("an object of the file is no constant if it comes back under another name", () => {
  for (const [through, others] of Object.entries({
    "a setting": `app.set("conf", conf);\n${route('req.app.get("conf").a++;')}`,
    "what an application has for its templates": `app.locals.conf = conf;\n${route("req.app.locals.conf.a++;")}`,
    "app.locals, all at once": `Object.assign(app.locals, { conf });\n${route("req.app.locals.conf.a++;")}`,
    "a request": `app.use((req, res, next) => { req.conf = conf; next(); });\n${route("req.conf.a++;")}`,
    "a request, in an object": `app.use((req, res, next) => { req.all = { conf }; next(); });\n${route("req.all.conf.a++;")}`,
    "a request, by Object.assign": `app.use((req, res, next) => { Object.assign(req, { conf }); next(); });\n${route("req.conf.a++;")}`,
    "a request, by a helper": `function put(to) { to.conf = conf; }\napp.use((req, res, next) => { put(req); next(); });\n${route("req.conf.a++;")}`,
    "a response": `app.use((req, res, next) => { res.locals.conf = conf; next(); });\n${route("res.locals.conf.a++;")}`,
    "all of res.locals": `app.use((req, res, next) => { res.locals = conf; next(); });\n${route("res.locals.a++;")}`,
    "an error handler": `app.use((req, res, next) => { next(conf); });\n${onError}`,
    "an error handler, thrown": `app.use((req, res, next) => { throw conf; });\n${onError}`,
    "an error handler, rejected": `app.use(async (req, res, next) => { await Promise.reject(conf); });\n${onError}`,
    "what renders": `app.use((req, res, next) => { res.render("page", conf); });`,
    "a weak map": `const of = new WeakMap([[app, conf]]);\n${route("of.get(app).a++;")}`,
    "a map of pairs that are made": `const of = new Map([1].map((k) => [k, conf]));\n${route("of.get(1).a++;")}`,
    "Object.fromEntries": `const of = Object.fromEntries([["c", conf]]);\n${route("of.c.a++;")}`,
    "keys of a map": `const of = new Map([[conf, 1]]);\n${route("for (const k of of.keys()) k.a++;")}`,
    "entries of a map": `const of = new Map([[conf, 1]]);\n${route("for (const [k] of of) k.a++;")}`,
    "a promise": `const p = Promise.resolve(conf);\n${route("(await p).a++;").replace("function", "async function")}`,
    "a promise that is made": `const p = new Promise((ok) => ok(conf));\n${route("(await p).a++;").replace("function", "async function")}`,
    promises: `const p = Promise.all([Promise.resolve(conf)]);\n${route("(await p)[0].a++;").replace("function", "async function")}`,
    "a rejected promise": `const p = Promise.reject(conf);\n${route("try { await p; } catch (c) { c.a++; }").replace("function", "async function")}`,
    "a promise that is rejected": `const p = new Promise((_, no) => no(conf));\n${route("try { await p; } catch (c) { c.a++; }").replace("function", "async function")}`,
    ".then": `${route("Promise.resolve(conf).then((c) => { c.a++; });")}`,
    "what is behind a key of a map": `const of = new Map();\nof.set(1, conf);\n${route("for (const [, v] of of) v.a++;")}`,
    "entries of a list": `const of = [conf];\n${route("for (const [, v] of of.entries()) v.a++;")}`,
    "entries of a set": `const of = new Set([conf]);\n${route("for (const [v] of of.entries()) v.a++;")}`,
    "pairs in a list": `const of = new Map();\nof.set(1, conf);\n${route("[...of].map(([, v]) => v.a++);")}`,
    "pairs for a callback": `const of = new Map();\nof.set(1, conf);\n${route("Array.from(of, ([, v]) => v.a++);")}`,
    "a pair": `const of = new Map();\nof.set(1, conf);\n${route("of.entries().next().value[1].a++;")}`,
    "a flat list": `const of = [[[conf]]];\n${route("of.flat(2)[0].a++;")}`,
    "an iterator of its own": `const of = { *[Symbol.iterator]() { yield conf; } };\n${route("for (const c of of) c.a++;")}`,
    "an iterator that is written out": `const of = { next() { return { value: conf }; }, [Symbol.iterator]() { return this; } };\n${route("for (const c of of) { c.a++; break; }")}`,
    "an iterator of a class": `class Of { *[Symbol.iterator]() { yield conf; } }\nconst of = new Of();\n${route("for (const c of of) c.a++;")}`,
    "a getter": `const o = { get c() { return conf; } };\n${route("o.c.a++;")}`,
    "a getter that looks at its object": `const o = { x: conf, get c() { return this.x; } };\n${route("o.c.a++;")}`,
    "a setter": `const o = { set c(v) { v.a++; } };\n${route("o.c = conf;")}`,
    "a getter that is defined": `const o = {};\nObject.defineProperty(o, "c", { get() { return conf; } });\n${route("o.c.a++;")}`,
    "a getter of a class": `class T { constructor(x) { this.x = x; } get c() { return this.x; } }\nconst o = new T(conf);\n${route("o.c.a++;")}`,
    "a setter of a class": `class T { set c(v) { v.a++; } }\nconst o = new T();\n${route("o.c = conf;")}`,
    "a static getter": `class T { static get c() { return conf; } }\n${route("T.c.a++;")}`,
    "a static setter": `class T { static set c(v) { v.a++; } }\n${route("T.c = conf;")}`,
    "a method above": `class A { up() { this.x.a++; } }\nclass T extends A { constructor(x) { super(); this.x = x; } up() { super.up(); } }\nconst o = new T(conf);\n${route("o.up();")}`,
    "a getter above": `class A { get c() { return this.x; } }\nclass T extends A { constructor(x) { super(); this.x = x; } up() { super.c.a++; } }\nconst o = new T(conf);\n${route("o.up();")}`,
    "a field that is made of another": `class T { x = conf; y = this.x; }\nconst o = new T();\n${route("o.y.a++;")}`,
    "a spread argument": `function f(a, b) { b.a++; }\n${route("f(...[1, conf]);")}`,
    "an argument after a spread one": `function f(a, b, c) { c.a++; }\n${route("f(...[1, 2], conf);")}`,
    eval: route('eval("conf.a++");'),
    arguments: `function f() { arguments[0].a++; }\n${route("f(conf);")}`,
    "arguments of the function around": `function f() { const g = () => { arguments[0].a++; }; g(); }\n${route("f(conf);")}`,
    "arguments that are passed on": `function g(x) { x.a++; }\nfunction f() { g.apply(null, arguments); }\n${route("f(conf);")}`,
    "arguments that are spread": `function g(x) { x.a++; }\nfunction f() { g(...arguments); }\n${route("f(conf);")}`,
    "a function as a class": `function T() { return conf; }\n${route("new T().a++;")}`,
    "a constructor that returns it": `class T { constructor() { return conf; } }\n${route("new T().a++;")}`,
    "a timer": route("setTimeout((c) => { c.a++; }, 1, conf);"),
    setImmediate: route("setImmediate((c) => { c.a++; }, conf);"),
    "a bound argument": `function f(c) { c.a++; }\nconst g = f.bind(null, conf);\n${route("g();")}`,
    "a bound this": `function f() { this.a++; }\nconst g = f.bind(conf);\n${route("g();")}`,
    "an exception": `function f() { throw conf; }\n${route("try { f(); } catch (c) { c.a++; }")}`,
    "the list of a callback": route("list.forEach((v, i, all) => { all[i] = v + 1; });"),
    "the list of reduce": route("list.reduce((s, v, i, all) => { all[i] = v + 1; }, 0);"),
    "the list of map": route("list.map((v, i, all) => { all[i] = v + 1; });"),
    "the list of sort": route("[...list].sort(() => { list[0]++; return 0; });"),
    "the map of forEach": `const m = new Map([[1, 1]]);\nconf.m = m;\n${route("m.forEach((v, k, all) => { all.set(k, v + 1); });")}`,
    "this of a callback": route("[1].forEach(function () { this.a++; }, conf);"),
    "this of a replacer": route("JSON.stringify(conf, function (k, v) { this.a = 2; return v; });"),
    valueOf: route("conf.valueOf().a++;"),
    "Object()": route("Object(conf).a++;"),
    "a prototype": `const o = Object.create(conf);\n${route("Object.getPrototypeOf(o).a++;")}`,
    "an assignment that gives what was there": `let o = conf;\n${route("(o ||= {}).a++;")}`,
    "a generator that is told it": `function* g() { const c = yield; c.a++; }\n${route("const i = g(); i.next(); i.next(conf);")}`,
    "a global variable": `shared = conf;\n${route("shared.a++;")}`,
    "the global object": `globalThis.shared = conf;\n${route("globalThis.shared.a++;")}`,
    "data that is made": `const o = JSON.parse("{}");\no.conf = conf;\n${route("o.conf.a++;")}`,
    "a list that is made of data": `const o = JSON.parse("[]");\no.push(conf);\n${route("o[0].a++;")}`,
    "a field of a function": `function f() {}\nf[String(1)] = conf;\n${route('f["1"].a++;')}`,
    "a static field": `class T { static [String(1)] = conf; }\n${route('T["1"].a++;')}`,
    "unknown code": `require("unknown-package")(conf);`,
    "unknown code, in a list": `require("unknown-package")([{ conf }]);`,
    "unknown code, by a function": `require("unknown-package")(() => conf);`,
    "unknown code, by a method": `class T { get() { return conf; } }\nrequire("unknown-package")(new T());`,
    "unknown code that calls a function": `function f(g) { g(conf); }\nf((c) => c.a);\nrequire("unknown-package")(f);`,
    "a class of which nothing is known": `class T extends require("unknown-package").Base {}\nnew T(conf);`,
    "an emitter": `const e = new (require("events"))();\ne.on("x", (c) => { c.a++; });\n${route('e.emit("x", conf);')}`,
    "a tag of which nothing is known": `const { tag } = require("unknown-package");\n${route("tag`$" + "{conf}`;")}`,
    "a class that others make instances of": `class Keeper { conf = conf; }\nrequire("unknown-package").take(Keeper);`,
    "an instance, by the class above": `class Above { get() { return conf; } }\nclass Keeper extends Above {}\nrequire("unknown-package").take(new Keeper());`,
    "an object that another one knows": `${route("req.store.find(conf);")}`,
    "an unknown method of the response": route("res.keep(conf);"),
  })) {
    test(`through ${through}`, () => {
      const compiled = compileText(reader(others));
      assert.ok(!stageNames(compiled).includes("reader"), "it goes");
      assert.ok(
        codesFor(compiled, "reader").includes("HW-7002"),
        JSON.stringify(compiled.pipeline.diagnostics),
      );
    });
  }
});

describe("an object of the file is still a constant if it is only looked at", () => {
  for (const [by, others] of Object.entries({
    "an answer": route("res.json(conf);"),
    "a text": route("res.send(JSON.stringify(conf));"),
    "a log": route("console.log(conf);"),
    "a template": route('res.render("page", { conf });'),
    "a callback": route("res.json(list.map((v) => v + 1));"),
    "a copy that is changed": route("const copy = { ...conf }; copy.a++;"),
    "a list that is changed": route("const copy = list.slice(); copy.push(1);"),
    "a map that is asked": `const of = new Map([[1, conf]]);\n${route("res.json(of.get(1).a);")}`,
    "data of a request": route("res.json(req.body.ids.map((id) => list[id]));"),
    "a known library": `const ejs = require("ejs");\n${route('res.send(ejs.render("", conf));')}`,
    "a file that is written": route('fs.writeFile("f", JSON.stringify(conf), () => {});'),
    "a listener": `const e = new (require("events"))();\ne.on("x", () => { console.log(conf.a); });`,
    "a timer": route("setTimeout(() => { console.log(conf.a); }, 1);"),
    "a request that is given a copy": `app.use((req, res, next) => { req.a = conf.a; req.all = { a: conf.a }; next(); });`,
    "an error that says so": `app.use((req, res, next) => { next(new Error(String(conf.a))); });`,
    "a promise": `const p = Promise.resolve(conf);\n${route("res.json((await p).a);").replace("function", "async function")}`,
  })) {
    test(`by ${by}`, () => {
      const compiled = compileText(reader(others));
      assert.ok(stageNames(compiled).includes("reader"), JSON.stringify(compiled.pipeline.diagnostics));
    });
  }
});
