import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { link } from "headwater/fluxion";
import { compileText, EXPRESS, stageNames } from "./compiling.js";

const MD = "const md = new (require('markdown-it'))();\n";
const handler = (body: string, before = "") =>
  `${EXPRESS}${before}\napp.get("/", function handler(req, res) {\n${body}\n});`;
const rendering = (setup: string) => handler("res.send(md.render(String(req.query.a)));", `${MD}${setup}`);

function workerOf(text: string, files: Record<string, string> = {}): string {
  const compiled = compileText(text, files);
  assert.deepEqual(stageNames(compiled), ["handler"], reasons(text, files));
  return [...link(compiled).workers.values()].map(({ code }) => code).join("\n");
}

function reasons(text: string, files: Record<string, string> = {}): string {
  return compileText(text, files)
    .pipeline.diagnostics.map(({ code, reason }) => `${code} ${reason}`)
    .join("\n");
}

function stays(text: string, reason: RegExp, files: Record<string, string> = {}): void {
  assert.deepEqual(stageNames(compileText(text, files)), []);
  assert.match(reasons(text, files), reason);
}

describe("statements of a file that set a library up are in the worker, too", () => {
  for (const [setup, expected = setup] of [
    ['md.renderer.rules.heading_open = () => "<h1 class=x>";'],
    ['md.renderer.rules["heading_open"] = () => "<h1 class=x>";'],
    ['const { rules } = md.renderer;\nrules.heading_open = () => "<h1 class=x>";'],
    ["md.options.html = true;"],
    ["Object.assign(md.options, { html: true });"],
    ['Object.assign(md.renderer.rules, { heading_open: () => "<h1>" });'],
    ["delete md.renderer.rules.image;"],
    ["md.use(plugin);\nfunction plugin(it) {}", "md.use(plugin);"],
    ["md.set({ html: true }).disable('link');"],
    ["const same = md.enable('link');"],
    ["md.core.ruler.push('mine', () => {});"],
    ["md.linkify.set({ fuzzyLink: false });"],
  ] as const) {
    test(setup, () => assert.ok(workerOf(rendering(setup)).includes(expected), workerOf(rendering(setup))));
  }

  test("in their order", () => {
    const code = workerOf(rendering("md.set({ html: true });\nmd.options.html = false;\nmd.use(() => {});"));
    const places = ["md.set(", "md.options.html", "md.use("].map((each) => code.indexOf(each));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.ok(!places.includes(-1));
  });

  test("also of what is only imported", () => {
    const setup = "import { marked } from 'marked';\nmarked.use({ gfm: false });\nmarked.setOptions({});\n";
    const text = `import express from "express";\n${setup}const app = express();
app.get("/", function handler(req, res) { res.send(marked.parse(String(req.query.a))); });`;
    const compiled = compileText(text, {}, { name: "app.mjs" });
    assert.deepEqual(stageNames(compiled), ["handler"]);
    const code = [...link(compiled).workers.values()].map((each) => each.code).join("\n");
    assert.match(code, /marked\.use\(\{ gfm: false \}\)[\s\S]*marked\.setOptions/);
  });

  for (const [what, setup, body, expected] of [
    [
      "highlight.js",
      "const hljs = require('highlight.js/lib/core');\nhljs.registerLanguage('css', require('highlight.js/lib/languages/css'));",
      "res.send(hljs.highlight(String(req.query.a), { language: 'css' }).value);",
      "hljs.registerLanguage(",
    ],
    [
      "handlebars",
      "const h = require('handlebars');\nh.registerHelper('loud', (x) => String(x).toUpperCase());\nconst page = h.compile('{{loud a}}');",
      "res.send(page({ a: String(req.query.a) }));",
      "h.registerHelper(",
    ],
    [
      "a renderer that is built first",
      "const { Renderer, marked } = require('marked');\nconst renderer = new Renderer();\nrenderer.hr = () => '<hr class=x>';\nmarked.use({ renderer });",
      "res.send(marked.parse(String(req.query.a)));",
      "renderer.hr =",
    ],
  ] as const) {
    test(what, () => {
      const code = workerOf(handler(body, setup));
      assert.ok(code.includes(expected), code);
    });
  }

  test("of the only other file that does so", () => {
    const files = { "md.cjs": `${MD}exports.md = md;` };
    const setup = "const { md } = require('./md.cjs');\nmd.renderer.rules.hr = () => '<hr class=x>';";
    const text = handler("res.send(md.render(String(req.query.a)));", setup);
    assert.ok(workerOf(text, files).includes("md.renderer.rules.hr ="));
  });
});

