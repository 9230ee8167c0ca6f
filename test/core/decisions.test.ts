import assert from "node:assert/strict";
import { test } from "node:test";
import { Core } from "#src/core/core.js";
import { CoreContext } from "#src/core/core-context.js";

test("an event with many unfinished ones elsewhere in the tree decides as fast as alone", () => {
  // Looks, not seconds: each decision asks each context on its path for its queues, and no other context.
  const core = new Core<string>();
  const root = new CoreContext<string>(null);
  const request = (payload: string, context: CoreContext<string>) =>
    core.request({ context, mode: "write", views: [], payload });
  let looks = 0;
  const watched = () =>
    new Proxy(new CoreContext(root), {
      get(target, field) {
        looks += 1;
        return Reflect.get(target, field) as unknown;
      },
    });
  request("first", watched());
  const looksAlone = looks;
  for (let i = 0; i < 1000; i++) request(`other ${i}`, new CoreContext(root));
  looks = 0;
  request("second", watched());
  assert.equal(looks, looksAlone);
});
