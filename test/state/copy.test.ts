import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode } from "#src/state/codec.js";
import { copy, copyAll, copyThrown, register } from "#src/state/values.js";

const at = () => "value";

test("a copy of plain data is equal to it and shares nothing with it", () => {
  const original = {
    text: "a",
    flag: true,
    nothing: null,
    missing: undefined,
    big: 12n,
    when: new Date(5),
    list: [1, [2, { deep: 3 }]],
    map: new Map<unknown, unknown>([
      [{ key: 1 }, new Set(["x"])],
      [2, [3]],
    ]),
    set: new Set([[1], "b"]),
    bytes: new Uint8Array([1, 2, 3]),
    floats: new Float64Array([1.5]),
    buffer: new Uint8Array([9, 8]).buffer,
  };
  const copied = copy(original, at);
  assert.deepEqual(copied, original);
  assert.notEqual(copied, original);
  assert.notEqual(copied.list, original.list);
  assert.notEqual(copied.list[1], original.list[1]);
  assert.notEqual(copied.map, original.map);
  assert.notEqual([...copied.map.keys()][0], [...original.map.keys()][0]);
  assert.notEqual(copied.bytes.buffer, original.bytes.buffer);
  original.list.push(4);
  original.bytes[0] = 7;
  new Uint8Array(original.buffer)[0] = 7;
  original.when.setTime(6);
  assert.equal(copied.list.length, 2);
  assert.equal(copied.bytes[0], 1);
  assert.equal(new Uint8Array(copied.buffer)[0], 9);
  assert.equal(copied.when.getTime(), 5);
});

test("primitives are copied as they are, the odd numbers included", () => {
  for (const value of [0, -0, Number.NaN, Number.POSITIVE_INFINITY, "", "a", true, null, undefined, 5n]) {
    assert.ok(Object.is(copy(value, at), value), String(value));
  }
});

test("keys keep their order, and an object without a prototype becomes a plain one", () => {
  const bare = Object.assign(Object.create(null) as object, { z: 1, a: 2 });
  const copied = copy(bare, at);
  assert.deepEqual(Object.keys(copied), ["z", "a"]);
  assert.equal(Object.getPrototypeOf(copied), Object.prototype);
  assert.deepEqual([...copy(new Map([["z", 1], ["a", 2]]), at).keys()], ["z", "a"]); // biome-ignore format: short
});

test("an object that is reachable on two ways becomes two objects", () => {
  const shared = { n: 1 };
  const copied = copy({ a: shared, b: shared }, at);
  assert.deepEqual(copied, { a: { n: 1 }, b: { n: 1 } });
  assert.notEqual(copied.a, copied.b);
});

test("a view of bytes is copied alone, not with the memory around it, and a Buffer stays one", () => {
  const memory = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7]);
  const part = copy(memory.subarray(2, 4), at);
  assert.deepEqual(part, new Uint8Array([2, 3]));
  assert.equal(part.buffer.byteLength, 2);
  const view = copy(new DataView(memory.buffer, 4, 2), at);
  assert.equal(view.getUint8(0), 4);
  assert.equal(view.byteLength, 2);
  const original = Buffer.from("hi");
  const bytes = copy(original, at);
  assert.ok(Buffer.isBuffer(bytes));
  assert.equal(bytes.buffer.byteLength, 2);
  original[0] = 0;
  assert.equal(bytes.toString(), "hi");
  const shared = new Uint8Array(new SharedArrayBuffer(4)).fill(7, 1, 3);
  assert.ok(copy(shared.subarray(1, 3), at).buffer instanceof ArrayBuffer);
});

test("an instance of a registered class keeps its class, its fields and its methods", () => {
  class Point {
    constructor(
      readonly x: number,
      readonly tags: string[],
    ) {}
    double() {
      return this.x * 2;
    }
  }
  register(Point);
  register(Point);
  const original = new Point(2, ["a"]);
  const copied = copy({ point: original }, at).point;
  assert.ok(copied instanceof Point);
  assert.notEqual(copied, original);
  assert.notEqual(copied.tags, original.tags);
  assert.deepEqual(copied.tags, ["a"]);
  assert.equal(copied.double(), 4);
});

test("copyAll copies each argument", () => {
  const list = [1];
  const copies = copyAll([list, 2], at);
  assert.deepEqual(copies, [[1], 2]);
  assert.notEqual(copies[0], list);
});