describe("a library that is set up in a way that a worker cannot repeat keeps its callers on the main loop", () => {
  for (const [what, text, reason] of [
    ["in a loop", rendering("for (const each of ['link']) md.disable(each);"), /HW-7012 .*cannot repeat/],
    ["by a function", rendering("function setUp(it) { it.options.html = true; }\nsetUp(md);"), /HW-7002/],
    [
      "by a rule with state",
      rendering("let n = 0;\nmd.renderer.rules.hr = () => '<hr id=' + n++ + '>';"),
      /writes n/,
    ],
    [
      "by a helper with state",
      rendering("let n = 0;\nObject.assign(md.renderer.rules, { hr: () => n++ });"),
      /n/,
    ],
    ["by unknown code", rendering("require('unknown-plugin')(md);"), /HW-7002 .*others may change it/],
    ["by unknown code, inside of an object", rendering("require('unknown-plugin')({ md });"), /HW-7002/],
    ["with an unknown plugin", rendering("md.use(require('unknown-plugin'));"), /nothing is known/],
    ["by an unknown method", rendering("md.unknownMethod(1);"), /HW-7012 .*nothing is known/],
    [
      "by an unknown method of the package",
      handler(
        "res.send(hljs.highlight('a', { language: 'css' }).value);",
        "const hljs = require('highlight.js');\nhljs.addPlugin({});",
      ),
      /HW-7012 .*nothing is known/,
    ],
    [
      "through what it gives",
      handler(
        "res.send(hljs.highlight('a', { language: 'css' }).value);",
        "const hljs = require('highlight.js');\napp.post('/', () => { hljs.getLanguage('css').keywords = []; });",
      ),
      /HW-7002 it needs hljs/,
    ],
    [
      "when a request comes",
      rendering("app.post('/', (req, res) => { md.renderer.rules.hr = () => '<hr>'; res.end(); });"),
      /HW-7002 it needs md/,
    ],
    [
      "where it is required, without a variable",
      handler(
        "res.send(require('marked').marked.parse(String(req.query.a)));",
        "require('marked').marked.use({ gfm: false });",
      ),
      /HW-7012 .*marked is changed/,
    ],
    [
      "by a helper that changes what it is given",
      handler(
        "res.send(page({ st: {} }));",
        "const h = require('handlebars');\nh.registerHelper('inc', (it) => { it.n = 1; });\nconst page = h.compile('{{inc st}}');",
      ),
      /HW-7012 .*it changes it\.n/,
    ],
  ] as const) {
    test(what, () => stays(text, reason));
  }

  test("in a file that the worker does not load", () => {
    const files = {
      "md.cjs": `${MD}exports.md = md;`,
      "page.cjs": "const { md } = require('./md.cjs');\nexports.page = (text) => md.render(text);",
    };
    const setup = "const { page } = require('./page.cjs');\nrequire('./md.cjs').md.options.html = true;";
    stays(
      handler("res.send(page(String(req.query.a)));", setup),
      /md is changed while .*app\.cjs is loaded/,
      files,
    );
  });
});

describe("what a library writes to its arguments", () => {
  const cut = (call: string, before: string, after: string) =>
    handler(
      `hits += 1;\n${before}\nconst html = ${call};\nres.json([html, ${after}]);`,
      `let hits = 0;\nconst st = { n: 0 };\nconst ejs = require('ejs'), pug = require('pug');\n${MD}`,
    );
  const EJS = "'<% st.n++ %><%= st.n %>'";
  for (const [what, text] of Object.entries({
    "an environment that is read later": cut("md.render('[a]: http://x', env)", "const env = {};", "env"),
    "data of an ejs template": cut(`ejs.render(${EJS}, { st })`, "", "st.n"),
    "data of a compiled ejs template": cut(`ejs.compile(${EJS})({ st })`, "", "st.n"),
    "data of a pug template": cut("pug.render('p= st.n++', { st })", "", "st.n"),
    "data of an unknown template": cut("ejs.render(String(req.query.t), { st })", "", "st.n"),
    "data that the request holds": cut(`ejs.render(${EJS}, { st: req.body })`, "", "0"),
    "data that is spread": cut(`ejs.render(...[${EJS}, { st }])`, "", "st.n"),
    "data that a lambda changes": cut("ejs.render('<%= f() %>', { st, f() { this.st.n++; } })", "", "st.n"),
    "the request itself": cut("ejs.render('<%= req.url %>', { req })", "", "0"),
    "the request itself, in a whole part": handler(
      "res.send(ejs.render('<%= req.socket.remotePort %>', { req }));",
      "const ejs = require('ejs');",
    ),
    "data of a file that a lambda changes": handler(
      "res.send(page({ st, f() { this.st.n++; return this.st.n; } }));",
      "const st = { n: 0 };\nconst page = require('handlebars').compile('{{f}}');",
    ),
    "data of a file that a compiled template changes": handler(
      "res.send(page({ st }));",
      "const st = { n: 0 };\nconst page = require('ejs').compile('<% st.n++ %><%= st.n %>');",
    ),
    "options of a file that a picture fills up": handler(
      "res.send(PNG.sync.write(PNG.sync.read(req.body), options));",
      "const options = {};\nconst { PNG } = require('pngjs');",
    ),
    "options of a picture": handler(
      "hits += 1;\nconst options = {};\nconst data = PNG.sync.write(new PNG({ width: 1, height: 1 }), options); res.json([data, options]);",
      "let hits = 0;\nconst { PNG } = require('pngjs');",
    ),
    "an instance whose methods a template calls": handler(
      "res.send(require('ejs').render('<% c.hit() %>', { c: new C() }));",
      "let hits = 0;\nclass C { hit() { hits++; } }",
    ),
  })) {
    test(`${what} stays`, () => assert.deepEqual(stageNames(compileText(text)), [], reasons(text)));
  }

  for (const [what, text, stage] of [
    ["an environment that nobody else has", cut("md.render('a', {})", "", "0"), "cut md.render"],
    ["data that is made for it", cut(`ejs.render(${EJS}, { st: { n: 1 } })`, "", "0"), "cut ejs.render"],
    [
      "an own environment of a whole part",
      handler("const env = {}; const h = md.render('a', env); res.json([h, env]);", MD),
      "handler",
    ],
    [
      "data of a request that a plain template reads",
      handler(
        "res.send(ejs.render('<% for (const x of list) { %><p><%= x.name.trim() %><% } %>', { list: req.body }));",
        "const ejs = require('ejs');",
      ),
      "handler",
    ],
    [
      "data of a file that a plain pug template reads",
      handler(
        "res.send(page({ site, list: req.body }));",
        "const site = { title: 'a' };\nconst page = require('pug').compile('h1= site.title\\nul\\n  each x in list\\n    li #{x}');",
      ),
      "handler",
    ],
  ] as const) {
    test(`${what} goes`, () => assert.ok(stageNames(compileText(text)).includes(stage), reasons(text)));
  }
});
