import { Choices } from "../choices.js";
import type { Asked } from "../exchange.js";
import { type Heavy, type Scope, Writer } from "./code.js";
import { DIALECTS, type Dialect, entryOf, inDialect } from "./dialect.js";
import { heavyOf } from "./heavy.js";
import { type State, stateOf } from "./state.js";
import { statements } from "./statements.js";

export interface Program {
  readonly files: Readonly<Record<string, string>>;
  readonly entry: string;
  readonly requests: readonly Asked[];
  /** Each request begins one thing at most that goes on by itself, so that there is only one order of all that happens. */
  readonly isSteady: boolean;
  /** Nothing in it goes on later: each request is one synchronous step. */
  readonly isSynchronous: boolean;
  /** When what happens. */
  readonly schedule: readonly number[];
}

/** `#own` means a file of the program. */
const manifestOf = (dialect: Dialect) =>
  `{ "type": "commonjs", "imports": { "#*": "./*.${{ commonjs: "js", module: "mjs", typed: "mts" }[dialect]}" } }`;
const LATER = /\basync\b|\bawait\b|set(Timeout|Immediate|Interval)|readFile|express\.json/;

/** An Express program, requests to it, and when what happens. */
export function generate(choices: Choices): Program {
  const writer = new Writer(choices);
  const dialect = choices.pick(DIALECTS);
  const isSteady = choices.int(3) > 0;
  const budget = { chains: 0 };
  const states = choices.list(0, 3, () => stateOf(choices, writer.name("state"), dialect));
  const none: Scope = {
    states,
    heavy: [],
    locals: [],
    isAsync: false,
    hasRequest: false,
    inRequests: [],
    budget,
  };
  const heavy = choices.list(1, 2, () => heavyOf(writer, none));
  const scope: Scope = { ...none, heavy };
  const body = [
    ...choices.list(0, 2, () => middleware(writer, scope, isSteady)),
    ...["/a", "/b"].slice(0, 1 + choices.int(2)).map((path) => route(writer, scope, path, isSteady)),
    choices.oneIn(2)
      ? 'app.use((error, req, res, next) => { res.status(500).send("failed: " + error.message); });'
      : "",
  ];
  const split = choices.oneIn(4) ? apart(heavy, states, dialect) : null;
  const text = [
    'const express = require("express");',
    "const app = express();",
    ...states.map(({ declared }) => declared),
    ...(split === null ? heavy.map(({ declared }) => declared) : split.imported),
    ...body.filter((each) => each !== ""),
    `app.get("/state", (req, res) => { res.json([${states.map(({ shown }) => `String(${shown})`).join(", ")}]); });`,
    "",
  ].join("\n");
  const files = Object.assign({}, ...states.map((each) => each.files ?? {}), split?.files ?? {}, {
    [entryOf(dialect)]: inDialect(text, dialect),
    "package.json": manifestOf(dialect),
  });
  const all = Object.values(files as Record<string, string>).join("\n");
  return {
    files: files as Record<string, string>,
    entry: entryOf(dialect),
    requests: choices.list(2, 4, () => asked(choices)).map((each, nth) => ({ ...each, nth })),
    isSteady,
    isSynchronous: !LATER.test(all),
    schedule: choices.list(8, 8, () => choices.int(12)),
  };
}

/** Functions in a file of their own; those that use state of this one must stay. */
function apart(heavy: readonly Heavy[], states: readonly State[], dialect: Dialect) {
  const names = states.flatMap(({ declared }) =>
    [...declared.matchAll(/\b(?:const|let|class|function) (\w+)/g)].map(([, name]) => name),
  );
  const mayGo = heavy.every(
    ({ declared }) => !names.some((name) => declared.includes(String(name))) && !/\bapp\b/.test(declared),
  );
  if (!mayGo) return null;
  const own = heavy.map(({ name }) => name.replace(/\.of$/, ""));
  const declared = heavy.map((each) => each.declared).join("\n");
  if (dialect === "commonjs") {
    return {
      files: { "lib/heavy.js": `${declared}\nmodule.exports = { ${own.join(", ")} };\n` },
      imported: [`const { ${own.join(", ")} } = require("./lib/heavy");`],
    };
  }
  const ending = dialect === "typed" ? "mts" : "mjs";
  return {
    files: { [`lib/heavy.${ending}`]: inDialect(`${declared}\nexport { ${own.join(", ")} };\n`, dialect) },
    imported: [`import { ${own.join(", ")} } from "./lib/heavy.mjs";`],
  };
}

