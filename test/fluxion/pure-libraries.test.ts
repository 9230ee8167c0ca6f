import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { ALIASES, LIBRARIES } from "#src/fluxion/callees/libraries.js";

const require = createRequire(import.meta.url);

type Callable = (...args: readonly unknown[]) => unknown;

interface Sample {
  readonly library: string;
  readonly path: string;
  /** Made anew each time that they are asked for. */
  args(): unknown[];
  /** Other arguments: a call with them in between must not show. */
  others(): unknown[];
}

const rows = () => [
  { id: 1, name: "Ada", since: new Date(0) },
  { id: 2, name: "Bob", extra: { a: [1] } },
];
const SDL = "type Book { id: ID!, title: String } type Query { book(id: ID!): Book, books: [Book!]! }";
const graphql = require("graphql") as Record<string, Callable>;
const schema = graphql.buildSchema?.(SDL);
const xlsx = require("xlsx") as { utils: Record<string, Callable> };

function book(of: object[]): unknown {
  const { utils } = xlsx;
  const made = utils.book_new?.();
  utils.book_append_sheet?.(made, utils.json_to_sheet?.(of), "Sheet");
  return made;
}

const SAMPLES: readonly Sample[] = [
  sample(
    "sanitize-html",
    "",
    ["<b onclick=x>a</b><script>x</script><p style='color:red'>c"],
    [
      "<i>x</i>",
      {
        allowedTags: ["i"],
        allowedAttributes: { i: ["style"] },
        allowedStyles: { "*": { color: [/^red$/] } },
      },
    ],
  ),
  {
    library: "sanitize-html",
    path: "",
    args: () => [
      "<a href='x' style='color:red'>b</a><img src=y>",
      { allowedTags: ["a"], allowedAttributes: { a: ["href"] } },
    ],
    others: () => ["<iframe src='//x'>", { allowedTags: false, allowedAttributes: false }],
  },
  sample(
    "csv-parse/sync",
    ".parse",
    ["a,b\n1,2\n3,4", { columns: true }],
    ["x;y\n'1';2", { delimiter: ";", quote: "'" }],
  ),
  sample(
    "csv-parse/sync",
    ".parse",
    [Buffer.from("1,2\n3,4"), { skip_empty_lines: true, cast: true }],
    ["", {}],
  ),
  sample(
    "fast-json-patch",
    ".compare",
    [
      { a: [1, { b: 2 }], c: { d: 1 } },
      { a: [1, { b: 3 }], e: { f: [1] } },
    ],
    [{}, { x: 1 }],
  ),
  sample("fast-json-patch", ".deepClone", [{ a: [1, { b: 2 }] }], [{ c: 1 }]),
  sample("xlsx", ".utils.json_to_sheet", [rows(), { header: ["name"] }], [[{ z: 1 }]]),
  sample("xlsx", ".utils.aoa_to_sheet", [[[1, "a", true], [new Date(0)]]], [[[2]]]),
  {
    library: "xlsx",
    path: ".write",
    args: () => [book(rows()), { type: "base64", bookType: "csv" }],
    others: () => [book([{ other: 1 }]), { type: "buffer", bookType: "xlsx", compression: true }],
  },
  sample("graphql", ".parse", ["{ book(id: 1) { title } }"], ["query A($id: ID!) { book(id: $id) { id } }"]),
  sample(
    "graphql",
    ".print",
    [graphql.parse?.("{ book(id: 1) { title } }")],
    [graphql.parse?.("{ books { id } }")],
  ),
  sample(
    "graphql",
    ".validate",
    [schema, graphql.parse?.("{ book(id: 1) { title } }")],
    [schema, graphql.parse?.("{ x }")],
  ),
  sample("graphql", ".printSchema", [schema], [schema]),
  sample("graphql", ".stripIgnoredCharacters", ["{  a ,b  }"], ["{ c # d\n }"]),
  sample(
    "jsonwebtoken",
    ".decode",
    [(require("jsonwebtoken") as Record<string, Callable>).sign?.({ a: { b: 1 } }, "s")],
    ["x"],
  ),
  sample(
    "jsonwebtoken",
    ".verify",
    [(require("jsonwebtoken") as Record<string, Callable>).sign?.({ a: { b: 1 } }, "s"), "s"],
    [(require("jsonwebtoken") as Record<string, Callable>).sign?.({ c: 1 }, "t"), "t"],
  ),
  sample("jsonwebtoken", ".sign", [{ sub: "a", iat: 1 }, "secret", { expiresIn: "1h" }], [{ b: 1 }, "other"]),
  sample("marked", ".parse", ["# a\n\n[b](c)\n\n[c]: d"], ["*x*", { gfm: false }]),
  sample("showdown", ".Converter().makeHtml", ["# a\n\n[b][c]\n\n[c]: http://d"], ["# a\n\n# a"]),
  sample("markdown-it", "().render", ["# a\n\n[b]\n\n[b]: c"], ["x", {}]),
  sample("handlebars", ".escapeExpression", ["<b>"], ["&"]),
  sample(
    "pngjs",
    ".PNG.sync.write",
    [{ width: 1, height: 1, data: Buffer.from([1, 2, 3, 4]) }],
    [{ width: 2, height: 1, data: Buffer.alloc(8) }],
  ),
];

