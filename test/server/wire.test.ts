import assert from "node:assert/strict";
import { dirname, join } from "node:path/posix";
import { test } from "node:test";
import { HeadwaterError, register } from "headwater";
import { Packr } from "msgpackr";
import { errorFrom, failureForm } from "#src/protocol/failure.js";
import { fromForm, toForm } from "#src/protocol/form.js";
import { pack } from "#src/protocol/frames.js";
import { Queue } from "#src/protocol/queue.js";
import { Unpacker } from "#src/protocol/unpack.js";
import { Random } from "#src/random.js";
import { parseJson, toJson } from "#src/server/json.js";
import { filesIn, importsOf } from "../house/source.js";

/** Forms, frames and JSON, by themselves. */

const unpacked = (bytes: Uint8Array) => fromForm(new Unpacker(bytes, 500, true).next());

/** Plain data drawn by chance. */
function draw(random: Random, depth: number): unknown {
  const below = () => draw(random, depth - 1);
  const several = <T>(make: () => T) => Array.from({ length: random.int(4) }, make);
  const text = () => random.pick(["", "a", "zwölf", "🎲", "$set", "x".repeat(random.int(100)), "\u0000"]);
  switch (random.int(depth > 0 ? 14 : 7)) {
    case 0:
      return random.pick([null, undefined, true, false]);
    case 1:
      return random.pick([0, -0, 1, -1, 31, 32, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32, -(2 ** 31) - 1]);
    case 2:
      return random.pick([0.1, Number.NaN, Number.POSITIVE_INFINITY, -1e300, 2 ** 53 - 1, -(2 ** 53) + 1]);
    case 3:
    case 4:
      return text();
    case 5:
      return random.pick([0n, -(2n ** 70n), 12n]);
    case 6:
      return new Date(random.int(2 ** 31));
    case 7:
      return new Map(several(() => [text(), below()]));
    case 8:
      return new Set(several(text));
    case 9:
      return new Uint8Array(several(() => random.int(256)));
    case 10:
      return new Int16Array(several(() => random.int(1000)));
    case 11:
      return { [random.pick(["$set", "$x", "$plain", "a"])]: below() };
    case 12:
      return Object.fromEntries(several(() => [text(), below()]));
    default:
      return several(below);
  }
}

test("whatever plain data there is comes back as it was, through MessagePack and through JSON", () => {
  const random = new Random(4);
  for (let i = 0; i < 5000; i++) {
    const value = draw(random, 4);
    assert.deepEqual(unpacked(pack(toForm(value, true))), value);
    assert.deepEqual(parseJson(Buffer.from(toJson(value)), 500), value);
  }
});

test("what is written is MessagePack as others read and write it", () => {
  const random = new Random(6);
  const others = new Packr({ useRecords: false, mapsAsObjects: true });
  for (let i = 0; i < 5000; i++) {
    const form = toForm(draw(random, 4), true);
    const bytes = pack(form);
    assert.deepEqual(ownBytes(others.unpack(bytes)), form);
    assert.deepEqual(new Unpacker(others.pack(form), 500, true).next(), form);
  }
  const long = ["ü".repeat(70), "x".repeat(70_000), Array(70_000).fill(0), new Uint8Array(70_000)];
  for (const form of [...long, Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`k${i}`, i]))]) {
    assert.deepEqual(ownBytes(others.unpack(pack(form))), form);
    assert.deepEqual(new Unpacker(pack(form), 500, true).next(), form);
  }
});

/** The other library may give bytes back as Node's own kind. */
function ownBytes(form: unknown): unknown {
  if (form instanceof Uint8Array) return new Uint8Array(form);
  if (Array.isArray(form)) return form.map(ownBytes);
  if (typeof form !== "object" || form === null) return form;
  return Object.fromEntries(Object.entries(form).map(([name, item]) => [name, ownBytes(item)]));
}

test("bytes of chance are read or refused, never anything else", () => {
  const random = new Random(5);
  let read = 0;
  for (let i = 0; i < 20_000; i++) {
    const bytes = i % 2 === 0 ? new Uint8Array(16) : Uint8Array.from(pack(toForm(draw(random, 3), true)));
    for (let j = 0; j < 3; j++) if (bytes.length > 0) bytes[random.int(bytes.length)] = random.int(256);
    try {
      unpacked(bytes);
      read += 1;
    } catch (error) {
      assert.ok(error instanceof HeadwaterError && error.code === "HW-4007", String(error));
    }
  }
  assert.ok(read > 100 && read < 19_900, `${read} were read`);
});

