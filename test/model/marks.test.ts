import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type ContextClass, readonly, reads } from "headwater";
import { markOf } from "#src/model/marks.js";
import { shapeOf } from "#src/model/shape.js";

class City extends Context {}
class Country extends Context {}
class Cell extends Context {
  @readonly look() {}
  @reads(City) weigh() {}
  @readonly @reads(City, Country) compare() {}
  @reads(City) @reads(Country) twice() {}
  plain() {}
}
const method = (cls: unknown, name: string) => shapeOf(cls as ContextClass).methods.get(name);

test("decorators mark methods and leave them as they are", () => {
  assert.equal(method(Cell, "look")?.readonly, true);
  assert.deepEqual(method(Cell, "look")?.reads, []);
  assert.equal(method(Cell, "weigh")?.readonly, false);
  assert.deepEqual(method(Cell, "weigh")?.reads, [City]);
  assert.equal(method(Cell, "plain")?.readonly, false);
  assert.equal(method(Cell, "look")?.body, Cell.prototype.look as unknown);
});

test("marks add up", () => {
  assert.equal(method(Cell, "compare")?.readonly, true);
  assert.deepEqual(method(Cell, "compare")?.reads, [City, Country]);
  assert.deepEqual(new Set(method(Cell, "twice")?.reads), new Set([City, Country]));
});

test("the older call form of TypeScript's decorators marks the method in the descriptor", () => {
  class Old extends Context {
    look() {}
    weigh() {}
  }
  const descriptor = (name: "look" | "weigh") => {
    const found = Object.getOwnPropertyDescriptor(Old.prototype, name);
    assert.ok(found !== undefined);
    return found as TypedPropertyDescriptor<() => void>;
  };
  assert.equal(readonly(Old.prototype, "look", descriptor("look")), undefined);
  assert.equal(reads(City)(Old.prototype, "weigh", descriptor("weigh")), undefined);
  assert.equal(method(Old, "look")?.readonly, true);
  assert.deepEqual(method(Old, "weigh")?.reads, [City]);
  assert.equal(method(Old, "weigh")?.readonly, false);
});

test("plain JavaScript marks a method by calling the decorator with it", () => {
  class Plain extends Context {
    look() {}
    weigh() {}
  }
  readonly(Plain.prototype.look);
  reads(City)(Plain.prototype.weigh);
  assert.deepEqual(markOf(Plain.prototype.look), { readonly: true, reads: [] });
  assert.deepEqual(method(Plain, "weigh")?.reads, [City]);
});

test("an override has only the marks that it carries itself", () => {
  class Bold extends Cell {
    override look() {}
  }
  assert.equal(method(Bold, "look")?.readonly, false);
  assert.deepEqual(method(Bold, "weigh")?.reads, [City]);
});
