import type { Choices } from "../choices.js";
import { cheating } from "./cheats.js";
import type { Dialect } from "./dialect.js";
import { json, module } from "./modules.js";
import { packaged, rendered } from "./packages.js";

/** Something that lives as long as a program, and how it is read and written. */
export interface State {
  /** What stands at the top of the file. */
  readonly declared: string;
  /** Expressions that give what it is. Some change it on the way. */
  readonly reads: readonly string[];
  /** Statements that change it by a number. */
  readonly writes: readonly ((by: string) => string)[];
  /** Reads without changing anything: for the end. */
  readonly shown: string;
  /** Ways to answer with it. */
  readonly answers?: readonly string[];
  /** Other files that it needs. */
  readonly files?: Readonly<Record<string, string>>;
}

export type Make = (name: string, choices: Choices, dialect: Dialect) => State;

const primitive: Make = (x) => ({
  declared: `let ${x} = 0;`,
  reads: [x],
  writes: [
    (by) => `${x} += ${by};`,
    (by) => `${x} = ${x} + ${by};`,
    () => `${x}++;`,
    (by) => `[${x}] = [${x} + ${by}];`,
  ],
  shown: x,
});

const object: Make = (x) => ({
  declared: `const ${x} = { n: 0, inner: { m: 0 } };`,
  reads: [`${x}.n`, `JSON.stringify(${x})`, `Object.values(${x})[0]`, `(({ n }) => n)(${x})`],
  writes: [
    (by) => `${x}.n += ${by};`,
    (by) => `Object.assign(${x}, { n: ${x}.n + ${by} });`,
    (by) => `Reflect.set(${x}, "n", ${x}.n + ${by});`,
    (by) => `[${x}].forEach((each) => { each.n += ${by}; });`,
    (by) => `((o) => { o.n += ${by}; })(${x});`,
    (by) => `for (const each of [${x}.inner]) each.m += ${by};`,
    (by) => `Object.defineProperty(${x}, "n", { value: ${x}.n + ${by}, writable: true, enumerable: true });`,
    (by) => `({ n: ${x}.n } = { n: ${x}.n + ${by} });`,
  ],
  shown: `JSON.stringify(${x})`,
});

const list: Make = (x) => ({
  declared: `const ${x} = [];`,
  reads: [`${x}.length`, `${x}.join()`, `[...${x}].pop()`, `${x}.at(-1)`],
  writes: [
    (by) => `${x}.push(${by});`,
    (by) => `[${by}].forEach(${x}.push, ${x});`,
    (by) => `${x}.push.apply(${x}, [${by}]);`,
    (by) => `Array.prototype.push.call(${x}, ${by});`,
    (by) => `Reflect.apply(${x}.push, ${x}, [${by}]);`,
    (by) => `[${by}].map(${x}.push.bind(${x}));`,
    (by) => `${x}[${x}.length] = ${by};`,
    (by) => `${x}.push(...[1, 2, 3, 4, 5, 6, 7, 8, ${by}]);`,
    (by) => `((...all) => { all[9].push(${by}); })(...[1, 2, 3, 4, 5, 6, 7, 8, 9, ${x}]);`,
    () => `${x}.length = 0;`,
  ],
  shown: `${x}.join()`,
});

const map: Make = (x) => ({
  declared: `const ${x} = new Map([["k", { n: 0 }]]);`,
  reads: [`${x}.get("k").n`, `${x}.size`, `[...${x}.keys()].join()`],
  writes: [
    (by) => `${x}.get("k").n += ${by};`,
    (by) => `${x}.set("a" + ${by}, { n: 0 });`,
    (by) => `${x}.forEach((each) => { each.n += ${by}; });`,
    (by) => `for (const [, each] of ${x}) each.n += ${by};`,
    (by) => `Map.prototype.set.call(${x}, "b", { n: ${by} });`,
  ],
  shown: `JSON.stringify([...${x}])`,
});

const instance: Make = (x) => ({
  declared: `class Tally_${x} {
  #n = 0;
  static all = 0;
  seen = [];
  add = (by) => { this.#n += by; this.seen.push(by); return this.#n; };
  bump(by) { this.#n += by; Tally_${x}.all += by; return this.#n; }
  get value() { return this.#n; }
}
const ${x} = new Tally_${x}();`,
  reads: [`${x}.value`, `${x}.seen.length`, `Tally_${x}.all`],
  writes: [
    (by) => `${x}.bump(${by});`,
    (by) => `${x}.add(${by});`,
    (by) => `[${by}].forEach(${x}.add);`,
    (by) => `Tally_${x}.prototype.bump.call(${x}, ${by});`,
    (by) => `${x}.constructor.all += ${by};`,
  ],
  shown: `[${x}.value, ${x}.seen.length, Tally_${x}.all].join()`,
});

const closure: Make = (x) => ({
  declared: `const ${x} = (() => { let n = 0; return { add(by) { n += by; return n; }, get: () => n }; })();`,
  reads: [`${x}.get()`],
  writes: [(by) => `${x}.add(${by});`, (by) => `{ const { add } = ${x}; add(${by}); }`],
  shown: `${x}.get()`,
});

const inherited: Make = (x, choices) => ({
  declared: `let count_${x} = 0;
const base_${x} = { n: 0, add(by) { base_${x}.n += by; return base_${x}.n; }, trim() { return ++count_${x}; } };
const ${x} = ${choices.pick([
    `Object.create(base_${x})`,
    `{ __proto__: base_${x} }`,
    `Object.setPrototypeOf({}, base_${x})`,
    `Object.create(Object.create(base_${x}))`,
  ])};`,
  reads: [`${x}.n`, `${x}.trim()`],
  writes: [
    (by) => `${x}.add(${by});`,
    (by) => `base_${x}.n += ${by};`,
    (by) => `Object.getPrototypeOf(${x}).n = ${by};`,
    (by) => `${x}.__proto__.n = ${by};`,
    () => `${x}.trim();`,
  ],
  shown: `[${x}.n, base_${x}.n, count_${x}].join()`,
});

