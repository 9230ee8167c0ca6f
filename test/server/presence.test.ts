import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import express from "express";
import { Context, checkedBy, expose, MemoryJournal, readonly, run, serve } from "headwater";
import { type ConnectionState, connect, type ServiceClient } from "headwater/client";
import { z } from "zod";
import Chat, { api, type Line } from "../../examples/chat.js";
import { until } from "../waits.js";

interface News {
  readonly present?: readonly string[];
  readonly line?: Line;
}

function joined(t: TestContext, url: string) {
  const client: ServiceClient<typeof api> = connect<typeof api>(url, { backoffMs: 10, backoffMaxMs: 50 });
  const news: News[] = [];
  client.onMessage<News>((message) => news.push(message));
  t.after(() => client.close());
  return { client, news };
}

test("a program hears when sessions come and go, also when the process between was lost", async (t) => {
  const journal = new MemoryJournal();
  const limits = { awayMs: 50 };
  let service = await run(Chat, { journal });
  let server = await serve(service, api, { limits });
  const { port } = server;
  const ada = joined(t, server.url);
  const ben = joined(t, server.url);
  await ada.client.api.enter("rivers", "ada");
  await ben.client.api.enter("rivers", "ben");
  await until(() => ada.news.at(-1)?.present?.length === 2);

  // The process ends without a word to either; only ada comes back.
  await server.close({ graceMs: 0 });
  await service.stop({ graceMs: 0 });
  ben.client.close();
  service = await run(Chat, { journal });
  server = await serve(service, api, { limits, port });
  t.after(async () => {
    await server.close();
    await service.stop();
  });
  await until(() => ada.news.at(-1)?.present?.join() === "ada");
  await ada.client.api.say("rivers", "alone");
  assert.deepEqual(await service.root.present(), [ada.client.session]);
  assert.deepEqual(await ada.client.api.recent("rivers"), [{ from: "ada", text: "alone" }]);

  ada.client.close();
  await until(async () => (await service.root.present()).length === 0);
});

test("a client hears of its states, and tells a request that was never sent from one that may have been done", async (t) => {
  const service = await run(Chat);
  const server = await serve(service, api);
  t.after(() => service.stop());
  const states: ConnectionState[] = [];
  const client = connect<typeof api>(server.url, { timeoutMs: 200, backoffMs: 10 });
  client.onState((state) => states.push(state));
  await client.api.recent("rivers");
  await server.close();
  await until(() => client.state === "connecting");
  await assert.rejects(client.api.recent("rivers"), { code: "HW-4023" });
  client.close();
  assert.deepEqual(states, ["open", "connecting", "closed"]);
});

class Shelf extends Context {
  counts = new Map<string, number>();

  put(name: string, count: number) {
    this.counts.set(name, count);
    return count;
  }

  @readonly all() {
    return this.counts;
  }
}

const shelfApi = expose(Shelf, {
  put: checkedBy([z.string().min(1).trim(), z.number().int().default(1)], (shelf, name, count) =>
    shelf.put(name, count),
  ),
  all: (shelf) => shelf.all(),
});

test("schemas check arguments, and what they return is what the function gets", async (t) => {
  const service = await run(Shelf);
  const server = await serve(service, shelfApi);
  const client = connect<typeof shelfApi>(server.url);
  t.after(async () => {
    client.close();
    await server.close();
    await service.stop();
  });
  assert.equal(await client.api.put(" pears ", 3), 3);
  await assert.rejects(client.api.put("", 3), { code: "HW-4024", message: /argument 1: / });
  await assert.rejects(client.api.put("figs", 1.5), { code: "HW-4024", message: /argument 2: / });
  // @ts-expect-error: the types are those of the schemas
  await assert.rejects(client.api.put(5, 3), { code: "HW-4024" });
  assert.deepEqual(await client.api.all(), new Map([["pears", 3]]));
});

test("a server attaches to one that a program has, and leaves it as it was", async (t) => {
  const app = express();
  app.get("/hello", (_, response) => void response.send("from express"));
  const http = createServer(app);
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const service = await run(Shelf);
  t.after(async () => {
    http.closeAllConnections();
    http.close();
    await service.stop();
  });
  const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server = await serve(service, shelfApi, { server: http, path: "/shelf" });
  assert.equal(server.url, `${base}/shelf`);
  const client = connect<typeof shelfApi>(server.url);
  assert.equal(await client.api.put("pears", 2), 2);
  assert.equal(await (await fetch(`${base}/hello`)).text(), "from express");
  assert.equal((await fetch(`${base}/shelf/healthz`)).status, 200);
  assert.equal((await fetch(`${base}/shelving`)).status, 404);
  client.close();
  await server.close();
  assert.equal((await fetch(`${base}/shelf/healthz`)).status, 404);
  assert.equal(await (await fetch(`${base}/hello`)).text(), "from express");
  await assert.rejects(serve(service, shelfApi, { server: http, path: "shelf" }), { code: "HW-4020" });
});
