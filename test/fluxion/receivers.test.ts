import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codesFor, compileText, EXPRESS, stageNames } from "./compiling.js";

const HEAVY = "function heavy(x) { let s = 0; for (let i = 0; i < 9; i++) s += i; return s; }\n";
const handler = (body: string, before = "") =>
  `${EXPRESS}${HEAVY}${before}\napp.get("/", function handler(req, res) {\n${body}\n});`;
const moved = (text: string) =>
  stageNames(compileText(text)).filter((each) => each === "handler" || each === "cut heavy");

describe("what is given to a response", () => {
  const staying: Record<string, string> = {
    "is changed while it waits to be sent": handler(
      "const b = Buffer.from('abc'); res.write(b); b[0] = heavy(1); res.end(b);",
    ),
    "is changed where it was made": handler(
      "const b = new Uint8Array(3); res.write(b); b[0] = heavy(1); res.end();",
    ),
    "shares its memory with what is changed": handler(
      "const b = new Uint8Array(3); res.write(b.subarray(0, 2)); b[0] = heavy(1); res.end();",
    ),
    "is changed in the next round": handler(
      "const b = Buffer.alloc(3); for (let i = 0; i < 3; i++) { b[0] = heavy(i); res.write(b); } res.end();",
    ),
    "is changed by a helper": handler(
      "const b = Buffer.alloc(3); res.write(b); mark(b); res.end(String(heavy(1)));",
      "function mark(x) { x[0] = 1; }",
    ),
    "is changed after a helper gave it": handler(
      "const b = Buffer.alloc(3); put(res, b); b[0] = heavy(1); res.end();",
      "function put(to, x) { to.write(x); }",
    ),
    "is a list of headers that becomes longer": handler(
      "const all = ['a=1']; res.setHeader('set-cookie', all); all.push('b=2'); res.send(String(heavy(1)));",
    ),
    "is used after a response has written into it": handler(
      "const locals = { h: heavy(1) }; res.render('view', locals); console.log(locals);",
    ),
  };
  for (const [what, text] of Object.entries(staying)) {
    test(`keeps a handler if it ${what}: HW-7005`, () => {
      assert.ok(!stageNames(compileText(text)).includes("handler"));
      assert.ok(codesFor(compileText(text), "handler").includes("HW-7005"));
    });
  }

  const going: Record<string, string> = {
    "was changed before": handler("const b = Buffer.alloc(3); b[0] = heavy(1); res.write(b); res.end();"),
    "was changed by a helper before": handler(
      "const b = Buffer.alloc(3); mark(b, heavy(1)); res.write(b); res.end();",
      "function mark(x, n) { x[0] = n; }",
    ),
    "is new in each round": handler(
      "for (let i = 0; i < 3; i++) { const b = Buffer.from([heavy(i)]); res.write(b); } res.end();",
    ),
    "is written down at once": handler("const o = { a: heavy(1) }; res.json(o); o.a = 2;"),
    "is only rendered": handler("const locals = { h: heavy(1) }; res.render('view', locals);"),
  };
  for (const [what, text] of Object.entries(going)) {
    test(`lets a handler go if it ${what}`, () => assert.deepEqual(moved(text), ["handler"]));
  }
});

describe("requests and responses with getters or methods of the program", () => {
  const ID = "let id = 0;\n";
  const get = "{ get() { return ++id; } }";
  const reading = "res.json([heavy(1), req.uid, req.uid]);";
  const answering = "res.json(heavy(1));";
  const staying: Record<string, string> = {
    "a getter of a request": handler(
      reading,
      `${ID}app.use((req, res, next) => { Object.defineProperty(req, "uid", ${get}); next(); });`,
    ),
    "a getter that a helper defines": handler(
      reading,
      `${ID}function mark(it) { Object.defineProperty(it, "uid", ${get}); }\napp.use((req, res, next) => { mark(req); next(); });`,
    ),
    "a getter of all requests": handler(reading, `${ID}Object.defineProperty(app.request, "uid", ${get});`),
    "a getter of the requests of all apps": handler(
      reading,
      `${ID}Reflect.defineProperty(express.request, "uid", ${get});`,
    ),
    "an old getter": handler(reading, `${ID}express.request.__defineGetter__("uid", () => ++id);`),
    "several getters": handler(reading, `${ID}Object.defineProperties(app.request, { uid: ${get} });`),
    "another prototype": handler(
      reading,
      `${ID}const own = { get uid() { return ++id; } };\napp.use((req, res, next) => { Object.setPrototypeOf(req, own); next(); });`,
    ),
    "the prototype of all messages": handler(
      reading,
      `${ID}Object.defineProperty(require("http").IncomingMessage.prototype, "uid", ${get});`,
    ),
    "a class of its own": handler(
      reading,
      `${ID}class Own extends require("http").IncomingMessage { get uid() { return ++id; } }\nclass More extends http.IncomingMessage {}\nconst http = require("http");`,
    ),
    "a getter of a response": handler(
      answering,
      `${ID}app.use((req, res, next) => { Object.defineProperty(res, "uid", ${get}); next(); });`,
    ),
    "a method of a response": handler(
      "const b = { h: heavy(1) }; res.json(b); console.log(b);",
      "app.use((req, res, next) => { const json = res.json; res.json = function (b) { b.extra = 1; return json.call(this, b); }; next(); });",
    ),
    "a method of all responses": handler(
      answering,
      `${ID}const json = express.response.json; express.response.json = function (b) { id++; return json.call(this, [b, id]); };`,
    ),
    "methods of all responses": handler(answering, `${ID}Object.assign(app.response, { json() { id++; } });`),
  };
  for (const [what, text] of Object.entries(staying)) {
    test(`keep a handler that uses them: ${what}`, () => {
      assert.deepEqual(moved(text), []);
      assert.ok(codesFor(compileText(text), "handler").includes("HW-7008"));
    });
  }

  test("let handlers go that only use the others", () => {
    const getter = `${ID}Object.defineProperty(app.request, "uid", ${get});`;
    assert.deepEqual(moved(handler(answering, getter)), ["handler"]);
    assert.deepEqual(
      moved(
        handler(
          "res.json([heavy(1), req.query.a]);",
          "const o = Object.defineProperty({}, 'a', { value: 1 });",
        ),
      ),
      ["handler"],
    );
  });
});