function budgeted(scope: Scope, isSteady: boolean, isAsync: boolean): Scope {
  return { ...scope, hasRequest: true, isAsync, budget: { chains: isSteady ? 1 : 3 } };
}

function middleware(writer: Writer, scope: Scope, isSteady: boolean): string {
  const { choices } = writer;
  const own = budgeted(scope, isSteady, false);
  const write = () => writer.write(own);
  const counted = writer.name("counted");
  const given = (text: string) => {
    scope.inRequests.push(`req.${counted}`);
    return text;
  };
  return choices.pick([
    () => `app.use((req, res, next) => { ${write()} next(); });`,
    () =>
      given(
        `app.use((req, res, next) => { Object.defineProperty(req, "${counted}", { get: () => { ${write()} return 1; } }); next(); });`,
      ),
    () => given(`Object.defineProperty(app.request, "${counted}", { get() { ${write()} return 1; } });`),
    () =>
      given(
        `const shared_${counted} = { n: 0, toString() { return "s" + ++shared_${counted}.n; } };\napp.use((req, res, next) => { req.${counted} = shared_${counted}; next(); });`,
      ),
    () => given(`app.use((req, res, next) => { req.${counted} = ${writer.read(own)}; next(); });`),
    () => `app.use((req, res, next) => { next(); ${write()} });`,
    () => `app.use((req, res, next) => { ${write()} res.on("finish", () => { ${write()} }); next(); });`,
    () => `app.use(async (req, res, next) => { await null; ${write()} next(); });`,
    () => "app.use(express.json());",
    () =>
      `app.use(function (req, res, next) { const { end } = res; res.end = function (...args) { ${write()} return end.apply(this, args); }; next(); });`,
    () => `app.use((req, res, next) => { req.given = { n: ${writer.read(own)} }; next(); });`,
    () =>
      `app.use((req, res, next) => { setTimeout(() => { if (!res.headersSent) res.status(503).send("late"); }, 5); next(); });`,
    () =>
      `const router_${choices.taken.length} = express.Router(); router_${choices.taken.length}.get("/none", (req, res) => res.send("none"));\napp.use((req, res, next) => { router_${choices.taken.length}(req, res, next); ${write()} });`,
  ])();
}

function route(writer: Writer, scope: Scope, path: string, isSteady: boolean): string {
  const { choices } = writer;
  const isAsync = choices.oneIn(3);
  const service = choices.oneIn(6) ? serviceOf(writer, scope) : null;
  const around =
    service === null ? scope : { ...scope, heavy: [service.heavy, service.heavy, ...scope.heavy] };
  const own = budgeted(around, isSteady, isAsync);
  const { text, locals } = statements(writer, own, 5);
  const last = `  ${answer(writer, { ...own, locals })}`;
  const body = `{\n${text}\n${last}\n}`;
  const async = isAsync ? "async " : "";
  const name = writer.name("handler");
  if (service !== null) {
    return `${service.declared}
class Controller_${name} { constructor(service) { this.service = service; } show = ${async}(req, res, next) => ${body}; }
const controller_${name} = new Controller_${name}(new ${service.name}());
${choices.pick(service.changes)(`controller_${name}`)}
app.get("${path}", controller_${name}.show);`;
  }
  if (isAsync && choices.oneIn(3)) {
    return `const wrap_${name} = ${choices.pick(WRAPPERS)};\napp.get("${path}", wrap_${name}(async (req, res, next) => ${body}));`;
  }
  return choices.pick([
    () => `app.get("${path}", ${async}function ${name}(req, res, next) ${body});`,
    () => `app.get("${path}", ${async}(req, res, next) => ${body});`,
    () => `const ${name} = ${async}(req, res, next) => ${body};\napp.get("${path}", ${name});`,
    () => `${async}function ${name}(req, res, next) ${body}\napp.all("${path}", ${name});`,
    () =>
      `class Controller_${name} { show = ${async}(req, res, next) => ${body}; }\napp.get("${path}", new Controller_${name}().show);`,
    () =>
      `const ${name} = express.Router();\n${name}.get("/", ${async}(req, res, next) => ${body});\napp.use("${path}", ${name});`,
    () => `app.route("${path}").get(${async}(req, res, next) => ${body});`,
    () =>
      `const make_${name} = () => ${async}(req, res, next) => ${body};\napp.get("${path}", make_${name}());`,
  ])();
}

