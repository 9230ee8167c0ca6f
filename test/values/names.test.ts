import { test } from "node:test";
import { Context, run } from "headwater";
import { refused } from "../refused.js";

/** Names that UTF-8 cannot say are refused before anything runs; keys and values may be any text. */

class Leaf extends Context<string> {
  "field \ud800" = 0;

  count() {
    this["field \ud800"] += 1;
    return this["field \ud800"];
  }
}

class Root extends Context {
  leaves = this.children(Leaf);
}

test("a logical node, a child and a method with half of a surrogate pair in their names are refused", async () => {
  class OddChild extends Context {
    "\ud800" = this.children(Leaf);
  }
  class OddMethod extends Context {
    "\udfff"() {}
  }
  await refused(run(OddChild), "HW-1108", "child of OddChild");
  await refused(run(OddMethod), "HW-1108", "method of OddMethod");
  await refused(run({ "a\ud800": Root }), "HW-1108", "logical node");
});

test("a field with such a name is state, and contexts with such keys are different ones", async () => {
  await using service = await run(Root);
  for (const key of ["\ud800", "\ud801", "\ufffd"]) {
    if ((await service.root.leaves(key).count()) !== 1)
      throw new Error(`${JSON.stringify(key)} is another context, too`);
  }
});