const ofFunction: Make = (x) => ({
  declared: `function ${x}(by) { ${x}.n = (${x}.n || 0) + by; return ${x}.n; }`,
  reads: [`${x}.n`],
  writes: [(by) => `${x}(${by});`, (by) => `${x}.n = ${by};`, (by) => `${x}.call(null, ${by});`],
  shown: `${x}.n`,
});

const usedUp: Make = (x, choices) =>
  choices.pick([
    {
      declared: `const ${x} = (function* () { for (let i = 1; ; i++) yield i; })();`,
      reads: [`${x}.next().value`],
      writes: [() => `${x}.next();`],
      shown: `${x}.next().value`,
    },
    {
      declared: `const ${x} = /a/g;`,
      reads: [`${x}.lastIndex`, `${x}.test("aaaa")`],
      writes: [() => `${x}.test("aaaa");`, () => `${x}.lastIndex = 2;`, () => `"aaaa".replace(${x}, "b");`],
      shown: `${x}.lastIndex`,
    },
    {
      declared: `const ${x} = new Date(0);`,
      reads: [`${x}.getTime()`, `${x}.toISOString()`],
      writes: [
        (by: string) => `${x}.setTime(${x}.getTime() + ${by});`,
        (by: string) => `Date.prototype.setTime.call(${x}, ${by});`,
      ],
      shown: `${x}.getTime()`,
    },
    {
      declared: `const ${x} = new Uint8Array(4);`,
      reads: [`${x}[0]`, `${x}.length`],
      writes: [
        (by: string) => `${x}[0] += ${by};`,
        (by: string) => `new DataView(${x}.buffer).setUint8(0, ${by});`,
        (by: string) => `${x}.set([${by}]);`,
        () => `structuredClone(${x}, { transfer: [${x}.buffer] });`,
      ],
      shown: `[${x}.length, ${x}[0]].join()`,
    },
  ]);

/** Reading it counts. */
const counting: Make = (x, choices) => ({
  declared: `let count_${x} = 0;\nconst ${x} = ${choices.pick([
    `{ get n() { return ++count_${x}; } }`,
    `{ toString() { return "t" + ++count_${x}; } }`,
    `{ toJSON() { return ++count_${x}; } }`,
    `{ [Symbol.toPrimitive]() { return ++count_${x}; } }`,
    `{ *[Symbol.iterator]() { yield ++count_${x}; } }`,
    `{ valueOf() { return ++count_${x}; } }`,
    `new Proxy({ n: 1 }, { get(of, key) { count_${x}++; return of[key]; } })`,
    `Object.defineProperty({}, "n", { get: () => ++count_${x} })`,
  ])};`,
  reads: [`${x}.n`, `\`\${String(${x})}\``, `JSON.stringify({ a: ${x} })`],
  writes: [() => `count_${x}++;`],
  shown: `count_${x}`,
});

const ofApp: Make = (x, choices) =>
  choices.pick([
    {
      declared: `app.locals.${x} = { n: 0 };`,
      reads: [`app.locals.${x}.n`, `req.app.locals.${x}.n`],
      writes: [
        (by: string) => `app.locals.${x}.n += ${by};`,
        (by: string) => `req.app.locals.${x}.n += ${by};`,
      ],
      shown: `app.locals.${x}.n`,
    },
    {
      declared: `app.set("${x}", { n: 0 });`,
      reads: [`app.get("${x}").n`],
      writes: [(by: string) => `app.get("${x}").n += ${by};`],
      shown: `app.get("${x}").n`,
    },
    {
      declared: `const shared_${x} = { n: 0 };\napp.use((req, res, next) => { req.${x} = shared_${x}; next(); });`,
      reads: [`req.${x}.n`, `shared_${x}.n`],
      writes: [(by: string) => `req.${x}.n += ${by};`, (by: string) => `shared_${x}.n += ${by};`],
      shown: `shared_${x}.n`,
    },
    {
      declared: `process.env.${x} = "0";`,
      reads: [`process.env.${x}`],
      writes: [(by: string) => `process.env.${x} += ${by};`],
      shown: `process.env.${x}`,
    },
    {
      declared: `const key_${x} = Symbol("k");\nconst ${x} = { [key_${x}]: 0 };`,
      reads: [`${x}[key_${x}]`],
      writes: [(by: string) => `${x}[key_${x}] += ${by};`],
      shown: `${x}[key_${x}]`,
    },
    {
      declared: `const weak_${x} = new WeakMap([[app, { n: 0 }]]);`,
      reads: [`weak_${x}.get(app).n`],
      writes: [(by: string) => `weak_${x}.get(app).n += ${by};`],
      shown: `weak_${x}.get(app).n`,
    },
  ]);

const KINDS: readonly Make[] = [
  primitive,
  object,
  list,
  map,
  instance,
  closure,
  inherited,
  json,
  json,
  module,
  module,
  module,
  ofFunction,
  usedUp,
  counting,
  ofApp,
  packaged,
  packaged,
  rendered,
  cheating,
  cheating,
];

export function stateOf(choices: Choices, name: string, dialect: Dialect): State {
  return choices.pick(KINDS)(name, choices, dialect);
}
