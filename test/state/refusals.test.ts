import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, HeadwaterError } from "headwater";
import { copy, copyAll, register } from "#src/state/values.js";
import { refusedAtOnce } from "../refused.js";

class Coin {}
register(Coin);

/** The part of the message that says what is refused and why. */
function refusal(value: unknown): string {
  try {
    copy(value, () => "Game.state");
  } catch (error) {
    assert.ok(error instanceof HeadwaterError);
    assert.equal(error.code, "HW-1006");
    return error.message.slice("HW-1006: ".length, error.message.indexOf(". Contexts hold"));
  }
  return assert.fail("the value was copied");
}

test("what cannot be stored is refused with the exact path to it", () => {
  class Socket {
    handlers = { close() {} };
  }
  function listen() {}
  const cases: [value: unknown, refusal: string][] = [
    [listen, "Game.state cannot be stored: it is a function (listen)"],
    [{ a: { b: [1, listen] } }, "Game.state.a.b[1] cannot be stored: it is a function (listen)"],
    [[() => 1], "Game.state[0] cannot be stored: it is a function (without a name)"],
    [{ s: Symbol("mark") }, "Game.state.s cannot be stored: it is Symbol(mark)"],
    [{ p: Promise.resolve(1) }, "Game.state.p cannot be stored: it is a promise (await it first)"],
    [
      new Map([["ada", { f: listen }]]),
      'Game.state.get("ada").f cannot be stored: it is a function (listen)',
    ],
    [new Map([[7, listen]]), "Game.state.get(7) cannot be stored: it is a function (listen)"],
    [new Map([[listen, 7]]), "Game.state.keys() cannot be stored: it is a function (listen)"],
    [
      new Map([[Object.create(null), listen]]),
      "Game.state.get(…) cannot be stored: it is a function (listen)",
    ],
    [new Set([[listen]]), "Game.state.values()[0] cannot be stored: it is a function (listen)"],
    [
      { net: new Socket() },
      "Game.state.net cannot be stored: it is an instance of Socket (pass plain data, or register the class with `register(Socket)`)",
    ],
    [
      { r: /a/ },
      "Game.state.r cannot be stored: it is an instance of RegExp (pass plain data, such as `[regExp.source, regExp.flags]`)",
    ],
    [
      { home: new URL("http://a.example/") },
      "Game.state.home cannot be stored: it is an instance of URL (pass plain data, such as `url.href`)",
    ],
    [[new Blob([])], "Game.state[0] cannot be stored: it is an instance of Blob (pass plain data)"],
    [new WeakMap(), "Game.state cannot be stored: it is an instance of WeakMap (pass plain data)"],
    [
      Object.create({ inherited: 1 }),
      "Game.state cannot be stored: it is an object that is neither plain nor of a class of its own",
    ],
    [
      Object.assign(new Error("x"), { retry: listen }),
      "Game.state.retry cannot be stored: it is a function (listen)",
    ],
  ];
  for (const [value, expected] of cases) assert.equal(refusal(value), expected);
});

test("a field named __proto__ is refused and changes no prototype", () => {
  const evil = JSON.parse('{"a": {"__proto__": {"admin": true}}}') as unknown;
  assert.equal(refusal(evil), "Game.state.a cannot be stored: it is an object with a field named __proto__");
  assert.equal(({} as { admin?: boolean }).admin, undefined);
});

test("a value that contains itself is refused where the cycle closes", () => {
  const ring: { name: string; next?: unknown } = { name: "ring" };
  ring.next = { back: [ring] };
  assert.equal(refusal(ring), "Game.state.next.back[0] cannot be stored: it is part of itself (a cycle)");
  const map = new Map<string, unknown>();
  map.set("self", map);
  assert.equal(refusal(map), 'Game.state.get("self") cannot be stored: it is part of itself (a cycle)');
});

test("values may be nested 200 deep and no deeper", () => {
  const nested = (depth: number) => {
    let value: unknown = "leaf";
    for (let i = 0; i < depth; i++) value = [value];
    return value;
  };
  assert.deepEqual(
    copy(nested(200), () => "x"),
    nested(200),
  );
  assert.match(refusal(nested(100_000)), /nested/);
  assert.match(
    refusal(nested(202)),
    /^Game\.state(\[0\])* cannot be stored: it is nested more than 200 deep/,
  );
});

test("a subclass of a built-in class is refused rather than turned into something else", () => {
  class Bag extends Map<string, number> {}
  class Row extends Array<number> {}
  class Day extends Date {}
  class Bytes extends Uint8Array {}
  assert.match(refusal({ bag: new Bag() }), /^Game\.state\.bag .* an instance of Bag \(pass plain data\)$/);
  assert.match(refusal(Row.of(1)), /an instance of Row/);
  assert.match(refusal(new Day()), /an instance of Day/);
  assert.match(refusal(new Bytes(2)), /an instance of Bytes \(pass plain data\)$/);
  assert.match(refusal(Object.create(new Coin())), /an instance of Coin/);
});

test("classes whose instances are more than their fields cannot be registered", () => {
  class Bag extends Map<string, number> {}
  class Room extends Context {}
  refusedAtOnce(() => register(Bag), "HW-1006", "Bag", "Map");
  refusedAtOnce(() => register(RegExp), "HW-1006", "RegExp");
  refusedAtOnce(() => register(Room as unknown as new () => object), "HW-1006", "Room");
});

test("classes with private fields or methods cannot be registered: a copy would not have them", () => {
  class Money {
    #cents = 5;
    get cents() {
      return this.#cents;
    }
  }
  class Price extends Money {
    currency = "EUR";
  }
  refusedAtOnce(() => register(Money), "HW-1006", "Money cannot be registered: it has private fields");
  refusedAtOnce(() => register(Price), "HW-1006", "Price", "Money, which it extends, has private fields");
  refusedAtOnce(() => register(URL), "HW-1006", "URL", "private");
  assert.match(refusal([new Money()]), /^Game\.state\[0\] .* an instance of Money \(pass plain data\)$/);
});

test("two registered classes cannot share a name", () => {
  const other = { Coin: class Coin {} };
  refusedAtOnce(() => register(other.Coin), "HW-1006", "Coin", "rename");
});

test("a refused argument is named by its position", () => {
  refusedAtOnce(() => copyAll([1, { f() {} }], () => "Game.enter"), "HW-1006", "Game.enter, argument 2.f");
});
