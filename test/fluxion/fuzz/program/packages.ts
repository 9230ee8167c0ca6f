import type { Make, State } from "./state.js";

/** Packages that do more than they say, of which the compiler reads nothing. */
export const packaged: Make = (x, choices, dialect) => {
  const name = `odd-${x}`;
  const load = dialect === "commonjs" ? `const ${x} = require("${name}");` : `import ${x} from "${name}";`;
  const of = (text: string, more: Partial<State>): State => ({
    declared: load,
    files: { [`node_modules/${name}/index.js`]: text },
    reads: [`${x}.seen()`],
    writes: [() => ""],
    shown: `${x}.seen()`,
    ...more,
  });
  return choices.pick([
    // reading what it puts into requests counts
    () =>
      of(
        `let n = 0;\nmodule.exports = { seen: () => n, use: (req, res, next) => { Object.defineProperty(req, "lazy_${x}", { get: () => ++n, enumerable: true }); next(); } };\n`,
        { declared: `${load}\napp.use(${x}.use);`, reads: [`req.lazy_${x}`, `${x}.seen()`] },
      ),
    () =>
      of(
        `let n = 0;\nmodule.exports = { seen: () => n, use: (req, res, next) => { const { get } = req; req.get = function (key) { n++; return get.call(this, key); }; next(); } };\n`,
        { declared: `${load}\napp.use(${x}.use);`, reads: ['req.get("nth")', `${x}.seen()`] },
      ),
    // it changes what the language brings along
    () =>
      of(
        `Object.defineProperty(String.prototype, "shout_${x}", { configurable: true, value() { return this + "!"; } });\nmodule.exports = { seen: () => 1 };\n`,
        { reads: [`"a".shout_${x}()`] },
      ),
    // it gives away an object that it keeps
    () =>
      of("const kept = { n: 0 };\nmodule.exports = { seen: () => kept.n, give: () => kept };\n", {
        reads: [`${x}.give().n`],
        writes: [(by) => `${x}.give().n += ${by};`],
      }),
    // it remembers, and says so much later
    () =>
      of(
        "const memory = new Map();\nmodule.exports = { seen: () => memory.size, of(x) { if (!memory.has(x)) memory.set(x, memory.size); return memory.get(x); } };\n",
        { reads: [`${x}.of(1)`, `${x}.of("b")`, `${x}.seen()`], writes: [(by) => `${x}.of(${by});`] },
      ),
    () =>
      of(
        "let last = 0;\nexports.seen = () => last;\nexports.of = function of(x) { last = String(x).length; return last + (of.calls = (of.calls || 0) + 1); };\n",
        { reads: [`${x}.of(1)`, `${x}.seen()`], writes: [(by) => `${x}.of(${by});`] },
      ),
  ])();
};

/** A view engine, and what it finds in the app. */
export const rendered: Make = (x) => ({
  declared: `app.engine("${x}", (file, options, done) => done(null, "<" + options.title_${x} + options.settings.more_${x} + ">"));
app.set("views", __dirname + "/views");
app.locals.title_${x} = 0;
app.set("more_${x}", 0);`,
  files: { [`views/page.${x}`]: "" },
  reads: [`app.locals.title_${x}`, `app.get("more_${x}")`],
  writes: [
    (by) => `app.locals.title_${x} += ${by};`,
    (by) => `app.set("more_${x}", app.get("more_${x}") + ${by});`,
    (by) => `req.app.locals.title_${x} += ${by};`,
  ],
  shown: `app.locals.title_${x}`,
  answers: [`res.render("page.${x}");`],
});
