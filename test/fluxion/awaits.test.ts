import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Compilation, compile, fluxionsOf, interpret, parse, print } from "headwater/fluxion";
import { blocksOf } from "../house/blocks.js";
import { ROOT } from "../house/source.js";
import { compileText, EXPRESS } from "./compiling.js";

const READ = "fs.promises.readFile";
const FILES: Readonly<Record<string, string>> = { a: "eins", b: "zwei", c: '{ "rows": [3, 4] }' };

/** What happens first, and what next: files by their names, in the order in which they are read. */
type Order = readonly string[];

/** Two requests to the handler that a program registers, while files come in a given order. */
async function seen(run: (globals: Record<string, unknown>) => void, order: Order): Promise<unknown[]> {
  const trace: unknown[] = [];
  const waiting = new Map<string, (() => unknown)[]>();
  const wait = (name: string, end: () => unknown) =>
    void waiting.set(name, [...(waiting.get(name) ?? []), end]);
  const asked = (name: string) =>
    new Promise<string>((resolve, reject) => {
      trace.push(`reads ${name}`);
      wait(name, () => (name in FILES ? resolve(FILES[name] ?? "") : reject(new Error(`no ${name}`))));
    });
  const promises = { readFile: asked, stat: async (name: string) => ({ size: (await asked(name)).length }) };
  const readFile = (name: string, then: (error: Error | null, text?: string) => void) => {
    trace.push(`reads ${name}`);
    wait(name, () => (name in FILES ? then(null, FILES[name]) : then(new Error(`no ${name}`))));
  };
  let handler: ((req: object, res: object) => unknown) | null = null;
  const app = { get: (_: string, given: typeof handler) => void (handler = given), listen: () => undefined };
  const fs = { readFile, promises };
  // What the library gives can be awaited, and is no promise.
  const store = {
    find: (name: string) => ({
      // biome-ignore lint/suspicious/noThenProperty: libraries have such.
      then: (go: (value: string) => void) => wait(name, () => go(`found ${name}`)),
    }),
  };
  run({
    require: (name: string) => ({ express: () => app, fs, "own-store": store })[name],
    log: (value: unknown) => trace.push(value),
  });
  assert.ok(handler !== null);
  for (const nth of [1, 2]) {
    const res = { write: (text: unknown) => trace.push(`${nth} writes ${text}`) };
    const shown = (handler as (req: object, res: object) => Promise<unknown>)(
      { params: { name: "a", nth } },
      res,
    );
    shown.then(
      (value) => trace.push([nth, "ends", value]),
      (error: Error) =>
        trace.push([
          nth,
          "fails",
          error.name,
          error.message.replace(/^.* is not iterable.*$/, "not iterable"),
        ]),
    );
    await quiet();
  }
  for (const name of order) {
    await quiet();
    waiting.get(name)?.shift()?.();
  }
  await quiet();
  return trace;
}

async function quiet(): Promise<void> {
  for (let i = 0; i < 8; i++) await new Promise((resolve) => setImmediate(resolve));
}

const ORDERS: readonly Order[] = [
  ["a", "b", "c", "missing", "a", "b", "c", "missing", "a", "b", "c", "a", "a"],
  ["c", "missing", "b", "a", "a", "a", "b", "b", "c", "c", "missing", "a", "a"],
  ["missing", "b", "b", "c", "a", "a", "b", "b", "missing", "a", "a", "a"],
  ["a", "b", "a", "c", "b", "c"],
  ["a"],
];

/** As printed and read back, the program does what it did, in whichever order files come. */
async function behavesAlike(text: string, { pipeline }: Compilation): Promise<void> {
  const printed = parse(print(fluxionsOf(pipeline)));
  for (const order of ORDERS) {
    const plain = await seen((globals) => {
      new Function(...Object.keys(globals), text)(...Object.values(globals));
    }, order);
    assert.deepEqual(await seen((globals) => interpret(printed, { globals }), order), plain);
    const atOnce = (globals: Record<string, unknown>) =>
      interpret(printed, { globals, later: (deliver) => deliver() });
    assert.deepEqual(await seen(atOnce, order), plain);
  }
}

