import fc from "../../properties.js";

/** A small program: a handler with nested asynchronous calls, over variables that are shared or private. */
export interface RandomProgram {
  readonly text: string;
  /** It awaits what a stage may have to give: that lets others run in between, as its author asked for. */
  readonly pauses: boolean;
}

type Statement =
  | { readonly kind: "write"; readonly value: Expression }
  | { readonly kind: "shared"; readonly which: number; readonly value: Expression }
  | { readonly kind: "private"; readonly which: number; readonly value: Expression }
  | { readonly kind: "push"; readonly value: Expression }
  | { readonly kind: "constant"; readonly value: Expression }
  | { readonly kind: "heavy"; readonly value: Expression }
  | { readonly kind: "await"; readonly value: Expression }
  | { readonly kind: "file"; readonly form: Form; readonly which: number; readonly name: string }
  | { readonly kind: "leave"; readonly value: Expression }
  | {
      readonly kind: "read";
      readonly after: readonly Statement[];
      readonly name: string;
      readonly awaits: boolean;
    }
  | { readonly kind: "then"; readonly after: readonly Statement[]; readonly name: string }
  | { readonly kind: "twice"; readonly inside: readonly Statement[] };

/** How a file is awaited. */
type Form = (typeof FORMS)[number];
const FORMS = [
  "constant",
  "variable",
  "nothing",
  "assigned",
  "taken apart",
  "inside",
  "chained",
  "together",
  "caught",
  "looked at before",
  "used before",
  "kept",
  "in a function",
] as const;

type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "shared" | "private" | "constant" | "table"; readonly which: number }
  | { readonly kind: "length" | "query" }
  | { readonly kind: "heavy" | "sum"; readonly of: Expression };

const which = fc.nat(1);
/** One file in eight cannot be read. */
const name = fc.constantFrom(...Array.from({ length: 7 }, () => "f"), "lost");
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 2 },
    fc.record({ kind: fc.constant("number" as const), value: fc.nat(9) }),
    fc.record({ kind: fc.constantFrom("shared" as const, "private", "constant", "table"), which }),
    fc.record({ kind: fc.constantFrom("length" as const, "query") }),
    fc.record({ kind: fc.constantFrom("heavy" as const, "sum"), of: tie("expression") }),
  ),
}));

const { statements } = fc.letrec<{ statements: Statement[]; statement: Statement }>((tie) => ({
  statements: fc.array(tie("statement"), { minLength: 1, maxLength: 4 }),
  statement: fc.oneof(
    { maxDepth: 3 },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom("write" as const, "heavy", "constant"),
        value: expression,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom("push" as const, "await"), value: expression }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom("shared" as const, "private"), which, value: expression }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("read" as const),
        after: tie("statements"),
        name,
        awaits: fc.boolean(),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("file" as const),
        form: fc.constantFrom(...FORMS),
        which,
        name,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("then" as const), after: tie("statements"), name }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), value: expression }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("twice" as const), inside: tie("statements") }) },
  ),
}));