test("an error arrives as the nearest built-in class with its name, text, fields and cause", () => {
  class NoMoney extends RangeError {
    override readonly name = "NoMoney";
    constructor(readonly missing: number[]) {
      super("too little", { cause: new TypeError("the account is closed") });
    }
  }
  const original = new NoMoney([3]);
  const copied: RangeError & { missing: number[] } = copy(original, at);
  assert.notEqual(copied, original);
  assert.ok(copied instanceof RangeError);
  assert.equal(Object.getPrototypeOf(copied), RangeError.prototype);
  assert.equal(copied.name, "NoMoney");
  assert.equal(copied.message, "too little");
  assert.equal(copied.stack, original.stack);
  assert.deepEqual(copied.missing, [3]);
  assert.notEqual(copied.missing, original.missing);
  assert.ok(copied.cause instanceof TypeError);
  assert.equal(copied.cause.message, "the account is closed");
  assert.deepEqual(Object.keys(copied), ["missing"]);
});

test("an error of a registered class keeps its class", () => {
  class Overdrawn extends Error {
    constructor(
      message: string,
      readonly by: number,
    ) {
      super(message);
    }
  }
  register(Overdrawn);
  const copied = copy(new Overdrawn("too far", 4), at);
  assert.ok(copied instanceof Overdrawn);
  assert.equal(copied.message, "too far");
  assert.equal(copied.by, 4);
});

test("whatever is thrown can be told to the caller, without what is not plain data", () => {
  assert.equal(copyThrown("text"), "text");
  assert.deepEqual(copyThrown({ code: 4 }), { code: 4 });
  const error = Object.assign(new TypeError("broken"), { code: "E1", retry: () => 1, detail: { at: 2 } });
  error.name = "Broken";
  const told = copyThrown(error);
  assert.ok(told instanceof TypeError);
  assert.equal(told.message, "broken");
  assert.equal(told.name, "Broken");
  assert.deepEqual({ ...told }, { code: "E1", detail: { at: 2 } });
  const odd = copyThrown(new Proxy(class Odd {}, {}));
  assert.ok(odd instanceof Error);
  const spiteful = copyThrown({
    toString() {
      throw new Error("never");
    },
  });
  assert.ok(spiteful instanceof Error);
});

test("a plain object that is thrown with what is not plain data keeps the rest, and says what was left out", () => {
  const told = (thrown: unknown) => {
    const error = copyThrown(thrown);
    assert.ok(error instanceof Error);
    return [error.message, { ...error }];
  };
  const f = () => 1;
  const ring: Record<string, unknown> = { a: [1] };
  ring.self = ring;
  const cases: [thrown: unknown, message: string, fields: object][] = [
    [{ a: 1, f }, "a plain object was thrown (left out: f, a function (f))", { a: 1 }],
    [{ message: "no money", code: 3, f }, "no money (left out: f, a function (f))", { code: 3 }],
    [
      { a: { b: [f] }, c: null },
      "a plain object was thrown (left out: a, as a.b[0] is a function (f))",
      { c: null },
    ],
    [ring, "a plain object was thrown (left out: self, part of itself (a cycle))", { a: [1] }],
    [{ name: 4, a: 1, f }, "a plain object was thrown (left out: name, which cannot be a field of an error; f, a function (f))", { a: 1 }], // biome-ignore format: short
    [[1, f], "what was thrown cannot be passed on: it[1] is a function (f)", {}],
    [/a/, "an instance of RegExp (pass plain data, such as `[regExp.source, regExp.flags]`)", {}],
  ];
  for (const [thrown, message, fields] of cases) assert.deepEqual(told(thrown), [message, fields]);
  assert.equal((copyThrown({ name: "NoMoney", f }) as Error).name, "NoMoney");
  const unreadable = {
    get a(): number {
      throw new Error("never");
    },
  };
  assert.match(String(told(unreadable)[0]), /cannot be read/);
});

test("an error keeps its cause, and several errors in one keep each other's company, however odd some are", () => {
  const odd = Object.assign(new TypeError("odd"), { code: 7, retry: () => 1 });
  const caused = copyThrown(Object.assign(new Error("outer", { cause: odd }), { f: () => 1 })) as Error;
  assert.ok(caused.cause instanceof TypeError);
  assert.deepEqual([caused.cause.message, { ...caused.cause }], ["odd", { code: 7 }]);

  const several = new AggregateError([new RangeError("low"), odd, "text"], "all failed");
  several.errors.push(several);
  const told = copyThrown(copyThrown(several)) as Error & { errors: Error[] };
  const [low, high, text, itself] = told.errors;
  assert.deepEqual([told.name, told.message, text], ["AggregateError", "all failed", "text"]);
  assert.ok(low instanceof RangeError && high instanceof TypeError);
  assert.deepEqual([high.message, { ...high }], ["odd", { code: 7 }]);
  assert.match(itself?.message ?? "", /contains itself/);
  const { errors } = decode(encode(told)) as typeof told;
  assert.deepEqual(
    errors.map((each) => each.message),
    ["low", "odd", undefined, itself?.message],
  );
});
