import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Compilation, fluxionsOf, print } from "headwater/fluxion";
import { behavesAlike, parts, program, READ, THREE } from "./awaited.js";
import { compileText, EXPRESS } from "./compiling.js";

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
