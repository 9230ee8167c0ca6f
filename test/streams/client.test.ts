import assert from "node:assert/strict";
import { test } from "node:test";
import { Producer, StreamsClient } from "headwater/streams/client";
import { refused } from "../refused.js";
import { served } from "./served.js";

test("the client registers, pushes, reads and deregisters, with typed rows", async (t) => {
  const { url, token } = await served(t);
  const client = new StreamsClient(url, { token });
  const bids = await client.registerStream("bids", { auction: "bigint", price: "numeric?", at: "timestamp" });
  const dear = await client.registerQuery("dear", "SELECT auction, price FROM bids WHERE price > 1", {
    columns: { auction: "bigint", price: "numeric?" },
  });
  await client.pushEvents(bids, [
    { auction: 1, price: "12345678901234567.89", at: new Date(0) },
    { auction: 2n, price: 0.5, at: 5 },
  ]);
  for await (const { number, row } of client.subscribe(dear, { from: 1 })) {
    assert.deepEqual([number, row.auction, row.price], [1, 1, "12345678901234567.89"]);
    break;
  }
  await refused(client.deregister(bids), "HW-5404");
  await refused(
    client.registerQuery("other", "SELECT auction FROM bids", { columns: { auction: "text" } }),
    "HW-5403",
  );
  assert.deepEqual(
    (await client.list()).map(({ name, kind }) => [name, kind]),
    [
      ["bids", "stream"],
      ["dear", "query"],
    ],
  );
  assert.match(await client.explain("dear"), /scan bids/);
  await client.deregister(dear);
  await client.deregister(bids);
  assert.deepEqual(await client.list(), []);
});

test("pushes whose answers are lost are sent again and taken once, and a subscriber goes on where it was", async (t) => {
  const { url, token, streams } = await served(t);
  let lost = 0;
  /** Loses the answer of every second push, and cuts every stream of events after some bytes. */
  const flaky: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const isPush = String(input).includes("/events");
    if (isPush && lost++ % 2 === 0) {
      await response.body?.cancel();
      throw new TypeError("the connection was lost");
    }
    if (!String(input).includes("/results") || response.body === null) return response;
    let left = 100;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.slice(0, left));
        left -= chunk.length;
        if (left < 0) controller.error(new TypeError("the connection was lost"));
      },
    });
    return new Response(response.body.pipeThrough(cut), response);
  };
  const client = new StreamsClient(url, { token, fetch: flaky, backoffMs: 1 });
  const s = await client.registerStream("s", { n: "bigint" });
  const producer = client.producer(s, "p");
  assert.ok(producer instanceof Producer);
  const COUNT = 30;
  await Promise.all(Array.from({ length: COUNT }, (_, n) => producer.push([{ n }])));
  await client.pushEvents(s, [{ n: COUNT }]);
  assert.equal(await client.producer(s, "p").next(), COUNT);
  const seen: [number, number][] = [];
  for await (const { number, row } of client.subscribe(s, { from: 1 })) {
    seen.push([number, row.n]);
    if (seen.length === COUNT + 1) break;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: COUNT + 1 }, (_, n) => [n + 1, n]),
  );
  assert.equal((await streams.page(s, 1)).rows.length, COUNT + 1);
});

test("a subscriber whose token is revoked hears why", async (t) => {
  const { url, token, service } = await served(t);
  const client = new StreamsClient(url, { token });
  await client.registerStream("s", { n: "bigint" });
  const own = await client.addToken({ scopes: ["read"] });
  const [id = ""] = (await client.tokens())
    .filter(({ scopes }) => scopes[0] === "read")
    .map((each) => each.id);
  const rows = new StreamsClient(url, { token: own }).subscribe("s", { from: 1 });
  const first = rows.next();
  await client.pushEvents("s", [{ n: 1 }]);
  assert.equal((await first).value?.number, 1);
  const heard = refused(rows.next(), "HW-4011");
  await client.revokeToken(id);
  await heard;
  assert.equal(await service.granted(own), null);
});
