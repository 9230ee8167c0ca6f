import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { HeadwaterError } from "headwater";
import { bodyOf } from "#src/streams/http/body.js";
import { ROUTES } from "#src/streams/http/routes.js";
import fc from "../properties.js";
import { served } from "./served.js";

/** What each route that reads a body takes, in full: all of it is given and one name of it is misspelt. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /v1/sql": { sql: "SELECT n FROM s", name: "x", backfill: true, retention: { bytes: 1, ms: 1 } },
  "POST /v1/streams": {
    ...{ name: "x", columns: { n: "bigint", at: "timestamp" }, retention: { bytes: 1, ms: 1 } },
    ...{ time: { column: "at", latenessMs: 1, idleMs: 1 }, eventId: { column: "n", keepMs: 1 } },
    seals: { columns: ["n"], producers: ["p"], keepMs: 1, holdBytes: 1 },
  },
  "POST /v1/queries": { name: "x", sql: "SELECT n FROM s", backfill: true, columns: { n: "bigint?" } },
  "POST /v1/streams/:name/seal": { producer: "p", upTo: 5 },
  "PUT /v1/streams/:name/producers": { producers: ["p"] },
  "PUT /v1/streams/:name/share": { with: ["zoo"] },
  "POST /v1/query": { sql: "SELECT n FROM s", parameters: [] },
  "POST /v1/tokens": { scopes: ["read"], expiresMs: 5 },
  "POST /v1/tenants": { name: "x", quotas: { streams: 1 } },
  "PUT /v1/tenants/:name/quotas": { streams: 1, cpuShare: 1 },
  "POST /v1/outputs": { stream: "s", target: "http://127.0.0.1:1/", name: "x", acks: true, attempts: 1 },
  "POST /v1/sources": { stream: "s", from: "nats://127.0.0.1:1/x", name: "x" },
};

/** Names of the fields of a value, as ways to them. */
function pathsOf(value: unknown, to: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    // The names of columns are the caller's own.
    name === "columns" ? [[...to, name]] : [[...to, name], ...pathsOf(field, [...to, name])],
  );
}

function renamed(value: object, path: readonly string[], wrong: string): object {
  const [first = "", ...rest] = path;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (name !== first) return [name, field as unknown];
      return rest.length === 0 ? [wrong, field as unknown] : [name, renamed(field as object, rest, wrong)];
    }),
  );
}

const route = fc.constantFrom(...ROUTES);
const letter = fc.constantFrom("x", "S", "_");

test("a misspelt name in a body or a query string is refused by its name, and nothing is done", async (t) => {
  const service = await served(t);
  await service.ask("POST", "/v1/sql", '{"sql": "CREATE STREAM s (n bigint)"}');
  await service.ask("POST", "/v1/tenants", '{"name": "zoo"}');
  const state = async () =>
    Promise.all(
      ["/v1/streams", "/v1/tokens", "/v1/tenants", "/v1/outputs", "/v1/sources", "/v1/streams/s"].map(
        async (path) => (await service.ask("GET", path)).text(),
      ),
    );
  const before = await state();
  const misspelt = fc.tuple(route, fc.nat(), letter, fc.boolean());
  await fc.assert(
    fc.asyncProperty(misspelt, async ([{ method, path, parameters = [] }, which, more, isBody]) => {
      const body = BODIES[`${method} ${path}`];
      const at = path.replace("/tenants/:name", "/tenants/zoo").replace(":name", "s").replace(":id", "1");
      const target = at.replace(":number", "1");
      const paths = body === undefined ? [] : pathsOf(body);
      const way = paths[which % paths.length];
      let wrong: string;
      let answer: Response;
      if (isBody && body !== undefined && way !== undefined) {
        wrong = `${way.at(-1)}${more}`;
        answer = await service.ask(method, target, JSON.stringify(renamed(body, way, wrong)));
      } else {
        wrong = `${parameters[which % parameters.length] ?? ""}${more}`;
        const sent = method === "GET" || method === "DELETE" ? undefined : JSON.stringify(body ?? {});
        answer = await service.ask(method, `${target}?${wrong}=1`, sent);
      }
      const text = await answer.text();
      assert.equal(answer.status, 400, `${method} ${path} with ${wrong}: ${text}`);
      assert.ok(text.includes(`\\"${wrong}\\"`) && text.includes("HW-4005"), text);
    }),
    { numRuns: 200 },
  );
  assert.deepEqual(await state(), before);
});

test("every route that reads a body is tried, and takes what is spelt right", async (t) => {
  const service = await served(t);
  const reads = ROUTES.filter(({ run }) => /asked\(|objectOf\(/.test(String(run)));
  for (const { method, path } of reads) assert.ok(BODIES[`${method} ${path}`], `${method} ${path}`);
  await service.ask("POST", "/v1/sql", '{"sql": "CREATE STREAM s (n bigint)"}');
  for (const [request, body] of Object.entries(BODIES)) {
    const [method = "", path = ""] = request.split(" ");
    const answer = await service.ask(method, path.replace(":name", "s"), JSON.stringify(body));
    assert.doesNotMatch(await answer.text(), /, and takes /);
  }
});

test("what is no truth value, number or producer is not taken for one", async (t) => {
  const { ask } = await served(t);
  await ask("POST", "/v1/sql", '{"sql": "CREATE STREAM s (n bigint)"}');
  const output = { stream: "s", target: "tcp://192.0.2.1:1" };
  const odd = fc.constantFrom<unknown>("yes", "true", 1, 0, null, "", [3], {}, "5");
  const sent = fc.oneof(
    odd.map((acks) => ["/v1/outputs", { ...output, acks }, "acks"] as const),
    odd.map(
      (backfill) => ["/v1/queries", { name: "q", sql: "SELECT n FROM s", backfill }, "backfill"] as const,
    ),
    odd
      .filter((each) => typeof each !== "number")
      .map((from) => ["/v1/outputs", { ...output, from }, "from"] as const),
  );
  await fc.assert(
    fc.asyncProperty(sent, async ([path, body, name]) => {
      const answer = await ask("POST", path, JSON.stringify(body));
      const text = await answer.text();
      assert.ok(answer.status === 400 && text.includes(`\\"${name}\\"`), `${JSON.stringify(body)}: ${text}`);
    }),
  );
  const unnamed = await ask("POST", "/v1/streams/s/events?producer=&sequence=1", '{"n": 1}');
  assert.equal(unnamed.status, 400);
  assert.match(await unnamed.text(), /needs a \\"producer\\"/);
});

test("a JSON body that is not UTF-8 is refused, and not repaired", async (t) => {
  const service = await served(t);
  const answer = await fetch(`${service.url}/v1/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}` },
    body: Buffer.from(`{"sql": "SELECT 'caf\xe9' AS word"}`, "latin1"),
  });
  assert.equal(answer.status, 400);
  assert.match(await answer.text(), /not UTF-8/);
});

test("who reads a packed body does not wait for a client that is gone", async (t) => {
  const server = createServer();
  t.after(() => server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const packed = gzipSync(Buffer.alloc(100_000, "{}\n"));
  const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`;
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(Buffer.concat([Buffer.from(head), packed.subarray(0, packed.length - 10)]));
  const [request] = (await once(server, "request")) as [IncomingMessage];
  const read = bodyOf(request, 1_000_000);
  socket.destroy();
  await assert.rejects(read, (error) => error instanceof HeadwaterError && error.code === "HW-4005");
});
