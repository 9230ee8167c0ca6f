import type { Make, State } from "./state.js";

/** State in other files, loaded in every way in which files can be loaded. */

const SPELLINGS = [
  (file: string) => `require("./${file}.json")`,
  (file: string) => `require("./${file}")`,
  (file: string) => `require(require("path").join(__dirname, "${file}.json"))`,
  (file: string) => `require(__dirname + "/${file}.json")`,
  (file: string) => `require("module").createRequire(__filename)("./${file}.json")`,
  (file: string) => `require(require.resolve("./${file}.json"))`,
  (file: string) => `require(["./${file}", "json"].join("."))`,
  (file: string) => `require.main.require("./${file}.json")`,
];

export const json: Make = (x, choices, dialect) => {
  const all = dialect === "commonjs" ? SPELLINGS : SPELLINGS.slice(0, -1);
  const [one, other] = [choices.pick(all), choices.pick(all)];
  const imported = dialect !== "commonjs" && choices.oneIn(2);
  const first = imported
    ? `import ${x} from "./data_${x}.json" with { type: "json" };`
    : `const ${x} = ${one(`data_${x}`)};`;
  return {
    declared: `${first}\nconst other_${x} = ${other(`data_${x}`)};`,
    files: { [`data_${x}.json`]: '{ "n": 0, "inner": { "m": 0 } }' },
    reads: [`${x}.n`, `other_${x}.n`, `other_${x}.inner.m`, `${one(`data_${x}`)}.n`],
    writes: [(by) => `${x}.n += ${by};`, (by) => `other_${x}.n += ${by};`, (by) => `${x}.inner.m += ${by};`],
    shown: `JSON.stringify([${x}, other_${x}])`,
  };
};

/** How a file is loaded, which one it is, and what else is there. */
interface Loaded {
  readonly written: string;
  readonly file: string;
  readonly more?: Readonly<Record<string, string>>;
  /** What stands behind it in the entry. */
  readonly behind?: string;
}

const REQUIRED: readonly ((x: string) => Loaded)[] = [
  (x) => ({ written: `require("./store_${x}")`, file: `store_${x}.js` }),
  (x) => ({ written: `require("./store_${x}.js")`, file: `store_${x}.js` }),
  (x) => ({ written: `require("./folder_${x}")`, file: `folder_${x}/index.js` }),
  (x) => ({
    written: `require("./folder_${x}")`,
    file: `folder_${x}/own.js`,
    more: { [`folder_${x}/package.json`]: '{ "main": "own.js" }' },
  }),
  (x) => ({ written: `require(__dirname + "/store_${x}.js")`, file: `store_${x}.js` }),
  (x) => ({
    written: `require("module").createRequire(__filename)("./store_${x}")`,
    file: `store_${x}.js`,
  }),
  (x) => ({ written: `require.main.require("./store_${x}")`, file: `store_${x}.js` }),
  (x) => ({ written: `require("./" + ["store_${x}"][0])`, file: `store_${x}.js` }),
  (x) => ({ written: `require("#store_${x}")`, file: `store_${x}.js` }),
  (x) => ({ written: `require("kept-${x}")`, file: `node_modules/kept-${x}/index.js` }),
  (x) => ({ written: `require("kept-${x}")`, file: `node_modules/kept-${x}/index.js` }),
  (x) => ({
    written: `require("kept-${x}/sub")`,
    file: `node_modules/kept-${x}/lib/sub.js`,
    more: { [`node_modules/kept-${x}/package.json`]: '{ "exports": { "./sub": "./lib/sub.js" } }' },
  }),
  (x) => ({
    written: `require("./store_${x}")`,
    file: `store_${x}.js`,
    more: { [`more_${x}/own.js`]: ROUTES.used(x) },
    behind: `for (const file of require("fs").readdirSync(__dirname + "/more_${x}")) require("./more_${x}/" + file)(app);`,
  }),
  (x) => ({
    written: `require("./store_${x}")`,
    file: `store_${x}.js`,
    more: { [`more_${x}/own.js`]: ROUTES.after(x) },
    behind: `for (const file of require("fs").readdirSync(__dirname + "/more_${x}")) require("./more_${x}/" + file)(app);`,
  }),
  (x) => ({
    written: `require("./store_${x}")`,
    file: `store_${x}.js`,
    more: { [`more_${x}.js`]: `const kept = require("./store_${x}");\nmodule.exports = () => kept;\n` },
    behind: `const given_${x} = require(["./more_${x}"].join())();`,
  }),
];

/** Files with routes of their own, which only a loader that reads their folder names. */
const ROUTES = {
  used: (x: string) =>
    `const kept = require("../store_${x}");\nmodule.exports = (app) => { app.use((req, res, next) => { kept.add(1); next(); }); };\n`,
  after: (x: string) =>
    `const kept = require("../store_${x}");\nmodule.exports = (app) => { app.use((req, res, next) => { next(); kept.add(1); }); };\n`,
};

const STORES = [
  "let n = 0;\nmodule.exports = { add(by) { n += by; return n; }, get: () => n };\n",
  "exports.n = 0;\nexports.add = (by) => { exports.n += by; };\nexports.get = () => exports.n;\n",
  "class Store { n = 0; add(by) { this.n += by; } get() { return this.n; } }\nmodule.exports = new Store();\n",
  "const kept = [];\nmodule.exports = function store(by) { kept.push(by); };\nmodule.exports.add = (by) => kept.push(by);\nmodule.exports.get = () => kept.length;\n",
];