test("results that could not have been arguments still leave: registered classes as fields, half pairs with a tag", () => {
  class Point {
    constructor(
      readonly x: number,
      readonly constructor_ = 0,
    ) {}
  }
  register(Point);
  assert.deepEqual(toForm([new Point(1), "a\ud800b", { "\udc00": 1 }], false), [
    { x: 1, constructor_: 0 },
    { $text: '"a\\ud800b"' },
    { $fields: [['"\\udc00"', 1]] },
  ]);
  const own = { constructor: 1 };
  assert.deepEqual(fromForm(new Unpacker(pack(toForm(own, false)), 10, false).next()), own);
});

test("a Buffer travels as bytes and arrives as a Uint8Array, since there are no Buffers in browsers", () => {
  for (const strict of [true, false]) {
    const arrived = unpacked(pack(toForm([Buffer.from("hi")], strict))) as [Uint8Array];
    assert.equal(Object.getPrototypeOf(arrived[0]), Uint8Array.prototype);
    assert.deepEqual([...arrived[0]], [104, 105]);
  }
});

test("whatever is thrown becomes something that can be passed on", () => {
  class Spiteful extends Error {
    override get message(): string {
      throw new Error("not telling");
    }
  }
  const unshowable = { toString: () => Symbol("no text") as unknown as string };
  for (const thrown of [new Spiteful(), unshowable, Symbol("x"), null, Object.create(null)]) {
    assert.equal(typeof failureForm(thrown).message, "string");
  }
});

test("errors travel with what is known of them, and without what nobody should see", () => {
  const cause = new Error("inner");
  const error = Object.assign(new RangeError("far", { cause }), { at: new Set([1]), code: "E_FAR" });
  const arrived = errorFrom(failureForm(error)) as Error & { at?: unknown; code?: unknown };
  assert.deepEqual(
    [arrived.name, arrived.message, arrived.at, arrived.code],
    ["RangeError", "far", new Set([1]), "E_FAR"],
  );
  assert.equal(arrived.cause, undefined);
  const ours = errorFrom(failureForm(new HeadwaterError("HW-1015", "no key.")));
  assert.ok(ours instanceof HeadwaterError && ours.code === "HW-1015" && ours.message === "HW-1015: no key.");
  const odd = Object.assign(new Error("odd"), { f: () => {} });
  assert.equal(errorFrom(failureForm(odd)).message, "odd");
  assert.equal(errorFrom(failureForm("text")).message, "text");
  assert.equal(
    errorFrom({ name: "X", message: "m", fields: { stack: "s", name: "n", __proto__: null } }).name,
    "X",
  );
  for (const nonsense of [null, 5, "x", [], {}]) assert.ok(errorFrom(nonsense) instanceof Error);
});

test("what waits is taken in its order, however much was taken before", () => {
  const waiting = new Queue<number>();
  let next = 0;
  for (let i = 0; i < 10_000; i++) {
    waiting.push(i);
    if (i % 3 > 0) assert.equal(waiting.shift(), next++);
  }
  assert.equal(waiting.length, 10_000 - next);
  assert.equal(waiting.front, next);
  assert.deepEqual([...waiting].slice(0, 2), [next, next + 1]);
  waiting.clear();
  assert.equal(waiting.shift(), undefined);
});

test("the client imports nothing that a browser lacks", () => {
  const src = new Map(filesIn(["src"], [".ts"]).map(({ path, text }) => [path, text]));
  const seen = new Set<string>();
  const outside = new Set<string>();
  const follow = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    // What is imported for its types alone is not there any more when the program runs.
    const text = (src.get(path) ?? "").replace(/^(import|export) type [^;]*;$/gm, "");
    for (const specifier of importsOf(text)) {
      if (specifier.startsWith(".")) follow(join(dirname(path), specifier.replace(/\.js$/, ".ts")));
      else outside.add(specifier);
    }
  };
  follow("src/client/index.ts");
  assert.ok(seen.has("src/client/connection.ts") && seen.has("src/errors.ts"));
  assert.deepEqual(
    [...seen].filter((path) => !/^src\/((client|protocol)\/|errors\.ts)/.test(path)),
    [],
  );
  assert.deepEqual([...outside].toSorted(), ["ws"]); // and that only where there is no WebSocket
});
