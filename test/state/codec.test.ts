import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError, register } from "headwater";
import { pack } from "msgpackr";
import { Random } from "#src/random.js";
import { decode, encode } from "#src/state/codec.js";
import { registeredClass } from "#src/state/registered.js";
import { same } from "#src/state/same.js";
import { entriesOf } from "#src/state/tracked-content.js";
import { LiveMap } from "#src/state/tracked-map.js";
import { Version } from "#src/state/tracked-version.js";
import { copy } from "#src/state/values.js";
import { refusedAtOnce } from "../refused.js";

class Money {
  constructor(
    readonly cents: number,
    readonly currency = "EUR",
  ) {}
  get euros() {
    return this.cents / 100;
  }
}
let setterRan = 0;
class Guarded {
  set code(_: unknown) {
    setterRan += 1;
  }
}
class Overdrawn extends Error {
  override readonly name = "Overdrawn";
  constructor(readonly missing: number) {
    super(`${missing} cents are missing`);
  }
}
register(Money, Guarded, Overdrawn);

/** There and back, the same again, and the same bytes again. */
function checkRoundTrip(value: unknown): void {
  const bytes = encode(value);
  const back = decode(bytes);
  assert.ok(
    same(
      back,
      copy(value, () => "value"),
    ),
    "what comes back is what was written",
  );
  assert.ok(
    same(
      copy(value, () => "value"),
      back,
    ),
  );
  assert.deepEqual(encode(back), bytes, "equal data has equal bytes");
}

const views = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
];

const special: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  -0,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  -(2 ** 53),
  1.1,
  "",
  "ä€😀",
  "\ud800",
  "half \udc00 a pair, ".repeat(20),
  "long ".repeat(5000),
  "ü".repeat(70_000),
  0n,
  -1n,
  2n ** 64n,
  -(2n ** 64n),
  2n ** 4000n + 7n,
  new Date(0),
  new Date(-1),
  new Date(1_700_000_000_123),
  new Date(Number.NaN),
  [],
  {},
  [undefined],
  [null],
  [null, 3, "ff"],
  [[null, null], null],
  [[], [[]]],
  [new Uint8Array([3])],
  [new Uint8Array([3]), 1, 2],
  new Map(),
  new Set(),
  new Map<unknown, unknown>([
    [Number.NaN, -0],
    [{ a: 1 }, undefined],
    ["x", new Map([[1n, new Set([[1]])]])],
  ]),
  new Set<unknown>([undefined, null, -0, "", new Date(1)]),
  new ArrayBuffer(5),
  new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2),
  Buffer.from("bytes"),
  new BigInt64Array([-1n, 5n]),
  new BigUint64Array([2n ** 64n - 1n]),
  new Uint16Array([1, 2, 3]).subarray(1),
  { constructor: 1, toString: "x", hasOwnProperty: true, valueOf: null, toJSON: "no", length: -1 },
  { __proto_: 1, "\t__proto__": 2, x__proto__: 3, "half \ud800": 4, "": 5, 10: 6, 2: 7 },
  Object.assign(Object.create(null), { bare: true }),
  new Money(5),
  { deep: [new Money(7, "CHF")] },
  new Error("plain"),
  new TypeError("typed", { cause: new RangeError("why") }),
  Object.assign(new Error("with fields"), { status: 404, details: { a: [1] } }),
  Object.assign(new Error("named"), { name: "Custom" }),
  new Overdrawn(5),
  new HeadwaterError("HW-1006", "it cannot be stored"),
];

test("every kind of plain data comes back as it was written", () => {
  for (const value of special) {
    checkRoundTrip(value);
    checkRoundTrip([1, value, { value }]);
    checkRoundTrip(new Map([[value, value]]));
  }
  checkRoundTrip(special);
});

