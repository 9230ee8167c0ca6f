import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MemoryJournal, run, type ServeOptions, serve } from "headwater";
import { type ConnectOptions, connect, type ServiceClient } from "headwater/client";
import { Random } from "#src/random.js";
import { packageWith, Running } from "../cli/headwater.js";
import { until } from "../waits.js";
import Newsroom, { api, type News } from "./programs/newsroom.js";
import { Wire } from "./raw.js";

type Client = ServiceClient<typeof api>;

async function started(t: TestContext, serving: ServeOptions = {}, options: Parameters<typeof run>[1] = {}) {
  const service = await run(Newsroom, options);
  const server = await serve(service, api, serving);
  const clients: Client[] = [];
  t.after(async () => {
    for (const client of clients) client.close();
    await server.close();
    await service.stop();
  });
  return {
    server,
    client: (more: ConnectOptions & { readonly url?: string } = {}) => {
      const client = connect<typeof api>(more.url ?? server.url, { backoffMs: 1, ...more });
      clients.push(client);
      return client;
    },
  };
}

/** Follows a topic until the test ends, and checks that each message comes once and in order. */
function followed(client: Client, topic: string): News[] {
  const heard: News[] = [];
  const last = new Map<string, number>();
  void (async () => {
    for await (const { number, message, missed } of client.follow(client.api.news, 1, topic)) {
      assert.deepEqual([number, missed], [heard.length + 1, 0]);
      assert.equal(message.n, (last.get(message.by) ?? 0) + 1, "the publisher's messages come in order");
      last.set(message.by, message.n);
      heard.push(message);
    }
  })().catch((error: { code?: string }) => {
    if (error.code !== "HW-4018") throw error; // the client was closed
  });
  return heard;
}

test("followers hear each committed message once and in order, over connections that are cut", async (t) => {
  const random = new Random(11);
  const { server, client } = await started(t);
  const wire = await Wire.between(t, () => server.port);
  const [near, far] = [client(), client({ url: wire.url })];
  const all = [followed(near, "a"), followed(far, "a"), followed(far, "b")];
  let published = { a: 0, b: 0 };
  for (let i = 0; i < 150; i++) {
    const topic = random.pick(["a", "b"] as const);
    const fails = random.chance(0.2);
    const asked = near.api.publish(topic, random.pick(["ada", "ben"]), fails).catch(() => {});
    if (!fails) published = { ...published, [topic]: published[topic] + 1 };
    if (random.chance(0.1)) wire.cut();
    if (random.chance(0.3)) await asked;
  }
  await until(() => all.every((heard, i) => heard.length === published[i === 2 ? "b" : "a"]));
});

test("a message to a user reaches all sessions of that user, and nobody else's", async (t) => {
  const hash = (token: string) => createHash("sha256").update(token).digest("hex");
  const tokens = { ada: hash("ada's"), ben: hash("ben's") };
  const { client } = await started(t, { tokens });
  const sessions = ["ada's", "ada's", "ada's", "ben's"].map((token) => client({ token }));
  const heard = sessions.map(() => [] as string[]);
  for (const [i, session] of sessions.entries())
    void (async () => {
      for await (const { message } of session.follow(session.api.inbox, 1)) heard[i]?.push(message);
    })().catch(() => {});
  await sessions[3]?.api.tell("ada", "one");
  await sessions[0]?.api.tell("ada", "two");
  await sessions[0]?.api.tell("ben", "three");
  const expected = [["one", "two"], ["one", "two"], ["one", "two"], ["three"]];
  await until(() => JSON.stringify(heard) === JSON.stringify(expected));
});

test("who may not read hears why, and old messages that are not kept are counted", async (t) => {
  const { client } = await started(t);
  const { api, follow } = client();
  await assert.rejects(follow(api.inbox, 1).next(), { name: "Refused" });
  await assert.rejects(follow(api.news, -1, "a").next(), { name: "BadPosition" });
  await api.count(12);
  const first = await follow(api.short, 1).next();
  assert.deepEqual(first.value, { number: 8, message: 8, missed: 7 });
  const later = follow(api.short, 0); // from now on
  const next = later.next();
  let isThere = false;
  void next.then(() => {
    isThere = true;
  });
  await until(async () => {
    await api.count(1);
    return isThere;
  });
  const { value } = await next;
  assert.ok(value !== undefined && value.number > 12 && value.missed === 0);
  await later.return(undefined);
});

test("after a kill of the server, followers go on where they were", async (t) => {
  const folder = packageWith(t, {});
  const program = fileURLToPath(new URL("./programs/newsroom.ts", import.meta.url));
  const start = async (port: string) => {
    const running = new Running(["run", program, "--journal", "data", "--port", port, "--json"], folder);
    t.after(() => running.interrupt("SIGKILL"));
    await running.hasWritten('"listening"');
    return { running, url: /http:\/\/127\.0\.0\.1:\d+/.exec(running.stdout)?.[0] ?? "" };
  };
  const { running, url } = await start("0");
  const client = connect<typeof api>(url, { backoffMs: 5, backoffMaxMs: 50, timeoutMs: 100_000 });
  t.after(() => client.close());
  const heard = followed(client, "a");
  await client.api.publish("a", "ada", false);
  const under = Array.from({ length: 40 }, (_, i) => client.api.publish("a", i % 2 ? "ada" : "ben", false));
  await until(() => heard.length > 5);
  running.interrupt("SIGKILL");
  await running.ended;
  await start(new URL(url).port);
  await Promise.all(under);
  await until(() => heard.length === 41);
});

for (const journal of [undefined, new MemoryJournal()])
  test(`a message to a client that is not there is a warning, ${journal ? "with" : "without"} a journal`, async (t) => {
    const warnings: { code: string; message: string }[] = [];
    const onWarning = (warning: { code: string; message: string }) => warnings.push(warning);
    const { client } = await started(t, {}, { onWarning, ...(journal && { journal }) });
    const { api } = client();
    for (let i = 0; i < 3; i++) await api.greet("nobody");
    await until(() => warnings.length > 0);
    assert.deepEqual([warnings.length, warnings[0]?.code], [1, "HW-1403"]); // the first in a minute
    assert.match(warnings[0]?.message ?? "", /nobody/);
  });