export const module: Make = (x, choices, dialect) => {
  if (dialect !== "commonjs") return imported(x, choices, dialect);
  const { written, file, more, behind = "" } = choices.pick(REQUIRED)(x);
  const again = choices.oneIn(2) ? written : x;
  return {
    declared: `const ${x} = ${written};\n${behind}`,
    files: { ...more, [file]: choices.pick(STORES) },
    ...usesOf(x, again),
  };
};

function usesOf(x: string, again: string): Pick<State, "reads" | "writes" | "shown"> {
  return {
    reads: [`${x}.get()`, `${again}.get()`],
    writes: [(by) => `${x}.add(${by});`, (by) => `${again}.add(${by});`],
    shown: `${x}.get()`,
  };
}

const NAMED_STORES = [
  "export let n = 0;\nexport function add(by) { n += by; return n; }\nexport const get = () => n;\n",
  "const kept = { n: 0 };\nexport const add = (by) => { kept.n += by; };\nexport function get() { return kept.n; }\nexport { kept };\n",
  "const kept = new Map();\nfunction add(by) { kept.set(kept.size, by); }\nexport { add };\nexport const get = () => kept.size;\n",
];
const DEFAULT_STORES = [
  "export default class Store { static n = 0; static add(by) { Store.n += by; } static get() { return this.n; } }\n",
  "class Store { #n = 0; add(by) { this.#n += by; } get() { return this.#n; } }\nexport default new Store();\n",
  "const kept = [];\nexport default { add: (by) => kept.push(by), get: () => kept.length };\n",
  "let n = 0;\nexport { own as default };\nconst own = { add(by) { n += by; }, get() { return n; } };\n",
];

/** In ES modules: by name, as a whole, through another file, when it comes to that, and by names that are computed. */
const imported: Make = (x, choices, dialect) => {
  const ending = dialect === "typed" ? "mts" : "mjs";
  const file = `store_${x}.${ending}`;
  const from = `"./store_${x}.mjs"`;
  const [named, whole] = [choices.pick(NAMED_STORES), choices.pick(DEFAULT_STORES)];
  const uses = usesOf(x, x);
  return choices.pick<() => State>([
    () => ({ declared: `import * as ${x} from ${from};`, files: { [file]: named }, ...uses }),
    () => ({ declared: `import ${x} from ${from};`, files: { [file]: whole }, ...uses }),
    () => ({
      declared: `import { add as add_${x}, get as get_${x} } from ${from};`,
      files: { [file]: named },
      reads: [`get_${x}()`],
      writes: [(by) => `add_${x}(${by});`],
      shown: `get_${x}()`,
    }),
    () => ({
      declared: `import { n as ${x}, add as add_${x} } from ${from};`,
      files: { [file]: NAMED_STORES[0] ?? "" },
      reads: [x],
      writes: [(by) => `add_${x}(${by});`],
      shown: x,
    }),
    () => ({
      declared: `import * as ${x} from "./all_${x}.mjs";`,
      files: { [file]: named, [`all_${x}.${ending}`]: `export * from ${from};\n` },
      ...uses,
    }),
    () => ({
      declared: `import { own as ${x} } from "./all_${x}.mjs";`,
      files: { [file]: whole, [`all_${x}.${ending}`]: `export { default as own } from ${from};\n` },
      ...uses,
    }),
    () => ({ declared: `const ${x} = await import(${from});`, files: { [file]: named }, ...uses }),
    () => ({
      declared: `const name_${x} = ["./store_${x}", "mjs"].join(".");\nconst ${x} = (await import(name_${x})).default;`,
      files: { [file]: whole },
      ...uses,
    }),
    () => ({
      declared: `import * as ${x} from ${from};\nconst other_${x} = await import(["./store_${x}", "mjs"].join("."));`,
      files: { [file]: named },
      ...usesOf(x, `other_${x}`),
    }),
    () => ({
      declared: `import * as ${x} from ${from};\nimport { give as give_${x} } from "./giver_${x}.mjs";`,
      files: {
        [file]: named,
        [`giver_${x}.${ending}`]: `import * as kept from ${from};\nexport const give = () => kept;\n`,
      },
      ...usesOf(x, `give_${x}()`),
    }),
    () => ({
      declared: `import ${x} from "kept-${x}";`,
      files: {
        [`node_modules/kept-${x}/index.js`]: whole,
        [`node_modules/kept-${x}/package.json`]: '{ "type": "module", "exports": "./index.js" }',
      },
      ...uses,
    }),
    () => ({
      declared: `import ${x} from "kept-${x}";`,
      files: { [`node_modules/kept-${x}/index.js`]: choices.pick(STORES) },
      ...uses,
    }),
    () => ({
      declared: `import ${x} from "./store_${x}.cjs";\nconst other_${x} = require("./store_${x}.cjs");`,
      files: { [`store_${x}.cjs`]: choices.pick(STORES) },
      ...usesOf(x, `other_${x}`),
    }),
    () => ({
      declared: `import ${x} from "#store_${x}";\nimport other_${x} from ${from};`,
      files: { [file]: whole },
      ...usesOf(x, `other_${x}`),
    }),
  ])();
};
