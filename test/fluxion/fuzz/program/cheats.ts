import type { Make, State } from "./state.js";

/**
 * Packages whose function `of` looks as if it only computed, and does not. Nothing is known of them, so their callers stay on the main
 * loop. A compiler that takes them at their word (`--trusting`) must be found out by each of them.
 */

interface Cheat {
  readonly text: string;
  /** Calls of the package that stand for a value. */
  readonly calls: (x: string) => readonly string[];
  /** What the program says besides. */
  readonly more?: (x: string) => string;
  readonly writes?: (x: string) => State["writes"];
  /** What else can be seen. */
  readonly shown?: (x: string) => string;
}

export const CHEATS: Readonly<Record<string, Cheat>> = {
  "a counter of the file": {
    text: "let n = 0;\nexports.of = () => ++n;\nexports.seen = () => n;\n",
    calls: (x) => [`${x}.of()`],
  },
  "a table of what was asked": {
    text: "const memory = new Map();\nexports.of = (x) => { if (!memory.has(x)) memory.set(x, memory.size); return memory.get(x); };\nexports.seen = () => [...memory.keys()].join();\n",
    calls: (x) => [`${x}.of(req.query.q)`, `${x}.of(1)`, `${x}.of("b")`],
  },
  "a table that is made when it is needed": {
    text: "let table = null;\nexports.of = (x) => { table ??= { from: String(x) }; return table.from; };\nexports.seen = () => JSON.stringify(table);\n",
    calls: (x) => [`${x}.of(req.query.q)`, `${x}.of(2)`],
  },
  "a variable of a closure": {
    text: "const [of, seen] = (() => { let last = 0; return [(x) => { const before = last; last = String(x).length; return before; }, () => last]; })();\nmodule.exports = { of, seen };\n",
    calls: (x) => [`${x}.of(req.query.q)`, `${x}.of("abc")`],
  },
  "a field of itself": {
    text: "exports.of = function of(x) { of.calls = (of.calls || 0) + 1; return of.calls; };\nexports.seen = () => exports.of.calls || 0;\n",
    calls: (x) => [`${x}.of(1)`],
  },
  "an expression that remembers": {
    text: "const every = /a/g;\nexports.of = () => every.test('aaaaaaaaa');\nexports.seen = () => every.lastIndex;\n",
    calls: (x) => [`${x}.of()`],
  },
  "an iterator": {
    text: "let at = 0;\nconst all = (function* () { for (;;) yield ++at; })();\nexports.of = () => all.next().value;\nexports.seen = () => at;\n",
    calls: (x) => [`${x}.of()`],
  },
  "what a prototype has": {
    text: "class Row { get n() { return Row.prototype.k || 0; } }\nexports.of = () => { const { n } = new Row(); Row.prototype.k = n + 1; return n; };\nexports.seen = () => new Row().n;\n",
    calls: (x) => [`${x}.of()`],
  },
  "a name of everybody": {
    text: "exports.of = () => { const name = 'shared_' + __filename; globalThis[name] = (globalThis[name] || 0) + 1; try { return globalThis[name]; } finally { queueMicrotask(() => {}); } };\nexports.seen = () => { const name = 'shared_' + __filename; const n = globalThis[name] || 0; delete globalThis[name]; return n; };\n",
    calls: (x) => [`${x}.of()`],
  },
  "code that it makes": {
    text: "const box = { n: 0 };\nconst bump = new Function('box', 'return ++box.n');\nexports.of = () => bump(box);\nexports.seen = () => box.n;\n",
    calls: (x) => [`${x}.of()`],
  },
  "a promise that goes on": {
    text: "let n = 0;\nexports.of = () => { Promise.resolve().then(() => { n++; }); return n; };\nexports.seen = () => n;\n",
    calls: (x) => [`${x}.of()`],
  },
  "the environment": {
    text: "exports.of = () => process.env.ODD || 'none';\nexports.seen = () => process.env.ODD || 'none';\n",
    calls: (x) => [`${x}.of()`],
    more: () => 'process.env.ODD = "0";',
    writes: () => [(by) => `process.env.ODD += ${by};`],
  },
  "options that are set": {
    text: "let by = 1;\nexports.set = (n) => { by += n; };\nexports.of = (x) => String(x).length * by;\nexports.seen = () => by;\n",
    calls: (x) => [`${x}.of(req.query.q)`, `${x}.of(12)`],
    writes: (x) => [(by) => `${x}.set(${by});`],
  },
  "what it was given": {
    text: "exports.of = (o) => { o.n = (o.n || 0) + 1; return o.n; };\nexports.seen = () => 1;\n",
    calls: (x) => [`${x}.of(given_${x})`, `given_${x}.n`],
    more: (x) => `const given_${x} = { n: 0 };`,
    shown: (x) => `given_${x}.n`,
  },
  "what it gives": {
    text: "const kept = { n: 0 };\nexports.of = () => kept;\nexports.seen = () => kept.n;\n",
    calls: (x) => [`(${x}.of().n += 1)`, `(${x}.of() === ${x}.of())`],
  },
  "what it was given, as what it gives": {
    text: "exports.of = (o) => o;\nexports.seen = () => 1;\n",
    calls: (x) => [`(${x}.of(given_${x}) === given_${x})`, `(${x}.of(given_${x}).n += 1)`, `given_${x}.n`],
    more: (x) => `const given_${x} = { n: 0 };`,
    shown: (x) => `given_${x}.n`,
  },
};

export const cheating: Make = (x, choices, dialect) => {
  const { text, calls, more, writes, shown } = choices.pick(Object.values(CHEATS));
  const name = `cheat-${x}`;
  const load = dialect === "commonjs" ? `const ${x} = require("${name}");` : `import ${x} from "${name}";`;
  return {
    declared: `${load}\n${more?.(x) ?? ""}`,
    files: { [`node_modules/${name}/index.js`]: text, [`node_modules/${name}/package.json`]: "{}" },
    reads: [...calls(x), `${x}.seen()`],
    writes: writes?.(x) ?? calls(x).map((call) => () => `${call};`),
    shown: shown === undefined ? `${x}.seen()` : `[${x}.seen(), ${shown(x)}]`,
  };
};

/** What a compiler would have to be told to believe them. */
export function trusted(
  files: Readonly<Record<string, string>>,
): Record<string, { pure: string[]; leaves: string[] }> {
  const names = Object.keys(files).flatMap((file) => /^node_modules\/(cheat-[^/]+)\//.exec(file)?.[1] ?? []);
  return Object.fromEntries(names.map((name) => [name, { pure: [".of"], leaves: [".seen", ".set"] }]));
}
