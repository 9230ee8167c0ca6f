import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { run, type ServeOptions, serve } from "headwater";
import { errorFrom } from "headwater/client";
import { refused } from "../refused.js";
import { dial, posting, repliesOn } from "./raw.js";
import { api, gates, started, Town, until } from "./town.js";

/** The plain HTTP door. */

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test("POST /api/NAME with a list of arguments is one event, and its result is the value", async (t) => {
  const { post, server } = await started(t);
  assert.deepEqual(await post("bump", ["ada", 2]), {
    status: 200,
    value: 2,
    code: undefined,
    error: undefined,
  });
  assert.equal((await post("bump", ["ada", 3])).value, 5);
  assert.equal((await post("tellMe", [0])).value, null, "a method without a result");
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
  assert.equal((await fetch(`${server.url}/healthz`, { method: "HEAD" })).status, 200);
});

test("what JSON cannot say travels under names that begin with $", async (t) => {
  const { post } = await started(t);
  const values = [
    { $set: [1, { $date: "1970-01-01T00:00:01.000Z" }] },
    { $map: [["constructor", { $bigint: "9007199254740993" }]] },
    [{ $number: "NaN" }, { $number: "-0" }, { $undefined: true }],
    { $bytes: "AP8=" },
    { $typed: ["Int16Array", { $bytes: "AQACAA==" }] },
    { $plain: { $set: 1 } },
  ];
  for (const value of values) assert.deepEqual((await post("echo", [value])).value, value);
  for (const wrong of [
    { $set: 1 },
    { $date: "yesterday" },
    { $typed: ["Door", { $bytes: "" }] },
    { $x: 1 },
    { $bytes: "?" },
  ]) {
    const { status, code } = await post("echo", [wrong]);
    assert.deepEqual([status, code], [400, "HW-4007"], JSON.stringify(wrong));
  }
});

test("what the application throws is an error with its name, text and fields", async (t) => {
  const { post } = await started(t);
  const { status, error } = await post("bump", ["ada", -1]);
  assert.equal(status, 422);
  assert.deepEqual(error, {
    name: "RangeError",
    message: "ada only counts up",
    fields: { by: -1, key: "ada" },
  });
  assert.equal(errorFrom(error).name, "RangeError");
});

test("a request sent again with its Idempotency-Key has its effect once", async (t) => {
  const { post } = await started(t);
  const key = { "idempotency-key": "order-1" };
  assert.equal((await post("bump", ["ada", 1], key)).value, 1);
  assert.equal((await post("bump", ["ada", 1], key)).value, 1);
  assert.equal((await post("bump", ["ada", 1])).value, 2);
  const { status, code } = await post("bump", ["ada", 5], key);
  assert.deepEqual([status, code], [422, "HW-4019"]);
  assert.equal((await post("read", ["ada"])).value, 2);
  const bad = await post("bump", ["ada", 1], { "idempotency-key": "x".repeat(256) });
  assert.deepEqual([bad.status, bad.code], [400, "HW-4005"]);
});

test("with tokens, a caller without one of them is refused, and events see the name of the token", async (t) => {
  const { post, server, log } = await started(t, {
    tokens: { ada: sha256("ada's token"), bob: sha256("bob's") },
  });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  for (const headers of [{}, bearer("wrong"), { authorization: "Basic YWRhOng=" }, bearer(sha256("bob's"))]) {
    const { status, code } = await post("bump", ["attacked", 1], headers);
    assert.deepEqual([status, code], [401, "HW-4010"]);
  }
  assert.equal((await post("whoAmI", [], bearer("bob's"))).value, "bob");
  assert.equal((await post("read", ["attacked"], bearer("bob's"))).value, 0);
  server.revoke("bob");
  assert.deepEqual((await post("whoAmI", [], bearer("bob's"))).code, "HW-4011");
  assert.ok(!log.join("\n").includes("bob's"));
  const inUrl = await fetch(`${server.url}/api/whoAmI?token=s3cret`, { method: "POST" });
  assert.equal(inUrl.status, 400);
  assert.ok(!log.join("\n").includes("s3cret"), "what people put into an address stays out of the log");
});

test("one caller's Idempotency-Keys are not another's", async (t) => {
  const { post } = await started(t, { tokens: (token) => token });
  const asAda = { authorization: "Bearer ada", "idempotency-key": "1" };
  const asBob = { ...asAda, authorization: "Bearer bob" };
  assert.equal((await post("bump", ["x", 1], asAda)).value, 1);
  assert.equal((await post("bump", ["x", 1], asBob)).value, 2);
  assert.equal((await post("bump", ["x", 1], asAda)).value, 1);
});

