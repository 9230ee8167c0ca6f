import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { link } from "headwater/fluxion";
import { changedText, fingerprint } from "#src/fluxion/runtime/same-texts.js";
import { settingsOf } from "#src/fluxion/runtime/settings.js";
import { Stages } from "#src/fluxion/runtime/stages.js";
import { compileText, EXPRESS, stageNames } from "./compiling.js";

const HEAVY = "function heavy(x) { let s = 0; for (let i = 0; i < 3e6; i++) s += i % 7; return s + x; }\n";

describe("a handler in a wrapper that the program writes itself goes", () => {
  const wrapped = (
    wrapper: string,
    handler = "async (req, res) => { res.json(heavy(Number(req.query.a))); }",
  ) => compileText(`${EXPRESS}${HEAVY}const wrap = ${wrapper};\napp.get("/", wrap(${handler}));`);
  for (const wrapper of [
    "(f) => (req, res, next) => Promise.resolve(f(req, res, next)).catch(next)",
    "(f) => (req, res, next) => f(req, res, next).catch(next)",
    "(f) => { return function (req, res, next) { f(req, res, next).catch((e) => next(e)); }; }",
    "function (f) { return async (req, res, next) => { try { await f(req, res, next); } catch (e) { next(e); } }; }",
    "(f) => async (req, res, next) => { try { return await f(req, res, next); } catch (e) { return next(e); } }",
  ]) {
    test(wrapper, () => assert.deepEqual(partsOf(wrapped(wrapper)), ["part"]));
  }

  test("also if it is in another file", () => {
    const text = `${EXPRESS}${HEAVY}const { wrap } = require("./wrap.cjs");\napp.get("/", wrap(async (req, res) => { res.json(heavy(1)); }));`;
    const files = { "wrap.cjs": "exports.wrap = (f) => (req, res, next) => f(req, res, next).catch(next);" };
    assert.deepEqual(partsOf(compileText(text, files)), ["part"]);
  });

  for (const wrapper of [
    "(f) => (req, res, next) => { f(req, res, next).catch(next); console.log(1); }",
    "(f) => (req, res, next) => f(req, res, next).then(() => next(), next)",
    "(f) => (req, res, next) => f(res, req, next).catch(next)",
    "(f) => (req, res, next) => f(req, res, next).catch(console.log)",
    "(f) => (req, res, next) => f(req, res, next).catch(() => res.send('x'))",
    "(f) => (req, res, next) => { f = f || 1; return f(req, res, next).catch(next); }",
    "(f) => (f, res, next) => f(f, res, next).catch(next)",
    "(f, n = 1) => (req, res, next) => f(req, res, next).catch(next)",
    "(f) => async (req, res, next) => { try { await f(req, res, next); } catch (e) { next(e); } finally { n++; } }",
  ]) {
    test(`not if it does something else: ${wrapper}`, () => assert.deepEqual(partsOf(wrapped(wrapper)), []));
  }

  const plain = "(f) => (req, res, next) => f(req, res, next).catch(next)";
  for (const handler of [
    "(req, res) => { res.json(heavy(1)); return Promise.resolve(); }",
    "async (error, req, res, next) => { res.json(heavy(1)); }",
  ]) {
    test(`not ${handler}`, () => assert.deepEqual(partsOf(wrapped(plain, handler)), []));
  }
});

function partsOf(compiled: ReturnType<typeof compileText>): string[] {
  return compiled.pipeline.stages.filter(({ weight }) => weight !== "trivial").map(({ kind }) => kind);
}

describe("a template that is read from a file while the program is loaded", () => {
  const PUG = "ul\n  each x in list\n    li= x";
  const program = (read: string, before = "") =>
    `${EXPRESS}const path = require("node:path");\n${before}const page = require("pug").compile(${read});
app.post("/", function handler(req, res) { res.send(page({ list: req.body })); });`;
  const READS = [
    'fs.readFileSync(path.join(__dirname, "views", "page.pug"), "utf8")',
    'fs.readFileSync(path.resolve(__dirname, "./views/page.pug"), "utf-8")',
    'fs.readFileSync(__dirname + "/views/page.pug", "utf8")',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program
    'fs.readFileSync(`${__dirname}/views/page.pug`, "utf8")',
  ];
  const compiled = (text: string, pug: string) => compileText(text, { "views/page.pug": pug });

  for (const read of READS) {
    test(`${read} goes, and its text is noted`, () => {
      const found = compiled(program(read), PUG);
      assert.deepEqual(stageNames(found), ["handler"]);
      const [[file, hash] = []] = Object.entries(link(found).manifest.texts ?? {});
      assert.match(file ?? "", /views\/page\.pug$/);
      assert.equal(hash, fingerprint(PUG));
    });
  }

  test("stays if it changes what it is given", () => {
    assert.deepEqual(stageNames(compiled(program(READS[0] ?? ""), "- list.push(1)\np= list")), []);
  });

  for (const read of [
    'fs.readFileSync("views/page.pug", "utf8")',
    'fs.readFileSync(path.resolve("views/page.pug"), "utf8")',
    'fs.readFileSync(path.join(__dirname, process.argv[2]), "utf8")',
    'fs.readFileSync(path.join(__dirname, "views/none.pug"), "utf8")',
    'fs.readFileSync(path.join(__dirname, "views/page.pug"))',
  ]) {
    test(`stays if the file is not known: ${read}`, () =>
      assert.deepEqual(stageNames(compiled(program(read), PUG)), []));
  }

  test("stays on the main loop of a program that finds another text there", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "headwater-texts-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "page.pug");
    writeFileSync(file, PUG);
    const stage = {
      id: "s",
      file: "a.js",
      line: 1,
      column: 1,
      name: "s",
      worker: "w",
      receivers: [],
      inputs: [],
    };
    const ran: string[] = [];
    const start = () =>
      Promise.resolve({
        isFull: false,
        run: () => Promise.resolve([true, 1, -1, "there"]),
        stop: () => Promise.resolve(),
      });
    const settings = settingsOf({ move: "all", threads: 1 });
    for (const hash of [fingerprint(PUG), fingerprint("another")]) {
      const stages = new Stages(
        { stages: [stage], texts: { [file]: hash } },
        new URL("file:///"),
        settings,
        start,
      );
      ran.push(String(await stages.call({ id: "s", inputs: [], receivers: [], local: () => "here" })));
    }
    // The file was written when this process had begun.
    assert.deepEqual(ran, ["here", "here"]);
    const old = new URL("../../package.json", import.meta.url).pathname;
    const { readFileSync } = await import("node:fs");
    const before = fingerprint(readFileSync(old, "utf8"));
    assert.equal(changedText({ [old]: before }), null);
    assert.equal(changedText({ [old]: fingerprint("another") }), old);
    assert.equal(changedText({ [`${old}.none`]: before }), `${old}.none`);
    const stages = new Stages(
      { stages: [stage], texts: { [old]: before } },
      new URL("file:///"),
      settings,
      start,
    );
    assert.equal(await stages.call({ id: "s", inputs: [], receivers: [], local: () => "here" }), "there");
  });
});

