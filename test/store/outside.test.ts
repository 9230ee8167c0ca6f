import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { Context, GiveUp, type OutsideResult, outside, type RunOptions, readonly, run } from "headwater";
import { MemoryJournal } from "#src/journal/memory.js";
import { decode, encode } from "#src/state/codec.js";
import { Gates } from "../gates.js";
import { until } from "../waits.js";
import { temporaryDirectory } from "./support.js";

interface Charge {
  readonly url: string;
  readonly cents: number;
}

const charge = outside(
  "test.charge",
  async ({ url, cents }: Charge, { key, signal }) => {
    const headers = { "idempotency-key": key };
    const response = await fetch(url, { method: "POST", headers, body: String(cents), signal });
    if (response.status === 402) throw new GiveUp("refused");
    if (!response.ok) throw new Error(`answered ${response.status}`);
    return await response.text();
  },
  { attempts: 4, backoffMs: 1 },
);

const hang = outside("test.hang", (_: null) => new Promise<string>(() => {}), {
  attempts: 2,
  timeoutMs: 20,
  backoffMs: 1,
});

const gates = new Gates();
const signals: AbortSignal[] = [];
/** Asks for its signal at once the first time, and only when it is too late the second time. */
const patient = outside(
  "test.patient",
  async (_: null, call) => {
    if (call.attempt === 1) signals.push(call.signal);
    await gates.pass("both attempts have timed out");
    if (call.attempt === 2) signals.push(call.signal);
  },
  { attempts: 2, timeoutMs: 20, backoffMs: 1 },
);

const odd = outside("test.odd", (_: null) => ({ call: () => 1 }));

class Order extends Context<string> {
  results: OutsideResult<unknown>[] = [];

  pay(url: string, cents: number) {
    this.event.outside(charge, { url, cents }, this.done);
  }

  payAndFail(url: string) {
    this.event.outside(charge, { url, cents: 1 }, this.done);
    throw new Error("after all not");
  }

  notify(url: string) {
    this.event.outside(charge, { url, cents: 0 });
  }

  wait() {
    this.event.outside(hang, null, this.done);
  }

  beat() {
    this.event.outside(patient, null, this.done);
  }

  ask() {
    this.event.outside(odd, null, this.done);
  }

  wrong() {
    this.event.outside(charge, { url: "", cents: 0 }, () => {});
  }

  done(result: OutsideResult<unknown>) {
    this.results.push(result);
  }

  @readonly all() {
    return this.results;
  }
}

class Shop extends Context {
  orders = this.children(Order);
}

