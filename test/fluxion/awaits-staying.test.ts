import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { compile, fluxionsOf, print } from "headwater/fluxion";
import { blocksOf } from "../house/blocks.js";
import { ROOT } from "../house/source.js";
import { behavesAlike, parts, program, READ } from "./awaited.js";
import { compileText, EXPRESS } from "./compiling.js";

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