test("what comes back has the classes that it had", () => {
  const money = decode(encode(new Money(250))) as Money;
  assert.ok(money instanceof Money);
  assert.equal(money.euros, 2.5);
  const error = decode(encode(new TypeError("typed", { cause: 7 }))) as Error;
  assert.ok(error instanceof TypeError);
  assert.equal(error.cause, 7);
  assert.equal(error.stack, "TypeError: typed");
  const own = decode(encode(new HeadwaterError("HW-1006", "no"))) as HeadwaterError;
  assert.ok(own instanceof HeadwaterError);
  assert.equal(own.code, "HW-1006");
  assert.equal(own.message, "HW-1006: no");
  assert.ok(decode(encode(new Overdrawn(5))) instanceof Overdrawn);
  const buffer = decode(encode([Buffer.from("hi"), new Uint8Array([104])])) as [Buffer, Uint8Array];
  assert.equal(buffer[0].toString(), "hi");
  assert.equal(Object.getPrototypeOf(buffer[1]), Uint8Array.prototype);
});

test("bytes that were written when a Buffer became a Uint8Array are read as they were written", () => {
  const [old] = decode(pack([[null, 7, 2, Buffer.from("hi")]])) as [Uint8Array];
  assert.equal(Object.getPrototypeOf(old), Uint8Array.prototype);
  assert.deepEqual([...old], [104, 105]);
});

test("thousands of random values come back as they were written", () => {
  const random = new Random(3);
  for (let i = 0; i < 6000; i++) checkRoundTrip(draw(random, 0));
});

const NAMES = [
  "a",
  "b",
  "id",
  "constructor",
  "toString",
  "prototype",
  "__defineGetter__",
  "7",
  "ü",
  "\udc00",
  "",
];

function draw(random: Random, depth: number): unknown {
  const kind = random.int(depth > 3 ? 7 : 14);
  const several = <T>(one: () => T): T[] => Array.from({ length: random.int(5) }, one);
  const deeper = () => draw(random, depth + 1);
  switch (kind) {
    case 0:
      return random.pick(special.filter((value) => typeof value !== "object"));
    case 1:
      return random.int(2 ** 32) - 2 ** 31;
    case 2:
      return (random.int(2 ** 32) / 7) * 2 ** (random.int(200) - 100) * (random.chance(0.5) ? 1 : -1);
    case 3:
      return String.fromCharCode(...several(() => random.int(random.pick([128, 256, 0x10000]))));
    case 4:
      return BigInt(random.int(2 ** 32)) ** BigInt(random.int(9)) * (random.chance(0.5) ? 1n : -1n);
    case 5:
      return new Date(random.int(2 ** 32) * 1000);
    case 6:
      return random.chance(0.2)
        ? Buffer.from(several(() => random.int(300)))
        : new (random.pick(views))(several(() => random.int(300)));
    case 7:
    case 8:
      return several(deeper);
    case 9:
    case 10:
      return Object.fromEntries(several(() => [random.pick(NAMES), deeper()] as const));
    case 11:
      return new Map(several(() => [deeper(), deeper()] as const));
    case 12:
      return new Set(several(deeper));
    default:
      return Object.assign(new RangeError("drawn"), { extra: deeper() });
  }
}

test("the bytes belong to whoever asked, and what is read shares nothing with them", () => {
  const first = encode([1, 2, 3]);
  const kept = first.slice();
  for (let i = 0; i < 2000; i++) encode({ i, text: "x".repeat(i) });
  assert.deepEqual(first, kept);
  const bytes = encode(new Uint8Array([1, 2]));
  const read = decode(bytes) as Uint8Array;
  bytes.fill(0);
  assert.deepEqual(read, new Uint8Array([1, 2]));
});

test("a tracked collection is written with all it holds and comes back in its order", () => {
  const live = new LiveMap([
    ["b", 1],
    ["a", { list: [new Date(5)] }],
    [3n, 2],
  ]);
  live.delete("b");
  live.set("b", -0);
  const version = live.freeze();
  const back = decode(encode({ scores: version })) as { scores: Version };
  assert.ok(back.scores instanceof Version);
  assert.deepEqual([...entriesOf(back.scores)], [...entriesOf(version)]);
});

test("what is not plain data cannot be written", () => {
  for (const value of [() => 1, Symbol("x"), new (class Foreign {})(), new WeakMap(), Promise.resolve()]) {
    refusedAtOnce(() => encode({ value }), "HW-1006");
  }
  refusedAtOnce(() => encode(JSON.parse('{"__proto__":1}')), "HW-1006", "__proto__");
});

