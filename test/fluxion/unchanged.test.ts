import assert from "node:assert/strict";
import { test } from "node:test";
import { Builtins } from "#src/fluxion/runtime/builtins.js";
import { ask, read } from "#src/fluxion/runtime/reading.js";

test("what a program adds to the language, changes of it or takes from it is found", () => {
  const changes: readonly [string, () => () => void][] = [
    ["String.prototype.shout", () => defined(String.prototype, "shout", { value: () => "!" })],
    ["Array.prototype.last", () => defined(Array.prototype, "last", { get: () => 1 })],
    ["Math.random", () => defined(Math, "random", { value: () => 4, writable: true })],
    ["Date.prototype.getDay", () => taken(Date.prototype, "getDay")],
  ];
  for (const [name, change] of changes) {
    const builtins = new Builtins();
    assert.equal(builtins.change(0), null);
    const undo = change();
    assert.equal(builtins.change(1000), name);
    undo();
  }
  assert.equal(new Builtins().change(0), null);
});

function defined(object: object, key: string, field: PropertyDescriptor): () => void {
  const before = Object.getOwnPropertyDescriptor(object, key);
  Object.defineProperty(object, key, { configurable: true, ...field });
  return () => {
    if (before === undefined) Reflect.deleteProperty(object, key);
    else Object.defineProperty(object, key, before);
  };
}

function taken(object: object, key: string): () => void {
  const before = Object.getOwnPropertyDescriptor(object, key) ?? {};
  Reflect.deleteProperty(object, key);
  return () => void Object.defineProperty(object, key, before);
}

test("a getter that a package has put into a request is not called to see what a stage would read", () => {
  let calls = 0;
  const above = {
    get query() {
      return { a: 1 };
    },
    get user() {
      return ++calls;
    },
    get: (key: string) => `of ${key}`,
  };
  const req: Record<string, unknown> = Object.assign(Object.create(above), { body: [1] });
  assert.deepEqual(read(req, "body"), [1]);
  assert.deepEqual(read(req, "query"), { a: 1 });
  assert.equal(read(req, "none"), undefined);
  assert.equal(typeof read(req, "user"), "symbol");
  Object.defineProperty(req, "query", { get: () => ++calls });
  assert.equal(typeof read(req, "query"), "symbol");
  assert.equal(ask(req, "get", "accept"), "of accept");
  req.get = () => ++calls;
  assert.equal(typeof ask(req, "get", "accept"), "symbol");
  assert.equal(calls, 0);
});
