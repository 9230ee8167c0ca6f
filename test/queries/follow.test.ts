import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, expose, MemoryJournal, run, serve } from "headwater";
import { connect, subscribe } from "headwater/client";
import { column, Queries, query, stream } from "headwater/queries";
import { waitFor } from "../waits.js";

class Market extends Queries({
  bids: stream({ price: column.int }),
  big: query({ price: column.int }, "SELECT price FROM bids WHERE price > 9"),
}) {}

class House extends Context {
  market = this.child(Market);
}

const api = expose(House, {
  bid: (house, ...prices: number[]) => house.market.pushBids(...prices.map((price) => ({ price }))),
  big: (house, from: number) => house.market.followBig(from),
});

test("a subscriber gets each result once, resumes behind the last one, and goes on over a restart of the server", async () => {
  const journal = new MemoryJournal();
  let service = await run(House, { journal });
  let server = await serve(service, api);
  const { port } = server;
  using client = connect<typeof api>(server.url, { backoffMs: 5, backoffMaxMs: 20 });
  const heard: [number, number][] = [];
  const over = new AbortController();
  let hear = () => {};
  const listening = (async () => {
    for await (const { number, row } of subscribe(client, client.api.big, { from: 2, signal: over.signal })) {
      heard.push([number, row.price]);
      hear();
    }
  })();
  const until = (count: number) =>
    waitFor(
      `for ${count} results`,
      new Promise<void>((resolve) => {
        hear = () => {
          if (heard.length >= count) resolve();
        };
        hear();
      }),
    );
  await client.api.bid(10, 1, 11);
  await until(1);
  for (const price of [2, 12, 3]) await client.api.bid(price);
  await until(2);
  await server.close();
  await service.stop();
  service = await run(House, { journal });
  server = await serve(service, api, { port });
  await service.root.market.pushBids({ price: 13 });
  await until(3);
  assert.deepEqual(heard, [
    [2, 11],
    [3, 12],
    [4, 13],
  ]);
  over.abort();
  await listening;
  await server.close();
  await service.stop();
});
