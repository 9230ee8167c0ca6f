import assert from "node:assert/strict";
import { test } from "node:test";
import fastify from "fastify";
import { Context, checkedBy, expose, readonly, run, serve } from "headwater";
import { connect } from "headwater/client";
import * as v from "valibot";

/** A program beside the routes of a Fastify app, at its port, with arguments that valibot checks. */

class Shelf extends Context {
  books = new Map<string, number>();

  put(title: string, count: number) {
    this.books.set(title, (this.books.get(title) ?? 0) + count);
  }

  @readonly count(title: string) {
    return this.books.get(title) ?? 0;
  }
}

const title = v.pipe(v.string(), v.trim(), v.minLength(1));
const api = expose(Shelf, {
  put: checkedBy([title, v.pipe(v.number(), v.integer())], (shelf, name, count) => shelf.put(name, count)),
  count: checkedBy([title], (shelf, name) => shelf.count(name)),
});

test("serve attaches to a Fastify app, which keeps its routes and its port", async (t) => {
  const app = fastify();
  app.get("/own", () => ({ mine: true }));
  t.after(() => app.close());
  await app.ready();
  await using service = await run(Shelf);
  const server = await serve(service, api, { server: app.server, path: "/api" });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  {
    using client = connect<typeof api>(`${url}/api`);
    await client.api.put("  Ulysses ", 2); // the schema trims it
    assert.equal(await client.api.count("Ulysses"), 2);
    for (const wrong of ["", 7, null, {}, [], "   "])
      await assert.rejects(client.api.put(wrong as string, 1), { code: "HW-4024" }, JSON.stringify(wrong));
    await assert.rejects(client.api.put("Ulysses", 1.5), { code: "HW-4024" });
    assert.equal(await client.api.count("Ulysses"), 2);
    assert.deepEqual(await (await fetch(`${url}/own`)).json(), { mine: true });
    assert.equal((await fetch(`${url}/nothing`)).status, 404);
  }
  await server.close();
  assert.deepEqual(await (await fetch(`${url}/own`)).json(), { mine: true });
});
