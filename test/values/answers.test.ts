import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, expose, run, serve } from "headwater";
import { DOOR } from "#src/model/door.js";
import fc from "../properties.js";
import { assertArrived } from "./equal.js";
import { storable } from "./storable.js";

/** An answer may be given several times: whatever one caller does with it, the others get it as it was. */

class Shop extends Context {
  orders = 0;

  order(items: string[]) {
    this.orders += 1;
    return { number: this.orders, items };
  }

  fail(items: string[]) {
    throw Object.assign(new RangeError("sold out"), { items });
  }

  echo(value: unknown) {
    return value;
  }
}

test("each caller of a repeated request has an answer of its own", async () => {
  await using service = await run(Shop);
  const ask = () => service.as({ request: "r" }).root.order(["tea"]);
  const [first, second] = await Promise.all([ask(), ask()]);
  first.items.push("changed");
  assert.deepEqual(second, { number: 1, items: ["tea"] });
  second.items.length = 0;
  assert.deepEqual(await ask(), { number: 1, items: ["tea"] });
});

test("each caller of a repeated request that failed has an error of its own", async () => {
  await using service = await run(Shop);
  const ask = () =>
    service
      .as({ request: "r" })
      .root.fail(["tea"])
      .then(
        () => assert.fail("it was answered"),
        (error: unknown) => error,
      );
  for (let i = 0; i < 3; i++) {
    const error = (await ask()) as RangeError & { items: string[] };
    assert.ok(error instanceof RangeError);
    assert.deepEqual(error.items, ["tea"]);
    assert.match(error.stack ?? "", /answers\.test/);
    error.items.push("changed");
    error.message = "changed";
  }
});

test("an answer of any kind is the same when it is asked for again", async () => {
  await using service = await run(Shop);
  for (const [i, value] of fc.sample(storable, 300).entries()) {
    const ask = () => service.as({ request: `r${i}` }).root.echo(value);
    assertArrived(await ask(), value, "first");
    assertArrived(await ask(), value, "again");
  }
});

/** A function of an API that makes something else of what the program returned, in place. */
const api = expose(Shop, {
  order: (shop, items: string[]) =>
    shop.order(items).then((order) => {
      order.items.push("gift");
      return order;
    }),
});

test("a function of an API that changes what it is given does so once for each reply", async () => {
  await using service = await run(Shop);
  await using server = await serve(service, api);
  const replies = new Set<string>();
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`${server.url}/api/order`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "one" },
      body: '[["tea"]]',
    });
    replies.add(await response.text());
  }
  assert.deepEqual([...replies], ['{"value":{"number":1,"items":["tea","gift"]}}']);
});

test("a numbered request of a client that comes again is answered with a copy", async () => {
  await using service = await run(Shop);
  const door = service[DOOR];
  const [root] = door.roots.values();
  const method = root?.shape.methods.get("order");
  assert.ok(root && method);
  const series = door.series("ada", { caller: "address 10.0.0.1", part: "ada" });
  const asked = { target: root, method, args: [["tea"]] };
  for (let i = 0; i < 3; i++) {
    const order = await new Promise<{ items: string[] }>((resolve, reject) => {
      series.ask(1, asked, i === 0 ? 0 : 1, { resolve: resolve as (value: unknown) => void, reject });
    });
    assert.deepEqual(order.items, ["tea"]);
    order.items.push("changed");
  }
});