/** How programs pass rejections of a handler on; some do more than that. */
const WRAPPERS = [
  "(f) => (req, res, next) => Promise.resolve(f(req, res, next)).catch(next)",
  "(f) => (req, res, next) => f(req, res, next).catch(next)",
  "(f) => function (req, res, next) { f(req, res, next).catch((error) => next(error)); }",
  "(f) => async (req, res, next) => { try { await f(req, res, next); } catch (error) { next(error); } }",
  'function (f) { return (req, res, next) => { f(req, res, next).catch(next); console.log("called"); }; }',
  "(f) => (req, res, next) => { f(req, res, next).then(() => next(), next); }",
  '(f) => (req, res, next) => f(req, res, next).catch((error) => res.status(500).send("wrapped " + error.message))',
];

/** A class that a controller is given an instance of, and what becomes of it later. */
function serviceOf(writer: Writer, scope: Scope) {
  const made = heavyOf(writer, scope);
  const name = `Service_${made.name.replace(/\W/g, "")}`;
  const put = (text: string) =>
    `app.use((req, res, next) => { if (req.query.q === "xy") { ${text} } next(); });`;
  return {
    name,
    heavy: { ...made, name: "this.service.run" },
    declared: `${made.declared}\nclass ${name} { base = 1; run(x) { return ${made.name}(x); } }`,
    changes: [
      () => "",
      () => "",
      (it: string) => put(`${it}.service = { run: (x) => "other" + x };`),
      (it: string) => put(`${it}.service.run = (x) => "own" + x;`),
      () => put(`${name}.prototype.run = (x) => "new" + x;`),
      (it: string) => put(`Object.assign(${it}.service, { run: () => "assigned" });`),
      (it: string) => put(`delete ${it}.service;`),
    ],
  };
}

function answer(writer: Writer, scope: Scope): string {
  const value = () => writer.value(scope);
  const answers = scope.states.flatMap((state) => state.answers ?? []);
  if (answers.length > 0 && writer.choices.oneIn(2)) return writer.choices.pick(answers);
  return writer.choices.pick([
    () => `res.send(String(${value()}));`,
    () => `res.json({ a: ${value()}, b: ${value()} });`,
    () => `res.status(201).send("x" + ${value()});`,
    () => `res.set("x-last", String(${value()})).end(String(${value()}));`,
    () => `return res.send([${value()}].join());`,
    () => `res.write(String(${value()})); res.end();`,
    () => `res.send(String(${value()})); ${writer.write(scope)}`,
    () => `res.send(String(${value()})); console.log("#" + req.get("nth"), "sent");`,
    () => `const last = Buffer.from("ab"); res.write(last); last[0] = 99; res.end(String(${value()}));`,
    () => "next();",
    () => `const sent = res.send; sent.call(res, String(${value()}));`,
  ])();
}

function asked(choices: Choices): Omit<Asked, "nth"> {
  const path = choices.pick(["/a", "/b"]);
  const q = choices.pick(["1", "xy", "throw", "exit"].slice(0, choices.oneIn(4) ? 4 : 3));
  return { method: "GET", path: `${path}?q=${q}`, body: "" };
}

export function programOf(from: number | readonly number[]): {
  readonly program: Program;
  readonly choices: readonly number[];
} {
  const choices = new Choices(from);
  return { program: generate(choices), choices: choices.taken };
}