const program = (body: string, before = "") =>
  `${EXPRESS}let hits = 0;\n${before}app.get("/", async function show(req, res) {\n${body}\n});\n`;

/** What each part says first, without main. */
const parts = ({ pipeline }: Compilation) =>
  fluxionsOf(pipeline)
    .slice(1)
    .map(({ code }) => code.split("\n")[0]);

const THREE = ["async function show(req, res) {", "async function show_2(", "async function show_3("];

describe("what follows an await of a known asynchronous call is a continuation", () => {
  for (const [what, body, names, before] of [
    ["a constant", `const text = await ${READ}("a");\nhits += 1;\nres.write(text + hits);`, ["text"]],
    ["a variable", `let text = await ${READ}("a");\ntext += "!";\nres.write(text);`, ["text"]],
    [
      "an old variable",
      `var text = await ${READ}("a");\nif (text) { var n = 1; }\nres.write(text + n);`,
      ["text"],
    ],
    ["nothing", `await ${READ}("a");\nres.write(++hits);`, [""]],
    ["a rejection", `const text = await ${READ}("missing");\nres.write(text);`, ["text"]],
    [
      "an exception",
      `const text = await ${READ}("a");\nres.write(text);\nthrow new TypeError(text);`,
      ["text"],
    ],
    [
      "a result",
      `const text = await ${READ}("a");\nif (hits === 0) return text.length;\nreturn 0;`,
      ["text"],
    ],
    [
      "a pattern",
      `const { length, ...more } = await ${READ}("a");\nres.write(length + more[0]);`,
      ["{ length, ...more }"],
    ],
    [
      "a pattern with a default",
      `const [a, b = hits] = await Promise.all([${READ}("a")]);\nres.write(a + b);`,
      ["[a, b = hits]"],
    ],
    ["a pattern that does not fit", `const [[a]] = await ${READ}("a").then(() => 5);\nres.write(a);`, null],
    ["an assignment", `let text;\ntext = await ${READ}("a");\nres.write(text);`, ["value"]],
    [
      "an assignment to a property",
      `const all = {};\nall.text = await ${READ}("a");\nres.write(all.text);`,
      ["value"],
    ],
    ["an assignment to a pattern", `let n;\n({ length: n } = await ${READ}("a"));\nres.write(n);`, ["value"]],
    [
      "a constant that is written",
      `const text = await ${READ}("a");\nres.write(text);\ntext = 1;`,
      ["value"],
    ],
    ["several variables", `let text = await ${READ}("a"), n = text.length;\nres.write(text + n);`, ["value"]],
    ["a member", `const n = (await ${READ}("a")).length;\nres.write(n);`, ["value"]],
    [
      "a function of the language",
      `const { rows } = JSON.parse(await ${READ}("c"));\nres.write(rows[0]);`,
      ["value"],
    ],
    [
      "a function of the file",
      `const n = twice(await ${READ}("a"));\nres.write(n);`,
      null,
      "function twice(x) { return x + x; }\n",
    ],
    ["a returned expression", `return (await ${READ}("a")).length + hits;`, ["value"]],
    [
      "a condition",
      `if ((await ${READ}("a")) === "eins") res.write("yes");\nelse res.write("no");`,
      ["value"],
    ],
    [
      "a name that is taken",
      `const value = 1;\nconst n = (await ${READ}("a")).length;\nres.write(n + value);`,
      ["value_2"],
    ],
    [
      "a chain of promises",
      `const text = await ${READ}("missing").catch((error) => error.message);\nres.write(text);`,
      null,
    ],
    [
      "all of several",
      `const [a, b] = await Promise.all([${READ}("a"), ${READ}("b")]);\nres.write(a + b);`,
      ["[a, b]"],
    ],
    [
      "all of several, one missing",
      `const all = await Promise.all([${READ}("a"), ${READ}("missing")]);\nres.write(all);`,
      ["all"],
    ],
    [
      "the first of several",
      `const first = await Promise.race([${READ}("a"), ${READ}("b")]);\nres.write(first);`,
      ["first"],
    ],
    [
      "a text of several lines",
      `  const text = await ${READ}("a");\n  res.write(\`\n  two \${text}\n    four\`);`,
      ["text"],
    ],
    [
      "a function further down",
      `const text = await ${READ}("a");\nres.write(twice(text));\nfunction twice(x) { return x + x; }`,
      ["text"],
    ],
    [
      "a method of an object",
      `const text = await ${READ}("a");\nconst o = { n: 1, get() { return this.n; } };\nres.write(o.get() + text);`,
      ["text"],
    ],
    [
      "an early end",
      `if (hits > 0) return "again";\nhits += 1;\nconst text = await ${READ}("a");\nreturn text;`,
      ["text"],
    ],
  ] as [string, string, string[] | null, string?][]) {
    test(what, async () => {
      const text = program(body, before);
      const compilation = compileText(text);
      assert.deepEqual(compilation.pipeline.uncut, []);
      const found = parts(compilation);
      if (names !== null) assert.deepEqual(found, [THREE[0], `async function show_2(${names[0]}) {`]);
      else assert.ok(found.some((code) => code?.startsWith(THREE[1] ?? "")));
      await behavesAlike(text, compilation);
    });
  }

  test("the example is printed as two fluxions, with the variables of a callback", () => {
    const text = `${EXPRESS}let hits = 0;
app.get("/a/:name", async function show(req, res) {
  const text = await fs.promises.readFile(req.params.name, "utf8");
  hits += 1;
  res.send(text + hits);
});
`;
    const asCallback = text
      .replace("async function show", "function show")
      .replace("const text = await fs", "fs")
      .replace('"utf8");', '"utf8").then(async function show_2(text) {')
      .replace(/\}\);\n$/, "});\n});\n");
    const headers = ({ pipeline }: Compilation) =>
      fluxionsOf(pipeline).map(({ name, groups, context, streams }) => ({ name, groups, context, streams }));
    assert.deepEqual(headers(compileText(text)), headers(compileText(asCallback)));
    const [, ...others] = fluxionsOf(compileText(text).pipeline);
    assert.equal(
      print(others),
      `flx show
-> show_2 [res]
  async function show(req, res) {
    return fs.promises.readFile(req.params.name, "utf8").then(-> show_2);
  }

flx show_2 & grp_res {hits}
-> null
  async function show_2(text) {
    hits += 1;
    res.send(text + hits);
  }
`,
    );
  });

  test("a chain of awaits is a chain of fluxions, each with what those further down need", async () => {
    const text = program(`  let sum = 0;
  const one = await ${READ}("a");
  sum += one.length;
  const two = await ${READ}("b");
  sum += two.length + hits;
  hits += 1;
  await ${READ}("c");
  res.write(one + two + sum);
  return sum;`);
    const compilation = compileText(text);
    const [, ...others] = fluxionsOf(compilation.pipeline);
    assert.deepEqual(
      others.map(({ name, context, streams }) => [name, context, streams.map((each) => each.message)]),
      [
        ["show", [], [["sum", "res"]]],
        ["show_2", [], [["sum", "res", "one"]]],
        ["show_3", ["hits"], [["res", "one", "two", "sum"]]],
        ["show_4", [], []],
      ],
    );
    await behavesAlike(text, compilation);
  });

  for (const [what, body, before] of [
    [
      "in an asynchronous function that the handler awaits",
      `const text = await load("a");\nres.write(text + hits);`,
      `async function load(name) {\n  const text = await ${READ}(name);\n  hits += 1;\n  return text + hits;\n}\n`,
    ],
    [
      "in a function inside, which shares variables with the one around it",
      `let n = 0;\nasync function load(name) { const text = await ${READ}(name); n += text.length; }\nawait load("a");\nawait load("b");\nres.write(n);`,
    ],
    [
      "beside a callback that writes the same variable",
      `let n = 0;\nfs.readFile("b", function other() { n += 1; log(n); });\nconst text = await ${READ}("a");\nn += text.length;\nres.write(n);`,
    ],
    [
      "beside a function that has the variable",
      `let n = 0;\nconst add = () => { n += 1; return n; };\nadd();\nawait ${READ}("a");\nn += 10;\nres.write(add() + n);`,
    ],
    [
      "after a loop that awaits",
      `let n = 0;\nfor (const name of ["a", "b"]) n += (await ${READ}(name)).length;\nconst text = await ${READ}("c");\nres.write(n + text);`,
    ],
    [
      "after a variable of the file, which another request writes meanwhile",
      `await ${READ}("a");\nhits = req.params.nth;\nawait ${READ}("b");\nres.write("between");\nawait ${READ}("c");\nres.write(hits);`,
    ],
    [
      "in a function that calls itself",
      `res.write(await load(0));`,
      `async function load(n) {\n  const before = n * 10;\n  await ${READ}("a");\n  const more = n < 2 ? await load(n + 1) : "";\n  return before + " " + more;\n}\n`,
    ],
    [
      "of a continuation that throws",
      `const text = await ${READ}("a").then(function thrown(x) { throw new RangeError(x); });\nres.write(text);`,
    ],
    [
      "before the function calls itself",
      `const before = hits;\nawait ${READ}("a");\nhits += 1;\nif (hits < 3) return show(req, res);\nres.write(before);`,
    ],
    [
      "in a function that a continuation has made, and another one calls",
      `const text = await ${READ}("a");\nconst more = async (name) => {\n  const other = await ${READ}(name);\n  return text + other;\n};\nawait ${READ}("c");\nconst both = more("b");\nres.write(await both);`,
    ],
    [
      "in an asynchronous callback",
      `fs.readFile("a", async function inside(err, data) {\n  const text = await ${READ}("b");\n  log(data + text);\n});\nreturn "done";`,
    ],
  ] as [string, string, string?][]) {
    test(what, async () => {
      const text = program(body, before);
      const compilation = compileText(text);
      assert.ok(parts(compilation).some((code) => /^async function \w+_2\(/.test(code ?? "")));
      await behavesAlike(text, compilation);
    });
  }

  test("what a library gives is awaited as the language does it, promise or not", async () => {
    const knowledge = { libraries: { "own-store": { post: [".find"] } } };
    const text = program(
      `const found = await store.find("a");\nres.write(found);`,
      `const store = require("own-store");\n`,
    );
    const compilation = compileText(text, {}, { knowledge });
    const [, show] = fluxionsOf(compilation.pipeline);
    assert.match(show?.code ?? "", /return Promise\.resolve\(store\.find\("a"\)\)\.then\(-> show_2\);/);
    await behavesAlike(text, compilation);
  });

  test("a comment can say that a call goes on later", () => {
    const text = program(`const found = await /* headwater: post */ ask("a");\nres.write(found);`);
    assert.deepEqual(parts(compileText(text)), [THREE[0], "async function show_2(found) {"]);
  });

  test("places are those of the file as it was written", () => {
    const text = program(
      `const text = await ${READ}("a");\nres.write(text);\nfs.readFile("b", function last() {});`,
    );
    const { pipeline } = compileText(text);
    const last = pipeline.parts.find(({ name }) => name === "last");
    assert.equal(text.slice(last?.place.start, last?.place.end), "function last() {}");
    const stream = pipeline.streams.find(({ to }) => to === "last");
    assert.equal(text.slice(stream?.place.start, stream?.place.end), 'fs.readFile("b", function last() {})');
    const next = pipeline.parts.find(({ name }) => name === "show_2");
    assert.equal(text.slice(next?.place.start).startsWith(";\nres.write(text)"), true);
  });

  test("what leaves the main loop as a whole stays whole, and what leaves is the same", () => {
    const text = `${EXPRESS}const bcrypt = require("bcryptjs");
app.get("/", async function hash(req, res) {
  const made = await bcrypt.compare(String(req.query.a), String(req.query.b));
  res.send(made);
});
`;
    const { pipeline } = compileText(text);
    const isMoved = pipeline.stages.some(({ name, kind }) => name === "hash" && kind === "part");
    assert.equal(
      pipeline.parts.some(({ name }) => name === "hash_2"),
      !isMoved,
    );
  });
});