export const randomProgram: fc.Arbitrary<RandomProgram> = statements.map((body) => {
  const writer = new Writer();
  const handler = writer.block(body, [], true);
  return {
    pauses: /await slow|\.catch\(/.test(handler),
    text: `const express = require("express");
const fs = require("fs");
const app = express();
const table = [3, 5];
let shared0 = 0, shared1 = 1;
function heavy(x) { let n = 0; for (let i = 0; i < 3; i++) n = n * 7 + (Number(x) || 0) + table[0]; return n % 1000; }
async function slow(x) { return heavy(x) + 1; }
app.get("/", ${writer.awaits ? "async " : ""}function handler(req, res) {
  let private0 = 0, private1 = 1;
  const list = [];
${handler}
});
`,
  };
});

/** Writes statements down; names are never used twice. */
class Writer {
  /** Something is awaited in the function that is being written. */
  awaits = false;
  #next = 0;

  block(body: readonly Statement[], constants: readonly string[], mayAwait: boolean): string {
    const known = [...constants];
    return body.map((each) => this.#statement(each, known, mayAwait)).join("\n");
  }

  #statement(each: Statement, known: string[], mayAwait: boolean): string {
    switch (each.kind) {
      case "write":
        return `res.write(String(${this.#value(each.value, known)}));`;
      case "shared":
        return `shared${each.which} = shared${each.which} + ${this.#value(each.value, known)};`;
      case "private":
        return `private${each.which} = private${each.which} + ${this.#value(each.value, known)};`;
      case "push":
        return `list.push(${this.#value(each.value, known)});`;
      case "constant":
      case "heavy":
      case "await":
        return this.#constant(each, known, mayAwait);
      case "file":
        return this.#file(each, known, mayAwait);
      case "leave":
        return `if (shared0 === 1) return ${this.#value(each.value, known)};`;
      case "read": {
        const [text, isAsync] = this.#function("c", "err, data", each.after, known, each.awaits);
        return `fs.readFile("${each.name}", ${isAsync}${text});`;
      }
      case "then": {
        const [text] = this.#function("c", "data", each.after, known, false);
        return `fs.promises.readFile("${each.name}").then(${text}, function e${this.#next++}(err) { res.write(err.message); });`;
      }
      case "twice":
        return `for (const n${this.#next++} of [1, 2]) {\n${this.block(each.inside, known, mayAwait)}\n}`;
    }
  }

  #function(
    name: string,
    parameters: string,
    body: readonly Statement[],
    known: readonly string[],
    mayAwait: boolean,
  ): [text: string, isAsync: string] {
    const outer = this.awaits;
    this.awaits = false;
    const text = `function ${name}${this.#next++}(${parameters}) {\n${this.block(body, known, mayAwait)}\n}`;
    const isAsync = this.awaits ? "async " : "";
    this.awaits = outer;
    return [text, isAsync];
  }

  #constant(each: Statement & { value: Expression }, known: string[], mayAwait: boolean): string {
    const value = this.#value(each.value, known);
    const name = `v${this.#next++}`;
    known.push(name);
    if (each.kind === "await" && mayAwait) {
      this.awaits = true;
      return `const ${name} = await slow(${value});`;
    }
    return `const ${name} = ${each.kind === "constant" ? value : `heavy(${value})`};`;
  }

  #file(
    { form, which: nth, name: read }: Statement & { kind: "file" },
    known: string[],
    mayAwait: boolean,
  ): string {
    if (!mayAwait) return "";
    this.awaits = true;
    const file = `fs.promises.readFile("${read}")`;
    const name = `v${this.#next++}`;
    const declared = (text: string) => {
      known.push(name);
      return text;
    };
    switch (form) {
      case "constant":
        return declared(`const ${name} = await ${file};`);
      case "variable":
        return declared(`let ${name} = await ${file};\n${name} = ${name} + ${name}.length;`);
      case "nothing":
        return `await ${file};`;
      case "assigned":
        return `private${nth} = await ${file};`;
      case "taken apart":
        return declared(`const { length: ${name} } = await ${file};`);
      case "inside":
        return declared(`const ${name} = heavy((await ${file}).length), other${name} = ${name};`);
      case "chained":
        return declared(
          `const ${name} = await ${file}.catch(function e${this.#next++}() { return "none"; });`,
        );
      case "together":
        return declared(`const [${name}] = await Promise.all([${file}, ${file}]);`);
      case "caught":
        return `try { res.write(await ${file}); } catch (error) { res.write(error.message); }`;
      case "looked at before":
        return `private${nth} += (await ${file}).length;`;
      case "used before":
        return declared(`${name} = 1;\nawait ${file};\nvar ${name};`);
      case "in a function":
        return `const ${name} = async (x) => {
const inside${name} = await ${file};
private${nth} = private${nth} + inside${name}.length;
return x + inside${name};
};
await ${file};
res.write(await ${name}(private${nth}));`;
      case "kept":
        return `const ${name} = () => { private${nth} = private${nth} + 1; return private${nth}; };
await ${file};
private${nth} = private${nth} + 10;
res.write(String(${name}() + private${nth}));`;
    }
  }

  #value(each: Expression, known: readonly string[]): string {
    switch (each.kind) {
      case "number":
        return String(each.value);
      case "shared":
      case "private":
        return `${each.kind}${each.which}`;
      case "constant":
        return known[known.length - 1 - each.which] ?? "7";
      case "table":
        return `table[${each.which}]`;
      case "length":
        return "list.length";
      case "query":
        return "Number(req.query.n)";
      case "heavy":
        return `heavy(${this.#value(each.of, known)})`;
      case "sum":
        return `(${this.#value(each.of, known)} + 1)`;
    }
  }
}