/** A real shop till: answers with these statuses in turn, then with 200. */
async function till(t: TestContext, ...statuses: number[]) {
  const asked: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    asked.push({ headers: request.headers, body });
    response.statusCode = statuses.shift() ?? 200;
    response.end(`paid ${body}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test("an outside call is made after the commit, and its result starts an event", async (t) => {
  const { url, asked } = await till(t);
  await using service = await run(Shop);
  await service.root.orders("a").pay(url, 100);
  await service.idle();
  assert.deepEqual(await service.root.orders("a").all(), [{ ok: true, value: "paid 100" }]);
  assert.equal(asked.length, 1);
});

test("a failing call is tried again under the same key, another call has another one", async (t) => {
  const { url, asked } = await till(t, 500, 503);
  await using service = await run(Shop);
  await service.root.orders("a").pay(url, 1);
  await service.idle();
  await service.root.orders("a").pay(url, 2);
  await service.idle();
  assert.deepEqual(await service.root.orders("a").all(), [
    { ok: true, value: "paid 1" },
    { ok: true, value: "paid 2" },
  ]);
  const keys = asked.map(({ headers }) => headers["idempotency-key"]);
  assert.equal(keys.length, 4);
  assert.equal(new Set(keys.slice(0, 3)).size, 1);
  assert.notEqual(keys[3], keys[0]);
});

test("the result says so when there is no point in trying on", async (t) => {
  const { url } = await till(t, 500, 500, 500, 500, 402);
  await using service = await run(Shop);
  await service.root.orders("a").pay(url, 1);
  await service.idle();
  await service.root.orders("b").pay(url, 1);
  await service.root.orders("c").wait();
  await service.root.orders("d").ask();
  await service.idle();
  const failure = async (name: string) => (await service.root.orders(name).all())[0];
  assert.deepEqual(await failure("a"), { ok: false, error: { name: "Error", message: "answered 500" } });
  assert.deepEqual(await failure("b"), { ok: false, error: { name: "GiveUp", message: "refused" } });
  assert.deepEqual(await failure("c"), {
    ok: false,
    error: { name: "Error", message: "it took longer than 20 ms" },
  });
  const unstorable = await failure("d");
  assert.ok(unstorable?.ok === false && /HW-1006.*test\.odd/.test(unstorable.error.message));
});

test("nothing happens outside for an event that failed", async (t) => {
  const { url, asked } = await till(t);
  await using service = await run(Shop);
  await assert.rejects(service.root.orders("a").payAndFail(url), /after all not/);
  await assert.rejects(service.root.orders("a").wrong(), { code: "HW-1022" });
  await service.root.orders("a").notify(url);
  await service.idle();
  assert.deepEqual(
    asked.map(({ body }) => body),
    ["0"],
  );
  assert.deepEqual(await service.root.orders("a").all(), []);
});

test("a call without a result is made again after a restart, under its key", async (t) => {
  const journal = await temporaryDirectory(t);
  const statuses = Array<number>(3).fill(500);
  const { url, asked } = await till(t, ...statuses);
  const first = await run(Shop, { journal });
  await first.root.orders("a").pay(url, 7);
  await first.root.orders("b").notify(url);
  await first.stop(); // before the calls were made, or after some attempts
  const before = asked.length;
  const second = await run(Shop, { journal });
  await second.idle();
  assert.ok(asked.length > before);
  assert.deepEqual(await second.root.orders("a").all(), [{ ok: true, value: "paid 7" }]);
  await second.stop();
  const keys = asked.filter(({ body }) => body === "7").map(({ headers }) => headers["idempotency-key"]);
  assert.equal(new Set(keys).size, 1);

  const calls = asked.length;
  const third = await run(Shop, { journal });
  await third.idle();
  assert.deepEqual(await third.root.orders("a").all(), [{ ok: true, value: "paid 7" }]);
  await third.stop();
  assert.equal(asked.length, calls, "what was done before a stop is not done again");
});

/** The keys under which the first order of a new shop is paid. */
async function firstKeys(t: TestContext, options: RunOptions): Promise<Set<unknown>> {
  const { url, asked } = await till(t, 500);
  await using service = await run(Shop, options);
  await service.root.orders("a").pay(url, 1);
  await service.idle();
  return new Set(asked.map(({ headers }) => headers["idempotency-key"]));
}

test("no two histories share a key, be they journals or runs in memory", async (t) => {
  const keys = new Set<unknown>();
  const journals = [undefined, undefined, await temporaryDirectory(t), new MemoryJournal()];
  for (const journal of [...journals, await temporaryDirectory(t)]) {
    const own = await firstKeys(t, journal === undefined ? {} : { journal });
    assert.equal(own.size, 1, "each attempt has the same key");
    for (const key of own) keys.add(key);
  }
  assert.equal(keys.size, 5);
});

test("a call that a journal of an older version still has to make keeps the key that it had", async (t) => {
  const { url, asked } = await till(t, 500);
  const journal = new MemoryJournal();
  const first = await run(Shop, { journal });
  await first.root.orders("a").pay(url, 1);
  await first.stop();
  const entries = [...journal.range("o/")];
  assert.equal(entries.length, 1);
  const before = entries.map(([key, bytes]) => {
    const { keyedBy, ...call } = decode(bytes) as Record<string, unknown>; // as older versions wrote it
    assert.equal(keyedBy, "history");
    return { key, value: encode(call) };
  });
  await new Promise((done) => journal.append([...before, { key: "h", value: null }], done));
  asked.length = 0;
  const second = await run(Shop, { journal });
  await second.idle();
  await second.root.orders("b").pay(url, 2);
  await second.idle();
  await second.stop();
  const [old, recent] = ["1", "2"].map(
    (cents) => asked.find(({ body }) => body === cents)?.headers["idempotency-key"],
  );
  assert.equal(old, "Shop/1/0");
  assert.match(String(recent), /^[0-9a-f-]{36}\/Shop\/\d+\/0$/);
});

test("declarations that cannot work are refused", () => {
  assert.throws(() => outside("test.charge", () => 1), { code: "HW-1022" });
  assert.throws(() => outside("no name", () => 1), { code: "HW-1022" });
  assert.throws(() => outside("test.never", () => 1, { attempts: 0 }), { code: "HW-1022" });
});

test("an attempt that takes too long is told so by its signal, whenever it asks for it", async () => {
  await using service = await run(Shop);
  await service.root.orders("a").beat();
  await service.idle();
  gates.open("both attempts have timed out");
  await until(() => signals.length === 2);
  assert.equal((await service.root.orders("a").all()).length, 1);
  for (const { aborted, reason } of signals)
    assert.deepEqual([aborted, reason.message], [true, "it took longer than 20 ms"]);
});
