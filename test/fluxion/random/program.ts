import fc from "fast-check";

/** A small program: a handler with nested asynchronous calls, over variables that are shared or private. */
export interface RandomProgram {
  readonly text: string;
  /** An `await` in it lets others run in between, as its author asked for. */
  readonly awaits: boolean;
}

type Statement =
  | { readonly kind: "write"; readonly value: Expression }
  | { readonly kind: "shared"; readonly which: number; readonly value: Expression }
  | { readonly kind: "private"; readonly which: number; readonly value: Expression }
  | { readonly kind: "push"; readonly value: Expression }
  | { readonly kind: "constant"; readonly value: Expression }
  | { readonly kind: "heavy"; readonly value: Expression }
  | { readonly kind: "await"; readonly value: Expression }
  | { readonly kind: "read"; readonly after: readonly Statement[] }
  | { readonly kind: "twice"; readonly inside: readonly Statement[] };

type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "shared" | "private" | "constant" | "table"; readonly which: number }
  | { readonly kind: "length" | "query" }
  | { readonly kind: "heavy" | "sum"; readonly of: Expression };

const which = fc.nat(1);
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
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("read" as const), after: tie("statements") }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("twice" as const), inside: tie("statements") }) },
  ),
}));

export const randomProgram: fc.Arbitrary<RandomProgram> = statements.map((body) => {
  const writer = new Writer();
  const handler = writer.block(body, [], false);
  return {
    awaits: writer.awaits,
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
  awaits = false;
  #next = 0;

  block(body: readonly Statement[], constants: readonly string[], inside: boolean): string {
    const known = [...constants];
    return body.map((each) => this.#statement(each, known, inside)).join("\n");
  }

  #statement(each: Statement, known: string[], inside: boolean): string {
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
        return this.#constant(each, known, inside);
      case "read":
        return `fs.readFile("f", function c${this.#next++}(err, data) {\n${this.block(each.after, known, true)}\n});`;
      case "twice":
        return `for (const n${this.#next++} of [1, 2]) {\n${this.block(each.inside, known, inside)}\n}`;
    }
  }

  #constant(each: Statement & { value: Expression }, known: string[], inside: boolean): string {
    const value = this.#value(each.value, known);
    const name = `v${this.#next++}`;
    known.push(name);
    if (each.kind === "await" && !inside) {
      this.awaits = true;
      return `const ${name} = await slow(${value});`;
    }
    return `const ${name} = ${each.kind === "constant" ? value : `heavy(${value})`};`;
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