describe("an await stays in one part with what follows", () => {
  for (const [what, body, reason, before] of [
    [
      "in a try",
      `try { res.write(await ${READ}("missing")); } catch (error) { res.write(error.message); }\nres.write("end");`,
      /inside of a try/,
    ],
    [
      "in a catch",
      `try { null.x; } catch (error) { await ${READ}("a"); }\nres.write("end");`,
      /inside of a try/,
    ],
    [
      "in a loop",
      `for (const name of ["a", "b"]) { const text = await ${READ}(name); res.write(text); }`,
      /in a loop/,
    ],
    [
      "in the condition of a loop",
      `let n = 0;\nwhile ((await ${READ}("a")) && n < 1) n += 1;\nres.write(n);`,
      /in a loop/,
    ],
    [
      "under a condition",
      `if (hits === 0) { const text = await ${READ}("a"); res.write(text); }\nres.write("end");`,
      /under a condition/,
    ],
    [
      "under a condition in an expression",
      `const text = hits === 0 && (await ${READ}("a"));\nres.write(text);`,
      /under a condition/,
    ],
    ["in a switch", `switch (hits) { case 0: await ${READ}("a"); }\nres.write("end");`, /under a condition/],
    ["in a block", `{ const text = await ${READ}("a"); res.write(text); }\nres.write("end");`, /in a block/],
    [
      "behind a method",
      `res.write(await ${READ}("a"));\nres.write("end");`,
      /res\.write is looked at before the wait/,
    ],
    [
      "behind a variable that others write",
      `const text = hits + (await ${READ}("a"));\nhits += 1;\nres.write(text);`,
      /hits is looked at before/,
    ],
    [
      "behind an effect",
      `const text = log("first") + (await ${READ}("a"));\nres.write(text);`,
      /log\(\) is looked at before/,
    ],
    [
      "added to a variable",
      `hits += (await ${READ}("a")).length;\nres.write(hits);`,
      /hits is looked at before/,
    ],
    [
      "in a template behind an object",
      `const list = [1];\nconst text = \`\${list} \${await ${READ}("a")}\`;\nlist.push(2);\nres.write(text);`,
      /list is looked at before/,
    ],
    [
      "behind another await",
      `const text = (await ${READ}("a")) + (await ${READ}("b"));\nres.write(text);`,
      /awaits something else before/,
    ],
    [
      "behind other variables",
      `let n = hits++, text = await ${READ}("a");\nres.write(n + text);`,
      /declares other variables before/,
    ],
    [
      "if what follows uses this",
      `const text = await ${READ}("a");\nres.write(typeof this + text);`,
      /uses this/,
    ],
    [
      "if what follows uses arguments",
      `const text = await ${READ}("a");\nres.write(arguments.length + text);`,
      /uses arguments/,
    ],
    [
      "if what is before uses arguments",
      `const n = () => arguments.length;\nconst text = await ${READ}("a");\nres.write(n() + text);`,
      /uses arguments/,
    ],
    [
      "if a function further down is used before",
      `const name = first();\nconst text = await ${READ}(name);\nres.write(text);\nfunction first() { return "a"; }`,
      /first is declared after the await, and used before it/,
    ],
    [
      "if a variable further down is used before",
      `n = 2;\nconst text = await ${READ}("a");\nvar n;\nres.write(text + n);`,
      /n is declared after the await/,
    ],
    [
      "if the variable itself is used before",
      `const look = () => text;\nconst text = await ${READ}("a");\nres.write(look());`,
      /text is declared after the await/,
    ],
    [
      "if a function in a block further down is used before",
      `const before = typeof later;\nconst text = await ${READ}("a");\n{ function later() {} }\nres.write(before + text);`,
      /later is declared after the await/,
    ],
    [
      "if a parameter is declared again",
      `const text = await ${READ}("a");\nvar req;\nres.write(text + typeof req);`,
      /req is declared after the await/,
    ],
    [
      "if eval may need anything",
      `let n = 1;\nconst text = await ${READ}("a");\nres.write(eval("n") + text);`,
      /eval/,
    ],
    [
      "if what follows would be a directive",
      `await ${READ}("a");\n"use strict";\nundeclared = 1;\nres.write(delete globalThis.undeclared);`,
      /directive/,
    ],
  ] as [string, string, RegExp, string?][]) {
    test(what, async () => {
      const text = program(body, before);
      const compilation = compileText(text);
      const { uncut } = compilation.pipeline;
      assert.ok(uncut.length > 0, "it is said why");
      for (const { code, advice, reason: told, place } of uncut) {
        assert.equal(code, "HW-7015");
        assert.match(told, reason);
        assert.notEqual(advice, "");
        assert.equal(text.slice(place.start, place.start + 6), "await ");
      }
      if (!/awaits something else/.test(String(reason)))
        assert.deepEqual(
          parts(compilation).filter((each) => /show_2/.test(each ?? "")),
          [],
        );
      await behavesAlike(text, compilation);
    });
  }

  for (const [what, text, reason] of [
    [
      "in a file itself",
      `import fs from "node:fs";\nconst text = await ${READ}("a");\nconsole.log(text);\n`,
      /the file itself/,
    ],
    [
      "in a generator",
      `${EXPRESS}async function* all() { const text = await ${READ}("a"); yield text; }\napp.get("/", (req, res) => all());\n`,
      /generator/,
    ],
    [
      "in a function without statements",
      `${EXPRESS}app.get("/", async (req, res) => res.send(await ${READ}("a")));\n`,
      /no statements/,
    ],
    [
      "in a class with private names",
      `${EXPRESS}class A { #n = 1; async get() { const text = await ${READ}("a"); return text + this.#n; } }\napp.get("/", (req, res) => new A().get());\n`,
      /uses (this|#n)/,
    ],
  ] as [string, string, RegExp][]) {
    test(what, () => {
      const name = text.startsWith("import") ? "app.mjs" : "app.cjs";
      const { uncut } = compileText(text, {}, { name }).pipeline;
      assert.equal(uncut.length, 1);
      assert.match(uncut[0]?.reason ?? "", reason);
    });
  }

  for (const [what, body] of [
    ["nothing follows", `await ${READ}("a");`],
    ["it is returned", `res.write("first");\nreturn await ${READ}("a");`],
    ["the variable is the last thing", `const text = await ${READ}("a");`],
    ["nothing is known of the call", `const text = await ask("a");\nres.write(text);`],
    ["the call is not asynchronous itself", `const text = await twice("a");\nres.write(text);`],
    [
      "it is given its continuation already",
      `await fs.readFile("a", function other(err, text) { log(text); });\nres.write("end");`,
    ],
    ["it is no call", `const going = ${READ}("a");\nconst text = await going;\nres.write(text);`],
    [
      "not all of several are known",
      `const all = await Promise.all([${READ}("a"), twice("b")]);\nres.write(all);`,
    ],
  ] as const) {
    test(`without a word if ${what}`, async () => {
      const text = program(body, "async function twice(x) { return x + x; }\n");
      const compilation = compileText(text);
      assert.deepEqual(compilation.pipeline.uncut, []);
      const own = parts(compilation).filter((code) => !code?.startsWith("function other"));
      assert.deepEqual(own, ["async function show(req, res) {"]);
      if (!/ask/.test(body)) await behavesAlike(text, compilation);
    });
  }

  test("a promise of its own makes a file mean something else by it", () => {
    const text = program(
      `const [a] = await Promise.all([${READ}("a")]);\nres.write(a);`,
      "const Promise = require('bluebird');\n",
    );
    assert.deepEqual(parts(compileText(text)), ["async function show(req, res) {"]);
  });
});

describe("docs/fluxions.md", () => {
  const text = readFileSync(join(ROOT, "docs", "fluxions.md"), "utf8");
  const blocks = blocksOf(text);
  const printed = blocks.filter(({ language, text: each }) => language === "text" && each.startsWith("flx "));
  const [example] = blocks.filter(({ language }) => language === "js");

  test("shows fluxions as they are printed", () => {
    const counter = compile(join(ROOT, "examples", "fluxion", "counter.js"));
    assert.equal(`${printed[0]?.text.trimEnd()}\n`, print(fluxionsOf(counter.pipeline)));
    const { pipeline } = compileText(`${EXPRESS}let hits = 0;\n${example?.text}`);
    assert.equal(`${printed[1]?.text.trimEnd()}\n`, print(fluxionsOf(pipeline).slice(1)));
  });

  test("shows a program that answers as its fluxions do", async () => {
    const whole = `${EXPRESS}let hits = 0;\n${example?.text}`.replaceAll("res.send", "res.write");
    await behavesAlike(whole, compileText(whole));
  });
});