/** A registered name that nobody has; the bytes are those of `Money`, with one letter changed. */
test("an instance of a class that is not registered is refused by name", () => {
  const bytes = Buffer.from(encode([new Money(5)]));
  bytes.write("Honey", bytes.indexOf("Money"));
  assert.equal(registeredClass("Honey"), undefined);
  refusedAtOnce(() => decode(bytes), "HW-1106", "Honey", "register(Honey)");
});

test("reading runs none of the program's code", () => {
  const guarded = pack([null, 10, "Guarded", null, "code", 5]);
  const back = decode(guarded) as Record<string, unknown>;
  assert.ok(back instanceof Guarded);
  assert.equal(Object.getOwnPropertyDescriptor(back, "code")?.value, 5);
  assert.equal(setterRan, 0);
});

test("bytes that hold anything else than plain data are refused, and nothing is read of them", () => {
  const hostile: Record<string, Uint8Array> = {
    "an extension type": Uint8Array.of(0xc7, 1, 0x55, 0),
    "undefined as others write it": Uint8Array.of(0xd4, 0, 0),
    "a regular expression": Uint8Array.of(0xd4, 0x78, 0, 0x92, 0xa1, 0x61, 0xa0),
    "a date as others write it": Uint8Array.of(0xd6, 0xff, 0, 0, 0, 1),
    "a record, which others read by making code": Uint8Array.of(0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 1),
    "a reference": Uint8Array.of(0xd6, 0x70, 0, 0, 0, 1),
    "a 64-bit integer": Uint8Array.of(0xcf, 0, 0, 0, 0, 0, 0, 0, 1),
    "the token that nobody uses": Uint8Array.of(0xc1),
    "a field named __proto__": pack(new Map([["__proto__", { polluted: 1 }]])),
    "the same with a longer header": Uint8Array.of(0x81, 0xd9, 9, ...Buffer.from("__proto__"), 0x80),
    "a field whose name is a number": pack(new Map([[1, 2]])),
    "a field whose name is an array": Uint8Array.of(0x81, 0x91, 1, 2),
    "binary data by itself": Uint8Array.of(0xc4, 1, 5),
    "binary data among other things": pack([1, Buffer.from([5])]),
    "a kind that is a text": pack([null, "5"]),
    "a kind that nobody knows": pack([null, 99]),
    "a kind that is missing": pack([null]),
    "a map with a key too many": pack([null, 5, 1]),
    "a typed array of the wrong length": pack([null, 7, 5, Buffer.from([1])]),
    "a typed array of no type": pack([null, 7, 50, Buffer.from([1])]),
    "an error of no type": pack([null, 9, "constructor", "a", "b", []]),
    "a bigint of letters": pack([null, 3, "xyz"]),
    "an instance with a field named __proto__": pack([null, 10, "Money", null, "__proto__", 1]),
    "a record with a field named __proto__": pack([null, 8, "__proto__", 1]),
    "a tracked collection of no kind": pack([null, 12, 7]),
    "a tracked map with an entry twice": pack([null, 12, 0, "a", 1, 5, "a", 2, 6]),
    "a tracked map with an object as a key": pack([null, 12, 0, {}, 1, 5]),
    "a tracked list with a gap": pack([null, 12, 2, 0, 0, "x", 5, 5, "y"]),
    "a list of four billion items": Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff),
    "a text of four billion letters": Uint8Array.of(0xdb, 0xff, 0xff, 0xff, 0xff),
    "half a number": Uint8Array.of(0xcb, 0, 0),
    "nothing at all": new Uint8Array(),
    "two values": Uint8Array.of(1, 2),
    "a million brackets": new Uint8Array(1_000_000).fill(0x91),
  };
  for (const [what, bytes] of Object.entries(hostile)) {
    assert.throws(() => decode(bytes), { code: "HW-1107" }, what);
  }
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  checkRoundTrip([1]); // and the next one is read as ever
});

test("bytes with an error in them are read, or refused with a code, and never anything else", () => {
  const random = new Random(5);
  for (let i = 0; i < 4000; i++) {
    const bytes = encode(draw(random, 0));
    if (bytes.length === 0) continue;
    bytes[random.int(bytes.length)] = random.int(256);
    const cut = random.chance(0.3) ? bytes.subarray(0, random.int(bytes.length + 1)) : bytes;
    try {
      decode(cut);
    } catch (error) {
      assert.ok(error instanceof HeadwaterError, String((error as Error).stack));
    }
  }
});
