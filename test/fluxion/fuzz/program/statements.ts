import type { Scope, Writer } from "./code.js";
import { pause } from "./heavy.js";

/** What a handler does before it answers; `locals` are those that the next statements can use. */
interface Written {
  readonly text: string;
  readonly locals: readonly string[];
}

type Statement = (writer: Writer, scope: Scope) => Written;

const only = (text: string): Written => ({ text, locals: [] });

/** A call of a heavy function, as a statement of its own. */
const heavy: Statement = (writer, scope) => {
  const { choices } = writer;
  const called = choices.pick(scope.heavy);
  const name = writer.name("v");
  const object = called.takesObject && choices.oneIn(2) ? writer.name("o") : null;
  const made = object === null ? "" : `const ${object} = { x: ${writer.value(scope, 1)} }; `;
  const call = object === null ? writer.call(called, scope, 1) : `${called.name}(${object})`;
  const locals = [
    name,
    ...(called.gives === undefined ? [] : [`(${name} === ${called.gives})`]),
    ...(object === null ? [] : [`JSON.stringify(${object})`, `(${name} === ${object})`]),
  ];
  if (!called.isAsync) {
    const isAwaited = choices.oneIn(4) && scope.isAsync;
    return { text: `${made}const ${name} = ${isAwaited ? "await " : ""}${call};`, locals };
  }
  if (scope.isAsync) return { text: `${made}const ${name} = await ${call};`, locals };
  return chain(scope) ? only(`${made}${call}.then((v) => { ${inside(writer, scope)} });`) : only("");
};

const write: Statement = (writer, scope) => only(writer.write(scope));

const read: Statement = (writer, scope) => {
  const name = writer.name("v");
  return { text: `const ${name} = ${writer.read(scope)};`, locals: [name] };
};

const log: Statement = (writer, scope) => only(`console.log("#" + req.get("nth"), ${writer.value(scope)});`);

const header: Statement = (writer, scope) =>
  only(`res.set("x-${writer.name("h")}", String(${writer.value(scope, 1)}));`);

/** What a response tells, or is given and may still have. */
const response: Statement = (writer, scope) => {
  const name = writer.name("r");
  const text = writer.choices.pick([
    `res.set("x-${name}", "1"); const ${name} = res.get("x-${name}");`,
    `const ${name} = res.headersSent;`,
    `const ${name} = [${writer.value(scope, 1)}]; res.locals.${name} = ${name}; ${name}.push(1);`,
    `const ${name} = res.statusCode; res.status(202);`,
    `let ${name} = 1; try { res.status(${writer.choices.pick(["203", "99999"])}); ${name} = 2; } catch { ${name} = 3; }`,
    `const ${name} = { a: 1 }; req.${name} = ${name}; ${name}.a = 2;`,
    `let ${name}; try { throw new Error("own"); } catch (error) { ${name} = error.stack.split("\\n").length; }`,
  ]);
  return { text, locals: [name] };
};

const local: Statement = (writer, scope) => {
  const name = writer.name("o");
  const [made] = [writer.value(scope, 1)];
  return {
    text: writer.choices.pick([
      `const ${name} = [${made}];`,
      `let ${name} = ${made}; ${name} += 1;`,
      `const ${name} = { a: ${made} }; ${name}.b = ${name}.a;`,
      `const ${name} = (() => ${made})();`,
    ]),
    locals: [name],
  };
};

const either: Statement = (writer, scope) => {
  const [one, other] = [inside(writer, scope), inside(writer, scope)];
  return only(
    writer.choices.pick([
      `if (req.query.q === "1") { ${one} }`,
      `if (req.query.q === "1") { ${one} } else { ${other} }`,
      `for (const each of [1, 2]) { ${one} }`,
      `try { ${one} } catch (error) { ${other} }`,
      `try { ${one} } finally { ${other} }`,
      `switch (req.query.q) { case "1": ${one} break; default: ${other} }`,
      `[1, 2].forEach((each) => { ${inside(writer, { ...scope, isAsync: false })} });`,
      `(function () { ${inside(writer, { ...scope, isAsync: false })} })();`,
    ]),
  );
};

const fails: Statement = (writer, scope) =>
  only(
    writer.choices.pick([
      `if (req.query.q === "throw") throw new Error("handler " + ${writer.value(scope, 1)});`,
      `if (req.query.q === "throw") return next(new Error("passed on"));`,
      'if (req.query.q === "exit") process.exit(4);',
      "if (res.headersSent) return;",
    ]),
  );

/** Something that goes on by itself: nobody waits for it. */
const begins: Statement = (writer, scope) => {
  if (!chain(scope)) return only("");
  const { choices } = writer;
  const later = inside(writer, { ...scope, isAsync: false });
  const awaited = inside(writer, { ...scope, isAsync: true });
  return only(
    choices.pick([
      () => `Promise.resolve().then(() => { ${later} });`,
      () => `(async () => { await ${pause(writer)}; ${awaited} })();`,
      () => `(async () => { ${awaited} })();`,
      () => `res.on("finish", () => { ${later} });`,
      () => `res.on("close", () => { ${later} });`,
      () => `setTimeout(() => { ${later} }, 1);`,
      () => `setImmediate(() => { ${later} });`,
      () => `process.nextTick(() => { ${later} });`,
      () => `queueMicrotask(() => { ${later} });`,
      () => `require("fs").readFile("f", (error, data) => { ${later} });`,
      () => `require("fs").promises.readFile("lost").catch(() => { ${later} });`,
      () => 'Promise.reject(new Error("nobody waits"));',
      () => `new Promise((resolve) => resolve(1)).then((v) => { ${later} }).finally(() => {});`,
      () => asyncHeavy(writer, scope),
    ])(),
  );
};

/** `audit();`: an asynchronous function of its own that nobody awaits. */
function asyncHeavy(writer: Writer, scope: Scope): string {
  const all = scope.heavy.filter(({ isAsync }) => isAsync);
  return all.length === 0 ? "" : `${writer.call(writer.choices.pick(all), scope, 1)};`;
}

const waits: Statement = (writer, scope) => {
  if (!scope.isAsync) return only("");
  const name = writer.name("v");
  return { text: `const ${name} = await ${pause(writer)};`, locals: [name] };
};

const STATEMENTS: readonly Statement[] = [
  heavy,
  heavy,
  heavy,
  write,
  write,
  read,
  log,
  begins,
  begins,
  begins,
  response,
  header,
  local,
  either,
  fails,
  waits,
];

/** In a program whose events have one order only, a request begins one such thing at most. */
function chain({ budget }: Scope): boolean {
  budget.chains -= 1;
  return budget.chains >= 0;
}

/** What stands in a block or function inside. */
function inside(writer: Writer, scope: Scope): string {
  const statement = writer.choices.pick([write, log, heavy, read, local]);
  return statement(writer, scope).text;
}

export function statements(writer: Writer, scope: Scope, most: number): Written {
  let locals = scope.locals;
  const text: string[] = [];
  for (let left = 1 + writer.choices.int(most); left > 0; left--) {
    const written = writer.choices.pick(STATEMENTS)(writer, { ...scope, locals });
    if (written.text !== "") text.push(`  ${written.text}`);
    locals = [...locals, ...written.locals];
  }
  return { text: text.join("\n"), locals };
}
