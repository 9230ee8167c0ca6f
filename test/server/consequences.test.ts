import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type Code, Context, expose, HeadwaterError, MemoryJournal, mayRetry, run, serve } from "headwater";
import { connect } from "headwater/client";
import { WebSocketServer } from "ws";
import { codes, isRemembered } from "#src/errors.js";
import type { Door } from "#src/model/door.js";
import { DOOR } from "#src/model/door.js";
import { closeCodeOf } from "#src/protocol/failure.js";

/** What the table of codes says of an error is what happens to requests and connections that end with it. */

const ALL = Object.keys(codes) as Code[];
const errorOf = (code: Code) => new HeadwaterError(code, "thrown by a test.");

/** How often each code's event has run. A variable of the module, because a failed event leaves no trace in the state. */
const attempts = new Map<Code, number>();

class Thrower extends Context {
  fail(code: Code) {
    attempts.set(code, (attempts.get(code) ?? 0) + 1);
    throw errorOf(code);
  }
}

const api = expose(Thrower, { fail: (thrower, code: Code) => thrower.fail(code) });

/** Sends each code's request again and again, over one start of the service and then another, and counts attempts. */
async function attemptsPerCode(
  t: TestContext,
  journal: MemoryJournal | undefined,
  failOnce: (door: Door, url: string, code: Code, number: number) => Promise<void>,
): Promise<Record<string, number>> {
  attempts.clear();
  for (let start = 0; start < (journal === undefined ? 1 : 2); start++) {
    const service = await run(Thrower, { ...(journal && { journal }), onError: () => {} });
    const server = await serve(service, api, { log: () => {} });
    t.after(async () => {
      await server.close();
      await service.stop();
    });
    for (let sent = 0; sent < 2; sent++) {
      for (const [i, code] of ALL.entries()) await failOnce(service[DOOR], server.url, code, i + 1);
    }
    await server.close();
    await service.stop();
  }
  return Object.fromEntries(attempts);
}

function expected(sent: number): Record<string, number> {
  return Object.fromEntries(ALL.map((code) => [code, isRemembered(errorOf(code)) ? 1 : sent]));
}

async function overHttp(_: Door, url: string, code: Code): Promise<void> {
  const response = await fetch(`${url}/api/fail`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `fails-with-${code}` },
    body: JSON.stringify([code]),
  });
  const { error } = (await response.json()) as { error: { code: string } };
  assert.equal(error.code, code);
  assert.equal(response.headers.has("retry-after"), mayRetry(errorOf(code)), code);
  if (mayRetry(errorOf(code))) assert.ok([503, 408].includes(response.status), `${code}: ${response.status}`);
  else assert.notEqual(response.status, 503, code);
}

async function numbered(door: Door, _: string, code: Code, number: number): Promise<void> {
  const [target] = door.roots.values();
  const method = target?.shape.methods.get("fail");
  assert.ok(target && method);
  const series = door.series("client", { caller: "client", part: "" });
  const failed = new Promise((resolve, reject) =>
    series.ask(number, { target, method, args: [code] }, ALL.length, { resolve, reject }),
  );
  await assert.rejects(failed, { code });
}

for (const [name, failOnce] of Object.entries({ overHttp, numbered })) {
  test(`a request that fails with a remembered error runs once, any other again (${name}, in memory)`, async (t) => {
    assert.deepEqual(await attemptsPerCode(t, undefined, failOnce), expected(2));
  });

  test(`a request that fails with a remembered error runs once, any other again (${name}, journal)`, async (t) => {
    assert.deepEqual(await attemptsPerCode(t, new MemoryJournal(), failOnce), expected(4));
  });
}

test("a client connects again after a close that may be retried, and after no other", async (t) => {
  for (const code of ALL.filter((each) => each.startsWith("HW-4"))) {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    await once(server, "listening");
    const again = new Promise<"again">((resolve) => {
      let connections = 0;
      server.on("connection", (ws) => {
        connections += 1;
        if (connections > 1) resolve("again");
        else ws.close(closeCodeOf(errorOf(code)), errorOf(code).message);
      });
    });
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { backoffMs: 1 });
    t.after(() => client.close());
    const ended = await Promise.race([again, client.closed]);
    client.close();
    server.close();
    if (mayRetry(errorOf(code))) assert.equal(ended, "again", code);
    else assert.equal((ended as HeadwaterError).code, code);
  }
});

test("an error with a code that this version does not know is final", () => {
  const newer = HeadwaterError.restored("HW-4999", "HW-4999: said a newer server.");
  assert.deepEqual([mayRetry(newer), isRemembered(newer)], [false, true]);
  assert.deepEqual([mayRetry(new TypeError("a bug")), isRemembered(new TypeError("a bug"))], [false, true]);
});
