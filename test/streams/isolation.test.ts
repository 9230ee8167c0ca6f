import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ROUTES } from "#src/streams/http/routes.js";
import { type Served, served } from "./served.js";

/**
 * FAULTS.md's list of tenants, generated: one tenant uses every route with the names, ids and tokens of another, and gets the
 * same answers as for names, ids and tokens that do not exist. Routes that are added are tried without a word here.
 */

/** Something of the other tenant, and something as long that does not exist. */
const PAIRS = [
  ["alpha", "alphb"],
  ["gamma_q", "gamma_r"],
  ["summed", "summee"],
  ["acme.alpha", "acme.alphb"],
  ["gamma_q.late", "gamma_r.late"],
  ["acme", "acmf"],
] as const;

const BODIES: readonly ((name: string) => unknown)[] = [
  (name) => ({ sql: `SELECT * FROM ${name}`, name: "mine" }),
  (name) => ({ sql: `EXPLAIN ${name}`, name: "mine" }),
  (name) => ({ sql: `SELECT (SELECT count(*) FROM ${name}) AS n FROM own`, name: "mine" }),
  (name) => ({ name, columns: { n: "bigint" }, sql: "SELECT n FROM own" }),
  (name) => ({ name: "mine", sql: `SELECT n FROM TUMBLE(${name}, at, INTERVAL '1 second')` }),
  (name) => ({ with: [name], producer: name }),
  (name) => ({ producer: name, partitions: [[1]], producers: [name] }),
  (name) => ({ stream: name, target: "https://example.com/rows", from: "tcp://127.0.0.1:9", name: "mine" }),
  (name) => ({ scopes: ["operator", "read"], name }),
];

interface Reply {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

async function replyOf(response: Response, name: string): Promise<Reply> {
  const headers: [string, string][] = [];
  response.headers.forEach((value, header) => {
    if (header !== "date") headers.push([header, value]);
  });
  let body = (await response.text()).replaceAll(name, "NAME").replaceAll(/hw_[\w-]+/g, "TOKEN");
  for (const word of name.split(".")) body = body.replaceAll(word, "WORD"); // an error may point at the first word alone
  return { status: response.status, headers, body };
}

async function prepared(service: Served) {
  const acme = await service.service.tenant("acme");
  await acme.registerStream("alpha", { n: "bigint", at: "timestamp" }, { time: { column: "at" } });
  await acme.registerQuery("gamma_q", "SELECT n FROM alpha");
  await acme.define("CREATE MATERIALIZED VIEW summed AS SELECT n, count(*) AS c FROM alpha GROUP BY n");
  await acme.pushEvents("alpha", [{ n: 4711, at: 1 }], { producer: "secret_producer", sequence: 1 });
  const zoo = await service.service.tenant("zoo");
  await zoo.registerStream("own", { n: "bigint" });
  return { acme, zoo };
}

test("a tenant that uses another's names on any route learns nothing and changes nothing", async (t) => {
  const service = await served(t);
  const { acme, zoo } = await prepared(service);
  const token = await service.service.addToken("zoo", ["admin"]);
  const foreign =
    (await service.service.granted(await service.service.addToken("acme", ["admin"])))?.id ?? "";
  const before = JSON.stringify([
    await acme.describe("alpha"),
    acme.list(),
    (await acme.page("alpha", 1)).rows,
  ]);
  const pairs = [...PAIRS, [foreign, foreign.replace(/.$/, (last) => (last === "0" ? "1" : "0"))] as const];
  const clean = async () => {
    for (const { name } of [...zoo.list()].reverse()) if (name !== "own") await zoo.deregister(name);
  };
  const request = fc.record({
    route: fc.constantFrom(...ROUTES),
    pair: fc.constantFrom(...pairs),
    body: fc.constantFrom(...BODIES),
    accept: fc.constantFrom("text/event-stream", "*/*"),
    query: fc.constantFrom("", "?from=1", "?key=1", "?producer=secret_producer&sequence=1"),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ route, pair, body, accept, query }) => {
      const replies: Reply[] = [];
      for (const name of pair) {
        const path = route.path.replaceAll(/:\w+/g, encodeURIComponent(name));
        const response = await fetch(`${service.url}${path}${query}`, {
          method: route.method,
          headers: { authorization: `Bearer ${token}`, accept },
          ...(route.method === "GET" ? {} : { body: JSON.stringify(body(name)) }),
        });
        replies.push(await replyOf(response, name));
        await clean();
      }
      assert.deepEqual(replies[0], replies[1]);
      assert.doesNotMatch(JSON.stringify(replies), /4711|secret_producer|acme\b(?!.*NAME)/);
    }),
    { numRuns: 250 },
  );
  assert.equal(
    JSON.stringify([await acme.describe("alpha"), acme.list(), (await acme.page("alpha", 1)).rows]),
    before,
  );
});

test("tokens that are another's, forged, or of the wrong scope open nothing", async (t) => {
  const service = await served(t);
  await prepared(service);
  const token = await service.service.addToken("zoo", ["read"]);
  const bad = [
    "",
    "x",
    token.replace("_zoo_", "_acme_"),
    token.replace("_zoo_", "_nobody_"),
    `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`,
    `${token}A`,
  ];
  const replies = new Set<string>();
  for (const route of ROUTES)
    for (const each of bad) {
      const path = route.path.replaceAll(/:\w+/g, "alpha");
      const response = await service.ask(route.method, path, route.method === "GET" ? undefined : "{}", each);
      replies.add(JSON.stringify(await replyOf(response, "alpha")));
    }
  assert.equal(replies.size, 1, "all of them get the same answer");
  for (const { method, path, scope } of ROUTES) {
    const response = await service.ask(
      method,
      path.replaceAll(/:\w+/g, "own"),
      method === "GET" ? undefined : "{}",
      token,
    );
    assert.equal(response.status === 403, scope !== "read", `${method} ${path}`);
    await response.body?.cancel();
  }
});