test("a function may say whose a token is; one that fails lets nobody in and tells nothing", async (t) => {
  const { post } = await started(t, {
    tokens: async (token) => {
      if (token === "broken") throw new Error("the database at 10.0.0.7 is down");
      return token === "good" ? "ada" : null;
    },
  });
  assert.equal((await post("whoAmI", [], { authorization: "Bearer good" })).value, "ada");
  const broken = await post("whoAmI", [], { authorization: "Bearer broken" });
  assert.deepEqual([broken.status, broken.code], [401, "HW-4010"]);
  assert.ok(!broken.error?.message?.includes("10.0.0.7"));
});

test("pages of listed origins may ask, after a preflight", async (t) => {
  const { server } = await started(t, { origins: ["https://example.org"] });
  const headers = { origin: "https://example.org", "content-type": "application/json" };
  const preflight = await fetch(`${server.url}/api/echo`, { method: "OPTIONS", headers });
  assert.equal(preflight.status, 200);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /idempotency-key/);
  for (const body of ["[1]", "["]) {
    const reply = await fetch(`${server.url}/api/echo`, { method: "POST", headers, body });
    assert.equal(reply.headers.get("access-control-allow-origin"), "https://example.org");
    assert.equal(reply.headers.get("vary"), "Origin");
  }
  const plain = await fetch(`${server.url}/api/echo`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "[1]",
  });
  assert.equal(plain.headers.get("access-control-allow-origin"), null);
});

test("a server listens on this machine only, unless told otherwise", async (t) => {
  const { server } = await started(t);
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
});

test("one connection has no more requests under way than it may, also over HTTP", async (t) => {
  const { server, log } = await started(t, { limits: { inFlight: 2 } });
  const request = posting("bumpBehind", '["ada", "pipelined"]');
  const socket = dial(t, server.port);
  socket.write(Buffer.concat([request, request, posting("bump", '["ada", 1]')]));
  await gates.reached("pipelined");
  await until(() => log.length > 0);
  gates.open("pipelined");
  const replies = await repliesOn(socket, 3);
  assert.deepEqual(
    replies.map(({ status, code }) => [status, code]),
    [
      [200, undefined],
      [200, undefined],
      [503, "HW-4013"],
    ],
  );
});

test("a result that is too large is not sent, and its caller learns that the event has happened", async (t) => {
  const { post, client } = await started(t, { limits: { replyBytes: 1000 } });
  const big = "x".repeat(2000);
  const { status, code, error } = await post("echo", [big]);
  assert.deepEqual([status, code], [413, "HW-4006"]);
  assert.match(error?.message ?? "", /has been committed/);
  const { api: town } = client();
  await refused(town.echo(big), "HW-4006", "has been committed");
  assert.equal(await town.echo("small"), "small");
});

test("a server that cannot be started says why", async (t) => {
  const { server } = await started(t);
  const service = await run(Town);
  t.after(() => service.stop());
  const withOptions = (options: ServeOptions) => serve(service, api, options);
  await refused(serve({} as typeof service, api), "HW-4020", "this copy of headwater");
  await refused(withOptions({ limits: { depth: 0 } }), "HW-4020", "depth");
  await refused(withOptions({ limits: { dept: 5 } as never }), "HW-4020", "dept");
  await refused(withOptions({ limits: { requestMs: 5, headersMs: 6 } }), "HW-4020", "headersMs");
  await refused(started(t, { port: server.port }), "HW-4020", "EADDRINUSE");
  await refused(started(t, { port: 70_000 }), "HW-4020");
  await refused(started(t, { origins: ["example.org"] }), "HW-4020", "example.org");
  await refused(started(t, { tokens: { ada: "the token itself" } }), "HW-4020", "ada");
  await refused(started(t, { tokens: { "a/b": "0".repeat(64) } }), "HW-4020", "a/b");
});

test("a server that closes answers what it has taken and takes no more", async (t) => {
  const { server, client, post } = await started(t);
  const { api: town } = client();
  const viaHttp = post("bumpBehind", ["ada", "closing"]);
  const viaSocket = town.bumpBehind("bob", "closing too");
  await Promise.all([gates.reached("closing"), gates.reached("closing too")]);
  const closing = server.close();
  const late = await post("whoAmI", []).catch(() => null); // refused with words, or not even connected
  assert.ok(late === null || late.status === 503);
  gates.open("closing", "closing too");
  assert.equal((await viaHttp).value, 1);
  assert.equal(await viaSocket, 1);
  await closing;
});

test("a server that closes cuts off what takes too long", async (t) => {
  const { server, client, post } = await started(t);
  const viaHttp = post("bumpBehind", ["ada", "endless"]);
  const { api: town } = client();
  const viaSocket = refused(town.bumpBehind("bob", "endless too"), "HW-4018");
  await Promise.all([gates.reached("endless"), gates.reached("endless too")]);
  await Promise.all([server.close({ graceMs: 10 }), assert.rejects(viaHttp)]);
  gates.open("endless", "endless too");
  t.after(() => viaSocket);
});
