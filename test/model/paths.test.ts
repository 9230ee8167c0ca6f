import assert from "node:assert/strict";
import { test } from "node:test";
import { Context } from "headwater";
import { isTimerOf, pathOf, resolvePath, showPath, timerId } from "#src/model/path.js";
import { Reference } from "#src/model/refs.js";
import { Calls, Place } from "../place.js";
import { refusedAtOnce } from "../refused.js";

class Chair extends Context<readonly [row: number, seat: string]> {}
class Hall extends Context {
  chairs = this.children(Chair);
}
class Theatre extends Context<string> {
  hall = this.child(Hall);
}
class City extends Context {
  theatres = this.children(Theatre);
}

const root = Place.root(City);
const city = new Calls().root<City>(root);
const chair = Reference.addressOf(city.theatres("globe").hall.chairs(2, "b"));

test("a path names a context as plain data and leads back to the same address", () => {
  const path = pathOf(chair);
  assert.deepEqual(path, [
    { field: "theatres", key: "globe" },
    { field: "hall" },
    { field: "chairs", key: [2, "b"] },
  ]);
  assert.equal(resolvePath(root, JSON.parse(JSON.stringify(path)) as typeof path), chair);
  assert.deepEqual(pathOf(root), []);
  assert.equal(resolvePath(root, []), root);
  assert.equal(`City${showPath(path)}`, String(chair));
});

test("a path that fits no declaration is refused", () => {
  refusedAtOnce(() => resolvePath(root, [{ field: "parks", key: 1 }]), "HW-1007", "City", "parks");
  refusedAtOnce(() => resolvePath(root, [{ field: "theatres" }]), "HW-1007", "theatres");
});

test("a timer's name says which context has set it", () => {
  const hall = Reference.addressOf(city.theatres("globe").hall);
  const timer = timerId(hall, 12, [2, 1]);
  assert.ok(isTimerOf(hall, timer));
  assert.ok(!isTimerOf(chair, timer));
  assert.ok(!isTimerOf(root, timer));
  assert.ok(!isTimerOf(hall, "something"));
  assert.ok(!isTimerOf(hall, 3));
  assert.notEqual(timer, timerId(hall, 12, [2, 2]));
  assert.notEqual(timer, timerId(hall, 13, [2, 1]));
});

test("a logical node's name or a key may contain what timer names are put together with", () => {
  const odd = Place.root(City, "a@b:1");
  const theatre = Reference.addressOf(new Calls().root<City>(odd).theatres("x@y:2"));
  const timer = timerId(theatre, 3, [1]);
  assert.ok(isTimerOf(theatre, timer));
  assert.ok(!isTimerOf(odd, timer));
  assert.ok(!isTimerOf(Reference.addressOf(city.theatres("x@y:2")), timer));
});
