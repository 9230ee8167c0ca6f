import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { run } from "headwater";
import { StreamService } from "headwater/streams";
import { EventStream } from "#src/dashboard/event-stream.js";
import { ROUTES as PROGRAM_ROUTES } from "#src/dashboard/routes.js";
import { ROUTES } from "#src/streams/http/routes.js";
import fc from "../properties.js";
import { until } from "../waits.js";
import Shop from "./programs/shop.js";
import { SIGNED, servedBy } from "./served.js";

/** The dashboard of a streaming service with two tenants. */
async function served(t: TestContext) {
  const service = await StreamService.open();
  t.after(() => service.close());
  for (const name of ["acme", "zoo"]) {
    const tenant = await service.tenant(name);
    await tenant.registerStream("clicks", { page: "text", at: "timestamp" }, { time: { column: "at" } });
    await tenant.registerQuery("pages", "SELECT page FROM clicks WHERE page <> ''");
  }
  const reached = await servedBy(t, service.program, {
    streams: {
      service: async () => service,
      granted: (token) => service.granted(token),
      close: async () => {},
    },
    secretClasses: ["Tenant"],
  });
  const withToken = (token: string) => ({ ...SIGNED, authorization: `Bearer ${token}` });
  return { service, ...reached, withToken };
}

const pathOf = (tenant: string, path: string) =>
  `/headwater/admin/streams/${tenant}${path.replaceAll(/:\w+/g, "clicks")}`;

test("a token of a tenant opens that tenant's streams as far as its scopes go, and nothing else", async (t) => {
  const { service, send, withToken } = await served(t);
  const headers = withToken(await service.addToken("zoo", ["read"]));
  for (const { method, path, scope } of ROUTES) {
    const body = method === "POST" || method === "PUT" ? "{}" : undefined;
    const own = await send(method, pathOf("zoo", path), headers, body);
    assert.equal(own.status === 403, scope !== "read", `${method} ${path}: ${own.status}`);
    const [foreign, missing] = await Promise.all(
      ["acme", "none"].map((tenant) => send(method, pathOf(tenant, path), headers, body)),
    );
    assert.deepEqual([foreign?.status, foreign?.body], [404, missing?.body], `${method} ${path}`);
  }
  for (const each of [...Object.keys(PROGRAM_ROUTES), "GET feed", "POST code"]) {
    const [method = "", name] = each.split(" ");
    assert.equal((await send(method, `/headwater/admin/${name}`, headers)).status, 403, each);
  }
  const { body } = await send("GET", "/headwater/admin/tenants", headers);
  assert.deepEqual(JSON.parse(body), { tenants: ["zoo"] });
});

test("streams are closed to callers without a token, to pages of other origins and to forms", async (t) => {
  const { send, port } = await served(t);
  for (const { method, path } of ROUTES) {
    const at = pathOf("zoo", path);
    const body = method === "POST" || method === "PUT" ? "{}" : undefined;
    assert.equal((await send(method, at, {}, body)).status, 401);
    assert.equal((await send(method, at, { ...SIGNED, origin: "https://evil.example" }, body)).status, 403);
    const rebound = { ...SIGNED, host: `evil.example:${port}`, origin: `http://evil.example:${port}` };
    assert.equal((await send(method, at, rebound, body)).status, 403);
    if (method !== "POST") continue;
    const form = { authorization: SIGNED.authorization, "content-type": "text/plain" };
    assert.equal((await send(method, at, form, body)).status, 415);
  }
});

test("an operator reaches every tenant, and sees no secrets in the state of the service", async (t) => {
  const { service, send, withToken } = await served(t);
  for (const headers of [SIGNED, withToken(await service.addToken("default", ["operator"]))]) {
    for (const tenant of ["acme", "zoo"]) {
      const { status, body } = await send("GET", pathOf(tenant, "/v1/graph"), headers);
      const { streams } = JSON.parse(body) as { streams: { name: string }[] };
      assert.deepEqual([status, streams.map(({ name }) => name)], [200, ["clicks", "pages"]]);
    }
    const address = encodeURIComponent('Streams.tenants("acme")');
    assert.equal((await send("GET", `/headwater/admin/state?address=${address}`, headers)).status, 403);
  }
});

const SELECTS = [
  (from: string) => `SELECT n, at FROM ${from} WHERE n > 1`,
  (from: string) => `SELECT n, max(at) AS at FROM ${from} GROUP BY n EMIT CHANGES`,
  (from: string) => `SELECT n, max(at) AS at FROM ${from} GROUP BY n`,
  (from: string) =>
    `SELECT count(*) AS n, window_end AS at FROM TUMBLE(${from}, at, INTERVAL '1 second') GROUP BY window_start, window_end`,
  (from: string) => `SELECT a.n, a.at FROM ${from} AS a JOIN s AS b ON a.n = b.n`,
];

test("the label in the graph is the label that EXPLAIN gives, for every query of a random graph", async (t) => {
  const service = await StreamService.open();
  t.after(() => service.close());
  let run = 0;
  const query = fc.record({
    select: fc.nat(SELECTS.length - 1),
    from: fc.nat(20),
    choice: fc.constantFrom("", " WITH (coordination = 'order')"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(query, { maxLength: 8 }), async (queries) => {
      const streams = await service.tenant(`t${run++}`);
      await streams.registerStream("s", { n: "bigint", at: "timestamp" }, { time: { column: "at" } });
      for (const [i, { select, from, choice }] of queries.entries()) {
        const names = streams.list().map(({ name }) => name);
        const sql = SELECTS[select]?.(names[from % names.length] ?? "s") ?? "";
        const options = choice === "" ? {} : { coordination: "order", reason: "a test" };
        await streams.registerQuery(`q${i}`, sql, options).catch(() => {}); // refused ones are not in the graph
      }
      for (const { name, label, sql } of await streams.graph()) {
        if (sql === null) assert.equal(label, null);
        else
          assert.equal(
            label?.text,
            /^Label {2}(.*)$/m.exec(await streams.explain(name))?.[1],
            `${name}: ${sql}`,
          );
      }
    }),
    { numRuns: 12 },
  );
});

test("the events of a program are rows of a stream, from the first look on", async (t) => {
  await using service = await run(Shop, { onError: () => {} });
  const events = new EventStream(service);
  t.after(() => events.close());
  await service.root.name("before");
  const streams = await (await events.service()).tenant("default");
  await service.root.shelves(3).put("a, (b)", 1);
  await assert.rejects(service.root.shelves(3).fail());
  const rows = async () =>
    (await streams.page("events", 1)).rows.map(({ json }) => JSON.parse(json) as Record<string, unknown>);
  await until(async () => (await rows()).length === 2);
  assert.deepEqual(
    (await rows()).map(({ context, place, method, ok, error }) => [context, place, method, ok, error]),
    [
      ["Shop.shelves(3)", "Shop.shelves", "put", true, null],
      ["Shop.shelves(3)", "Shop.shelves", "fail", false, "RangeError"],
    ],
  );
  assert.equal((await streams.page("failures", 1)).rows.length, 1);
});
