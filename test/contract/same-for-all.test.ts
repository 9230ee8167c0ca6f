import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run } from "headwater";
import { refused } from "../refused.js";

/**
 * What an event sees may not depend on how the runtime ran it. A method that runs to its end at once may get an instance
 * that another event has used, an async one gets a fresh one: both find the same.
 */

const MARK = Symbol("mark");

class Box extends Context {
  content: unknown = null;
  bytes: Buffer = Buffer.alloc(0);

  put(content: unknown) {
    this.content = content;
  }
  putBytes(text: string) {
    this.bytes = Buffer.from(text);
  }
  textOf(bytes: Buffer) {
    return [bytes.toString(), this.bytes.toString()];
  }
  async textOfLater(bytes: Buffer) {
    return [bytes.toString(), this.bytes.toString()];
  }
  @readonly give() {
    return this.bytes;
  }
  putMatch() {
    this.content = "abc".match(/b/);
  }
  putGetter() {
    this.content = {
      get two() {
        return 2;
      },
    };
  }
  mark() {
    (this.content as Record<symbol, unknown>)[MARK] = 1;
  }
  putHoles() {
    const holes = new Array<number>(2);
    holes[1] = 5;
    this.content = holes;
  }
  putFrozen() {
    this.content = Object.freeze({ n: 1 });
  }
  putBare() {
    this.content = Object.assign(Object.create(null) as object, { n: 1 });
  }
  putTwice() {
    const one = { n: 1 };
    this.content = [one, one];
  }
  putProxy() {
    this.content = new Proxy({ n: 1 }, { has: () => true });
  }
  look() {
    return seen(this.content);
  }
  async lookLater() {
    return seen(this.content);
  }
}

/** What code can find out of a value. */
function seen(value: unknown): unknown[] {
  const object = value as Record<string, unknown> & unknown[];
  const visited: unknown[] = [];
  if (Array.isArray(value)) value.forEach((item) => void visited.push(item));
  return [Object.isFrozen(object), "toString" in object, "other" in object, object[0] === object[1], visited];
}

test("a Buffer stays a Buffer in fields, arguments and results, whoever looks", async () => {
  const { root, stop } = await run(Box);
  await root.putBytes("hi");
  assert.deepEqual(await root.textOf(Buffer.from("yo")), ["yo", "hi"]);
  assert.deepEqual(await root.textOfLater(Buffer.from("yo")), ["yo", "hi"]);
  assert.equal((await root.give()).toString(), "hi");
  await stop();
});

test("what a copy does not keep is not there for any later event, at once or not", async () => {
  for (const put of ["putHoles", "putFrozen", "putBare", "putTwice", "putProxy"] as const) {
    const { root, stop } = await run(Box);
    await root[put]();
    const atOnce = await root.look();
    assert.deepEqual(atOnce, await root.lookLater(), put);
    assert.deepEqual(atOnce, await root.look(), put);
    await stop();
  }
});

test("HW-1006: what would be lost in a copy is refused before anybody can see it", async () => {
  const { root, stop } = await run(Box);
  await root.put({ n: 1 });
  await refused(root.putMatch(), "HW-1006", "Box.content", "[...match]");
  await refused(root.putGetter(), "HW-1006", "Box.content", "a getter", '"two"');
  await refused(root.mark(), "HW-1006", "Box.content", "Symbol(mark)");
  await refused(root.put({ [MARK]: 1 }), "HW-1006", "argument 1", "Symbol(mark)");
  await refused(root.put("abc".match(/b/)), "HW-1006", "argument 1", "[...match]");
  assert.deepEqual(await root.look(), await root.lookLater());
  await stop();
});