function sample(library: string, path: string, args: unknown[], others: unknown[]): Sample {
  return { library, path, args: () => args.map(copied), others: () => others.map(copied) };
}

/** Instances of classes are used as they are. */
function copied(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copied(each)]));
}

/** What a path leads to, with what it is a method of. `()` makes an object. */
function found(library: string, path: string): Callable {
  let self: unknown;
  let at: unknown = require(library);
  if (typeof (at as { default?: unknown }).default === "function" && path.startsWith("("))
    at = (at as { default: unknown }).default;
  for (const [, call, key] of path.matchAll(/(\(\))|\.([^.()]+)/g)) {
    if (call !== undefined) at = Reflect.construct(at as () => void, []);
    else [self, at] = [at, (at as Record<string, unknown>)[key ?? ""]];
  }
  return (...args) => Reflect.apply(at as () => void, self, args as []) as unknown;
}

function objectsIn(value: unknown, seen = new Set<object>()): Set<object> {
  if (typeof value !== "object" || value === null || seen.has(value)) return seen;
  seen.add(value);
  if (ArrayBuffer.isView(value)) return seen;
  for (const key of Reflect.ownKeys(value))
    objectsIn(Object.getOwnPropertyDescriptor(value, key)?.value, seen);
  return seen;
}

describe("functions of libraries that are known to be pure are", () => {
  for (const { library, path, args, others } of SAMPLES) {
    test(`${library}${path} ${JSON.stringify(args().map((each) => typeof each))}`, () => {
      const { pure = [], writes = {}, varies = [] } = LIBRARIES[ALIASES[library] ?? library] ?? {};
      assert.ok(pure.includes(path), "it is known to be");
      const call = found(library, path);
      const [given, between] = [args(), others()];
      const first = call(...given);
      const kept = copied(first);
      for (const [i, each] of given.entries())
        if (writes[path]?.includes(i) !== true)
          assert.deepEqual(each, args()[i], `argument ${i} is left alone`);
      try {
        call(...between);
      } catch {
        // Also what fails must not show.
      }
      assert.deepEqual(copied(first), kept, "another call leaves the result alone");
      const again = call(...args());
      if (!varies.includes(path) || path === ".verify")
        assert.deepEqual(again, first, "it gives the same again");
      const shared = [...objectsIn(again)].filter(
        (each) => objectsIn(first).has(each) || objectsIn(given).has(each),
      );
      const isOwn = (each: object) => !objectsIn(schema).has(each) && !Object.isFrozen(each);
      assert.deepEqual(
        shared.filter(isOwn),
        [],
        "it shares nothing with its arguments or with another result",
      );
    });
  }
});
