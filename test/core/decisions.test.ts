import assert from "node:assert/strict";
import { test } from "node:test";
import { Core } from "#src/core/core.js";
import { Place } from "#src/core/place.js";

test("an event with many unfinished ones elsewhere in the tree decides as fast as alone", () => {
  // Looks, not seconds: each decision asks each place on its path for its queues, and no other place.
  const core = new Core<string>();
  const root = new Place<string>(null);
  const request = (payload: string, place: Place<string>) =>
    core.request({ place, mode: "write", views: [], payload });
  let looks = 0;
  const watched = () =>
    new Proxy(new Place(root), {
      get(target, field) {
        looks += 1;
        return Reflect.get(target, field) as unknown;
      },
    });
  request("first", watched());
  const looksAlone = looks;
  for (let i = 0; i < 1000; i++) request(`other ${i}`, new Place(root));
  looks = 0;
  request("second", watched());
  assert.equal(looks, looksAlone);
});
