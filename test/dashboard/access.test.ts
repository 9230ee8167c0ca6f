import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { run } from "headwater";
import { ROUTES } from "#src/dashboard/routes.js";
import Shop from "./programs/shop.js";
import { SIGNED, servedBy, TOKEN } from "./served.js";

async function served(t: TestContext) {
  const service = await run(Shop);
  return { service, ...(await servedBy(t, service)) };
}

const ALL = Object.keys(ROUTES).map((each) => each.split(" ") as [method: string, name: string]);

test("every route of the admin API, and any other path below it, is closed to requests without the token", async (t) => {
  const { send } = await served(t);
  const wrong = [{}, { authorization: "Bearer no" }, { authorization: TOKEN }, { cookie: `token=${TOKEN}` }];
  for (const [method, name] of [...ALL, ["GET", "feed"], ["POST", "code"], ["GET", "nothing"]] as const) {
    for (const headers of wrong) {
      const { status, body } = await send(method, `/headwater/admin/${name}?token=${TOKEN}`, headers);
      assert.equal(status, 401, `${method} ${name}: ${body}`);
    }
  }
});

test("a page of another origin, and a name that was made to lead here, get nothing", async (t) => {
  const { send, port } = await served(t);
  for (const [method, name] of ALL) {
    const path = `/headwater/admin/${name}`;
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost.evil.example",
      `http://127.0.0.1:${port + 1}`,
    ]) {
      assert.equal(
        (await send(method, path, { ...SIGNED, origin }, method === "POST" ? "{}" : undefined)).status,
        403,
      );
    }
  }
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example"]) {
    for (const path of ["/headwater/", "/headwater/admin/overview", "/headwater/admin/hosts"]) {
      const { status, body } = await send("GET", path, { ...SIGNED, host, origin: `http://${host}` });
      assert.ok(status === 403 || status === 400, `${host} ${path}: ${status} ${body}`);
    }
  }
});

test("what changes something is no simple request of a form, even with a token", async (t) => {
  const { send } = await served(t);
  for (const [method, name] of ALL.filter(([each]) => each === "POST")) {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const headers = { authorization: SIGNED.authorization, "content-type": type };
      assert.equal((await send(method, `/headwater/admin/${name}`, headers, "{}")).status, 415);
    }
    assert.notEqual((await send("GET", `/headwater/admin/${name}`, SIGNED)).status, 200);
  }
});

test("a code is good once, and what is not a code never", async (t) => {
  const { send, dashboard } = await served(t);
  const login = (code: unknown) =>
    send("POST", "/headwater/admin/login", { "content-type": "application/json" }, JSON.stringify({ code }));
  const code = /#code=(.+)$/.exec(dashboard.entry())?.[1] ?? "";
  for (const wrong of [null, "", "x", [code], { code }, `${code} `])
    assert.equal((await login(wrong)).status, 401);
  const { status, body } = await login(code);
  assert.deepEqual([status, JSON.parse(body)], [200, { token: TOKEN }]);
  assert.equal((await login(code)).status, 401);
});

test("bad input gets a code and changes nothing", async (t) => {
  const { send, service } = await served(t);
  const get = (path: string) => send("GET", `/headwater/admin/${path}`, SIGNED);
  for (const path of [
    "context",
    "context?address=Nothing",
    "context?address=Shop.shelves(*)",
    `context?address=${"x".repeat(5000)}`,
    "state?address=Shop.nothing",
    "children?address=Shop",
    "busy?limit=0",
    "busy?limit=1e9",
    "events?limit=x",
    "event?node=Shop&ticket=1.5",
  ]) {
    const { status, body } = await get(path);
    assert.ok(status >= 400, `${path}: ${status}`);
    assert.match((JSON.parse(body) as { error: { code: string } }).error.code, /^HW-\d{4}$/);
  }
  const post = (path: string, body: string) => send("POST", `/headwater/admin/${path}`, SIGNED, body);
  for (const body of ["", "[]", "1", "{", `"${"x".repeat(70_000)}"`]) {
    assert.ok((await post("load", body)).status >= 400);
  }
  for (const [path, body] of [
    ["look", { addresses: "Shop" }],
    ["look", { addresses: [1] }],
    ["look", { addresses: Array(201).fill("Shop") }],
    ["cluster/handover", {}],
    ["cluster/drain", { member: "a" }],
  ] as const)
    assert.ok((await post(path, JSON.stringify(body))).status >= 400, path);
  assert.ok((await get("events?after=x")).status >= 400);
  for (const factor of [-1, 1e9, "2", null]) {
    assert.equal((await post("load", JSON.stringify({ factor }))).status, 400);
  }
  assert.equal(await service.root.count(), 0);
});

test("the page may load nothing from elsewhere and be framed by no other page", async (t) => {
  const { send } = await served(t);
  const { status, headers, body } = await send("GET", "/headwater/");
  assert.equal(status, 200);
  assert.match(String(headers["content-security-policy"]), /default-src 'none'.*frame-ancestors 'none'/);
  assert.doesNotMatch(body, /https?:\/\//);
  for (const path of ["../package.json", "..%2fpackage.json", "assets/../../index.js", ".", "assets/"]) {
    assert.notEqual((await send("GET", `/headwater/${path}`)).status, 200, path);
  }
});
