import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { WebSocket } from "ws";
import { Batch, ByteWriter, encodeBatch } from "#src/streams/columns/index.js";
import { until } from "../waits.js";
import { type Served, served } from "./served.js";

/** A WebSocket of the service, with all that it has heard. */
async function socket(t: TestContext, { url, token }: Served, headers = true) {
  const ws = new WebSocket(`${url.replace("http", "ws")}/v1/socket`, {
    headers: headers ? { authorization: `Bearer ${token}` } : {},
  });
  t.after(() => ws.terminate());
  const heard: Record<string, unknown>[] = [];
  let closed: { code: number; reason: string } | null = null;
  ws.on("message", (data) => heard.push(JSON.parse(String(data)) as Record<string, unknown>));
  ws.on("close", (code, reason) => {
    closed = { code, reason: String(reason) };
  });
  ws.on("error", () => {});
  await until(() => ws.readyState !== WebSocket.CONNECTING, "until the socket is open or refused");
  return {
    ws,
    heard,
    closed: () => closed,
    say: (message: object) => ws.send(JSON.stringify(message)),
    answer: async (id: number) => {
      await until(() => heard.some((each) => each.id === id), `until ${id} is answered`);
      return heard.find((each) => each.id === id) ?? {};
    },
  };
}

function frame(id: number, stream: string, batch: Uint8Array, producer = "", sequence: number | null = null) {
  const out = new ByteWriter();
  const text = (value: string) => {
    out.varint(Buffer.byteLength(value));
    out.raw(Buffer.from(value));
  };
  out.u8(1);
  out.varint(id);
  for (const each of [stream, producer, ""]) text(each);
  out.u8(sequence === null ? 0 : 1);
  if (sequence !== null) out.f64(sequence);
  out.raw(batch);
  return out.written;
}

test("rows go in as JSON and as columns, and come out numbered, over one socket", async (t) => {
  const service = await served(t);
  const { streams } = service;
  await streams.registerStream("s", { n: "bigint", who: "text?" });
  const client = await socket(t, service);
  client.say({ id: 1, subscribe: "s", from: 1 });
  client.say({ id: 2, push: "s", rows: [{ n: 1, who: "ada" }, { n: 2 }] });
  assert.deepEqual((await client.answer(2)).ok, { first: 1, rows: 2, duplicates: 0, isRepeated: false });
  const batch = encodeBatch(Batch.of(streams.schemaOf("s"), [[3, "bob"]]));
  client.ws.send(frame(3, "s", batch, "p", 7));
  client.ws.send(frame(4, "s", batch, "p", 7));
  assert.deepEqual((await client.answer(3)).ok, { first: 3, rows: 1, duplicates: 0, isRepeated: false });
  assert.deepEqual((await client.answer(4)).ok, { first: 3, rows: 1, duplicates: 0, isRepeated: true });
  const rows = () => client.heard.filter(({ id }) => id === 1).flatMap((each) => each.rows);
  await until(() => rows().length === 3);
  assert.deepEqual(rows(), [
    [1, 1, { n: 1, who: "ada" }],
    [2, 1, { n: 2, who: null }],
    [3, 1, { n: 3, who: "bob" }],
  ]);
});

test("what does not fit is refused by its place, and what breaks the protocol ends the socket", async (t) => {
  const service = await served(t);
  const { streams } = service;
  await streams.registerStream("s", { n: "bigint" });
  const schema = streams.schemaOf("s");
  const client = await socket(t, service);
  client.say({ id: 1, push: "s", rows: [{ n: 1 }, { n: "x" }] });
  assert.match(JSON.stringify(await client.answer(1)), /HW-5302: Row 2: the column \\"n\\"/);
  const whole = encodeBatch(Batch.of(schema, [[1]]));
  client.ws.send(frame(2, "s", whole.subarray(0, whole.length - 1)));
  assert.match(JSON.stringify(await client.answer(2)), /HW-5301/);
  client.ws.send(frame(3, "s", encodeBatch(Batch.of(schema, [[1]], [-1]))));
  assert.match(
    JSON.stringify(await client.answer(3)),
    /HW-5301.*weights/,
    "rows cannot be taken back from outside",
  );
  client.say({ id: 4, push: "t", rows: [] });
  assert.match(JSON.stringify(await client.answer(4)), /HW-5401/);
  const breaks: readonly (string | Buffer)[] = [
    "{",
    "[]",
    '{"id":1}',
    '{"id":-1,"push":"s","rows":[]}',
    Buffer.from([9]),
  ];
  for (const broken of breaks) {
    const other = await socket(t, service);
    await until(() => other.heard.length > 0);
    other.ws.send(broken);
    await until(() => other.closed() !== null);
    assert.equal(other.closed()?.code, 4014, String(broken));
  }
  assert.deepEqual((await streams.page("s", 1)).rows, []);
});

test("a socket says who calls first, and one whose token is revoked or expires is closed", async (t) => {
  const service = await served(t);
  await service.streams.registerStream("s", { n: "bigint" });
  const early = await socket(t, service, false);
  early.say({ id: 1, push: "s", rows: [{ n: 1 }] });
  await until(() => early.closed() !== null);
  assert.equal(early.closed()?.code, 4010);
  const stranger = await socket(t, service, false);
  stranger.say({ hello: { token: `${service.token}x` } });
  await until(() => stranger.closed() !== null);
  assert.equal(stranger.closed()?.code, 4010);
  const token = await service.service.addToken("default", ["read"]);
  const reader = await socket(t, service, false);
  reader.say({ hello: { token } });
  await until(() => reader.heard.length > 0);
  reader.say({ id: 1, push: "s", rows: [{ n: 1 }] });
  assert.match(JSON.stringify(await reader.answer(1)), /HW-5409/);
  const id = (await service.service.granted(token))?.id ?? "";
  await service.service.revokeToken("default", id);
  await until(() => reader.closed() !== null);
  assert.equal(reader.closed()?.code, 4011);
  const brief = await socket(t, {
    ...service,
    token: await service.service.addToken("default", ["read"], Date.now() + 300),
  });
  await until(() => brief.closed() !== null);
  assert.equal(brief.closed()?.code, 4011);
  assert.deepEqual((await service.streams.page("s", 1)).rows, []);
});

test("a client that does not read holds a page back, and slows nobody else down", async (t) => {
  const service = await served(t);
  const { streams } = service;
  await streams.registerStream("s", { text: "text" }, { retention: { bytes: 64 * 1024 * 1024 } });
  const row = { text: "x".repeat(100_000) };
  const slow = await socket(t, service);
  slow.ws.pause();
  slow.say({ id: 1, subscribe: "s", from: 1 });
  const quick = await socket(t, service);
  quick.say({ id: 1, subscribe: "s", from: 1 });
  const before = process.memoryUsage.rss();
  for (let i = 0; i < 20; i++)
    await streams.pushEvents(
      "s",
      Array.from({ length: 20 }, () => row),
    );
  const count = ({ heard }: typeof quick) => heard.flatMap(({ rows = [] }) => rows as unknown[]).length;
  await until(() => count(quick) === 400);
  assert.ok(process.memoryUsage.rss() - before < 400 * 2 ** 20);
  slow.ws.resume();
  await until(() => count(slow) === 400);
});
