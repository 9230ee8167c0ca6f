import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { decode, encode } from "#src/fluxion/runtime/codec.js";
import { StageRefusal } from "#src/fluxion/runtime/refusal.js";

const copy = (value: unknown) => decode(encode(value));

test("what comes out of a copy is what went in", () => {
  const bytes = new Float64Array([1.5, Number.NaN]);
  const values: unknown[] = [
    undefined,
    null,
    -0,
    Number.NaN,
    12n ** 30n,
    "\ud800 half a pair",
    new Date(1234567890123),
    // biome-ignore lint/suspicious/noSparseArray: a hole must stay one
    [1, , undefined],
    { a: undefined, b: [{}] },
    new Map<unknown, unknown>([[{ key: 1 }, new Set([[1]])]]),
    bytes,
    new DataView(new ArrayBuffer(3)),
    new ArrayBuffer(2),
    Object.assign([1, 2], { extra: true }),
  ];
  for (const value of values) assert.deepStrictEqual(copy(value), value);
  assert.ok(Number.isNaN(Number(copy(new Date(Number.NaN)))));
  const own = copy(bytes) as Float64Array;
  assert.equal(own.buffer.byteLength, own.byteLength);
});

test("a Buffer stays a Buffer, of its own memory", () => {
  const [a, b] = copy([Buffer.from("one"), Buffer.from("two")]) as [Buffer, Buffer];
  assert.ok(Buffer.isBuffer(a) && Buffer.isBuffer(b));
  assert.equal(`${a} ${b}`, "one two");
});

test("cycles and shared references stay", () => {
  const shared = { n: 1 };
  const value: Record<string, unknown> = { a: shared, b: shared };
  value.self = value;
  const made = copy(value) as typeof value;
  assert.equal(made.self, made);
  assert.equal(made.a, made.b);
});

test("an object without a prototype, frozen or sealed comes out like that", () => {
  const query = Object.assign(Object.create(null) as object, { text: "x" });
  assert.equal(Object.getPrototypeOf(copy(query)), null);
  assert.deepStrictEqual(copy({ query }), { query });
  const frozen = copy(Object.freeze({ list: Object.freeze([1]), open: {} })) as Record<string, unknown>;
  assert.ok(Object.isFrozen(frozen) && Object.isFrozen(frozen.list) && !Object.isFrozen(frozen.open));
  const sealed = copy(Object.seal({ a: 1 }));
  assert.ok(Object.isSealed(sealed) && !Object.isFrozen(sealed));
  assert.ok(!Object.isExtensible(copy(Object.preventExtensions({ a: 1 }))));
});

test("errors keep their class, fields and causes", () => {
  const cause = new SyntaxError("inner");
  const error = Object.assign(new TypeError("outer", { cause }), {
    code: "E_X",
    status: 418,
    at: new Date(0),
  });
  error.name = "Custom";
  const made = copy(error) as typeof error;
  assert.ok(made instanceof TypeError);
  assert.deepEqual(Object.getOwnPropertyDescriptors(made), Object.getOwnPropertyDescriptors(error));
  assert.ok(made.cause instanceof SyntaxError);
  const many = copy(new AggregateError([cause], "many")) as AggregateError;
  assert.ok(many instanceof AggregateError && many.errors[0] instanceof SyntaxError);
  assert.deepEqual(Reflect.ownKeys(copy(new Error()) as Error), Reflect.ownKeys(new Error()));
  assert.ok(Object.isFrozen(copy(Object.freeze(new Error("x")))));
});

test("errors of Node show their code as they did", () => {
  const error = thrownBy(() => Buffer.alloc("x" as unknown as number)) as Error & { code: string };
  const made = copy(error) as typeof error;
  assert.ok(made instanceof TypeError);
  assert.deepEqual([made.code, made.stack, String(made)], [error.code, error.stack, String(error)]);
});

function thrownBy(task: () => unknown): unknown {
  try {
    task();
  } catch (error) {
    return error;
  }
  return assert.fail("it did not throw");
}

class Own {}
class OwnError extends Error {}
class OwnMap extends Map {}

const refused: Record<string, () => unknown> = {
  "a function": () => ({ f: () => 1 }),
  "a symbol": () => [Symbol("s")],
  "a field named by a symbol": () => ({ [Symbol("s")]: 1 }),
  "a class instance": () => new Own(),
  "an instance of a subclass of a built-in": () => new OwnMap(),
  "a subclassed array": () => new (class extends Array {})(),
  "an error of an own class": () => new OwnError("x"),
  "an error with a function": () => Object.assign(new Error("x"), { retry: () => 1 }),
  "a proxy": () => new Proxy({}, {}),
  "a promise": () => Promise.resolve(1),
  "a getter": () => ({
    get now() {
      return 1;
    },
  }),
  "a hidden field": () => Object.defineProperty({}, "x", { value: 1 }),
  "a field that cannot be changed": () => Object.defineProperty({}, "x", { value: 1, enumerable: true }),
  "a URL": () => new URL("http://a/"),
  headers: () => new Headers(),
  "a boxed string": () => new String("x"),
  "a regular expression": () => /x/g,
  "a weak map": () => new WeakMap(),
  "shared memory": () => new Uint8Array(new SharedArrayBuffer(1)),
  "a view of a part": () => new Uint8Array(new ArrayBuffer(4), 1, 2),
  "two views of the same bytes": () => {
    const buffer = Buffer.from("abcdef");
    return [buffer, buffer.subarray(2)];
  },
  "a view and its memory": () => {
    const view = new Uint8Array(4);
    return [view, view.buffer];
  },
  "a date with a field": () => Object.assign(new Date(), { zone: "x" }),
  arguments: () =>
    (function (this: unknown, ..._: unknown[]) {
      // biome-ignore lint/complexity/noArguments: this is about them
      return arguments;
    })(1),
  "an object of another realm": () => runInNewContext("({ a: 1 })"),
  "a module": () => import("node:fs").then((fs) => fs),
  "something nested too deep": () => {
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i++) deep = [deep];
    return deep;
  },
};

for (const [what, make] of Object.entries(refused)) {
  test(`${what} is refused`, async () => {
    const value = what === "a promise" ? make() : await make();
    assert.throws(() => encode(value), StageRefusal);
    assert.throws(() => encode({ in: [new Map([["k", value]])] }), StageRefusal);
  });
}