describe("a method that a controller calls goes by itself", () => {
  const program = (service: string, more = "", field = "this.service.run(Number(req.query.a))") =>
    `${EXPRESS}${HEAVY}const FACTOR = 2;
class Service { base = 1; ${service} }
class Controller {
  constructor(service) { this.service = service; }
  show = async (req, res, next) => { const v = ${field}; res.json({ v }); };
}
const controller = new Controller(new Service());
app.get("/", controller.show);
${more}`;
  const RUN = "run(x) { return heavy(x) * FACTOR; }";

  test("with what it needs of its file", () => {
    const found = compileText(program(RUN));
    assert.deepEqual(stageNames(found), ["cut this.service.run"]);
    const worker = [...link(found).workers.values()].map(({ code }) => code).join("\n");
    assert.match(worker, /"use strict"; return \(function run\(x\)/);
    assert.match(worker, /const FACTOR = 2;/);
  });

  test("in a file of its own", () => {
    const files = {
      "service.cjs": `${HEAVY}class Service { ${RUN.replace(" * FACTOR", "")} }\nmodule.exports = { Service };`,
    };
    const text = program(RUN)
      .replace(HEAVY, "")
      .replace(/class Service.*\n/, 'const { Service } = require("./service.cjs");\n');
    assert.deepEqual(stageNames(compileText(text, files)), ["cut this.service.run"]);
  });

  for (const [what, text] of Object.entries({
    "it uses `this`": program("run(x) { return heavy(x) + this.base; }"),
    "it uses `arguments`": program("run(x) { return heavy(x) + arguments.length; }"),
    "it is a generator": program("*run(x) { yield heavy(x); }"),
    "it may be another one": program(RUN, "controller.service = { run: (x) => x };"),
    "it may be another one, on the instance": program(RUN, "controller.service.run = (x) => x;"),
    "its class is changed": program(RUN, "Service.prototype.run = (x) => x;"),
    "its class is given away": program(RUN, 'require("unknown")(Service);'),
    "its object is given away": program(RUN, 'require("unknown")(controller);'),
    "a getter gives its object": program(RUN, "", "this.own.run(1)").replace(
      "constructor(service) {",
      "get own() { n++; return this.service; } constructor(service) {",
    ),
    "its name is computed": program(RUN, "", "this.service[req.query.b](1)"),
    "its class extends an unknown one": program(RUN).replace(
      "class Service",
      'class Service extends require("unknown")',
    ),
    "it changes state": program("run(x) { total += heavy(x); return total; }", "let total = 0;"),
  })) {
    test(`stays if ${what}`, () => {
      const found = compileText(text);
      assert.deepEqual(
        stageNames(found).filter((each) => each.includes("run")),
        [],
      );
    });
  }
});

describe("a package that takes too long to follow is left out", () => {
  const text = `${EXPRESS}const ms = require("ms");\nconst shown = require("escape-html");
app.get("/", function handler(req, res) { let s = ""; for (const each of req.body.all) s += shown(each); res.send(s); });
app.get("/ms", (req, res) => { res.json(ms(String(req.query.a))); });`;
  const compiled = (effort: number) => compileText(text, {}, { packages: ["ms", "escape-html"], effort });
  const left = (effort: number) =>
    compiled(effort).pipeline.diagnostics.flatMap(({ code, subject }) =>
      code === "HW-7016" ? [subject] : [],
    );

  test("and that is said where it is loaded; the program is compiled all the same", () => {
    assert.deepEqual(left(1_000_000), []);
    assert.ok(stageNames(compiled(1_000_000)).includes("handler"));
    assert.deepEqual(left(1).toSorted(), ["escape-html", "ms"]);
    assert.deepEqual(stageNames(compiled(1)), []);
  });
});
