import assert from "node:assert/strict";
import { test } from "node:test";
import { type Client, Context, expose, run, serve } from "headwater";
import { connect } from "headwater/client";
import { refused, refusedAtOnce } from "../refused.js";
import type { api } from "./town.js";

/** What a program lets callers outside ask for. */

class Till extends Context {
  cents = 0;
  add(cents: number) {
    this.cents += cents;
    return this.cents;
  }
}
class Shop extends Context {
  till = this.child(Till);
  visitors = 0;
  enter() {
    return ++this.visitors;
  }
}
class Printer extends Context {
  lines: string[] = [];
  print(line: string) {
    return this.lines.push(line);
  }
}

test("the client's functions have the types of the program's methods", () => {
  type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
  const equal = <A, B>(_: Equal<A, B>): void => {};
  type Seen = Client<typeof api>;
  equal<Seen["bump"], (counter: string, by: number) => Promise<number>>(true);
  equal<Seen["whoAmI"], () => Promise<string | undefined>>(true);
  const checked = expose(Till, {
    add: { check: () => {}, request: (till, cents: number) => till.add(cents) },
  });
  equal<Client<typeof checked>["add"], (cents: number) => Promise<number>>(true);
  // @ts-expect-error there is no such method
  expose(Till, { add: (till) => till.subtract(1) });
  // @ts-expect-error the arguments of a method are checked
  expose(Till, { add: (till, cents: string) => till.add(cents) });
  // @ts-expect-error a function must return what the request returns
  expose(Till, { add: () => 5 });
});

test("an API function makes exactly one request; none or several change nothing and are refused", async (t) => {
  const service = await run(Shop);
  const shopApi = expose(Shop, {
    enter: (shop) => shop.enter(),
    none: async () => 5,
    late: async (shop) => {
      await null;
      return shop.enter();
    },
    both: (shop) => Promise.all([shop.enter(), shop.till.add(100)]),
    chained: (shop) => shop.till.add(1).then(() => shop.enter()),
    mapped: (shop) => shop.till.add(10).then((cents) => `${cents} cents`),
    wrong: (shop) => {
      throw new TypeError(`not today, ${shop}`);
    },
  });
  const server = await serve(service, shopApi);
  const client = connect<typeof shopApi>(server.url);
  t.after(async () => {
    client.close();
    await server.close();
    await service.stop();
  });
  await refused(client.api.none(), "HW-4002", "none");
  await refused(client.api.late(), "HW-4002", "late");
  await refused(client.api.both(), "HW-4003", "both");
  await assert.rejects(client.api.wrong(), { name: "TypeError", message: "not today, Shop" });
  assert.equal(await client.api.mapped(), "10 cents", "what both asked for has not happened");
  await refused(client.api.chained(), "HW-4003", "chained");
  assert.equal(await client.api.enter(), 1);
});

test("a check sees the arguments before anything happens, and what it throws is the caller's error", async (t) => {
  const service = await run(Till);
  const tillApi = expose(Till, {
    add: {
      check: (cents) => {
        if (!Number.isSafeInteger(cents)) throw new TypeError("cents are whole");
      },
      request: (till, cents: number) => till.add(cents),
    },
  });
  const server = await serve(service, tillApi);
  const client = connect<typeof tillApi>(server.url);
  t.after(async () => {
    client.close();
    await server.close();
    await service.stop();
  });
  await assert.rejects(client.api.add(0.5), { name: "TypeError", message: "cents are whole" });
  assert.equal(await client.api.add(2), 2);
});

test("a program with several logical nodes exposes them by name", async (t) => {
  const nodes = { shop: Shop, printer: Printer };
  const service = await run(nodes);
  const bothApi = expose(nodes, {
    enter: ({ shop }) => shop.enter(),
    print: ({ printer }, line: string) => printer.print(line),
    both: ({ shop, printer }) => Promise.all([shop.enter(), printer.print("x")]),
  });
  const server = await serve(service, bothApi);
  const client = connect<typeof bothApi>(server.url);
  t.after(async () => {
    client.close();
    await server.close();
    await service.stop();
  });
  assert.deepEqual(await Promise.all([client.api.enter(), client.api.print("a")]), [1, 1]);
  await refused(client.api.both(), "HW-4003", "both");
  assert.deepEqual(await Promise.all([client.api.enter(), client.api.print("b")]), [2, 2]);
});

test("an API that nobody could use, or that is for another program, is refused at the start", async () => {
  refusedAtOnce(() => expose(Till, {}), "HW-4001");
  for (const name of ["../admin", "__proto__x", "then", "constructor", "", "9", "a".repeat(65), "a b"]) {
    refusedAtOnce(() => expose(Till, { [name]: (till) => till.add(1) }), "HW-4001", "cannot be the name");
  }
  const notFunctions = { add: 5 } as unknown as Record<string, () => Promise<unknown>>;
  refusedAtOnce(() => expose(Till, notFunctions), "HW-4001", '"add"');
  const service = await run(Shop);
  const tillApi = expose(Till, { add: (till) => till.add(1) });
  await refused(serve(service, tillApi), "HW-4001", "Till", "Shop");
  await service.stop();
});
