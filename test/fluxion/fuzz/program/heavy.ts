import type { Heavy, Scope, Writer } from "./code.js";

const LOOP = "let n = 7; for (let i = 0; i < 3; i++) n = (n * 31 + String(x).length + i) % 997;";

/** A function that computes, and perhaps does something on the way that it should not. */
export function heavyOf(writer: Writer, scope: Scope): Heavy {
  const { choices } = writer;
  const name = writer.name("heavy");
  const plain = { name, isAsync: false, takesObject: false };
  const odd = choices.oneIn(3) ? aside(writer, scope) : "";
  switch (choices.int(10)) {
    case 1:
      return { ...plain, declared: `const ${name} = (x) => { ${LOOP} ${odd} return n; };` };
    case 2:
      return { ...plain, isAsync: true, declared: `async function ${name}(x) { ${LOOP} ${odd} return n; }` };
    case 3:
      return {
        ...plain,
        isAsync: true,
        declared: `async function ${name}(x) { ${LOOP} await ${pause(writer)}; ${odd} return n; }`,
      };
    case 4:
      return {
        ...plain,
        takesObject: true,
        declared: `function ${name}(o) { const { x } = o; ${LOOP} ${choices.pick(["", "o.x = n;", "o.made = [n];", "delete o.x;"])} ${odd} return ${choices.pick(["n", "o", "o.x", "[n, o]", "{ ...o }"])}; }`,
      };
    case 5:
      return {
        ...plain,
        name: `${name}.of`,
        declared: `class Own_${name} { base = 3; of(x) { ${LOOP} ${odd} return n + this.base; } }\nconst ${name} = new Own_${name}();`,
      };
    case 6:
      return {
        ...plain,
        declared: `function ${name}(x) { if (x === "throw") throw ${choices.pick(['new Error("heavy")', 'Object.assign(new Error("coded"), { code: "E_OWN" })', 'new (class OwnError extends Error { name = "OwnError"; })("own")', "{ message: 1 }"])}; ${LOOP} ${odd} return n; }`,
      };
    case 7:
      return {
        ...plain,
        declared: `function ${name}(x) { ${LOOP} ${odd} return ${choices.pick(["[n]", "{ n }", "new Date(n)", "new Map([[n, x]])", "Buffer.from([n % 200])", "undefined", "null", "NaN", "() => n", "Symbol.for('s')"])}; }`,
      };
    case 8:
      return {
        ...plain,
        declared: `const ${name} = ((factor) => { ${choices.pick(["", "let calls = 0;"])} return function (x, ...rest) { ${LOOP} ${odd} return n * factor; }; })(2);`,
      };
    case 9:
      return {
        ...plain,
        gives: `kept_${name}`,
        declared: `const kept_${name} = { k: 1 };\nfunction ${name}(x) { ${LOOP} ${odd} return ${choices.pick([`kept_${name}`, `[kept_${name}][0]`, `x ? kept_${name} : n`])}; }`,
      };
    default:
      return { ...plain, declared: `function ${name}(x) { ${LOOP} ${odd} return n; }` };
  }
}

function aside(writer: Writer, scope: Scope): string {
  const { choices } = writer;
  return choices.pick([
    () => writer.write(scope),
    () => `n += Number(${writer.read(scope)}) || 0;`,
    () => 'console.log("heavy");',
    () => `queueMicrotask(() => { ${writer.write(scope)} });`,
    () => `Promise.resolve(x).then((v) => { ${writer.write(scope)} });`,
    () => 'Promise.reject(new Error("lost"));',
    () => `setTimeout(() => { ${writer.write(scope)} }, 1);`,
    () => 'if (x === "exit") process.exit(3);',
    () => "n += arguments.length;",
    () => `[1].forEach(() => { ${writer.write(scope)} });`,
  ])();
}

export function pause(writer: Writer): string {
  return writer.choices.pick(["null", "Promise.resolve(1)", 'require("fs").promises.readFile("f")']);
}
