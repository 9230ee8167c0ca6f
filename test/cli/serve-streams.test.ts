import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { packageWith, Running } from "./headwater.js";

interface Serving {
  readonly running: Running;
  ask(
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers?: Record<string, string>,
  ): Promise<Response>;
}

async function serving(t: TestContext, folder: string): Promise<Serving> {
  const running = new Running(["serve", "--port", "0", "--durability", "written", "--json"], folder);
  t.after(() => running.interrupt("SIGKILL"));
  await running.hasWritten("}\n");
  const { url, token } = JSON.parse(running.stdout) as { url: string; token: string };
  return {
    running,
    ask: (method, path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body === undefined ? {} : { body }),
      }),
  };
}

async function define({ ask }: Serving, sql: string, name?: string): Promise<void> {
  const response = await ask("POST", "/v1/sql", JSON.stringify({ sql, name }));
  assert.equal(response.status, 201, await response.text());
}

async function numbered({ ask }: Serving, stream: string) {
  const text = await (await ask("GET", `/v1/streams/${stream}/results?from=1`)).text();
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as { number: number; row: { n: number } });
}

test("a service that is killed under load has every accepted batch once, and results without gap or repeat", async (t) => {
  const folder = packageWith(t, {});
  let service = await serving(t, folder);
  await define(service, "CREATE STREAM counted (n bigint NOT NULL)");
  await define(service, "SELECT n FROM counted WHERE n % 2 = 0", "even");
  let sequence = 0;
  const BATCHES = 120;
  const KILLS = new Set([25, 60, 95]);
  while (sequence < BATCHES) {
    const rows = [0, 1, 2].map((i) => JSON.stringify({ n: 3 * sequence + i })).join("\n");
    const path = `/v1/streams/counted/events?producer=p&sequence=${sequence}`;
    const answer = service.ask("POST", path, rows);
    if (KILLS.delete(sequence)) {
      service.running.interrupt("SIGKILL"); // with a batch in flight: it is sent again
      await answer.catch(() => null);
      await service.running.ended;
      service = await serving(t, folder);
      sequence--; // a producer that does not know which batches were answered begins with the last that was
      continue;
    }
    assert.equal((await answer).status, 200);
    sequence++;
  }
  const all = Array.from({ length: 3 * BATCHES }, (_, n) => n);
  assert.deepEqual(
    (await numbered(service, "counted")).map(({ number, row: { n } }) => [number, n]),
    all.map((n) => [n + 1, n]),
  );
  assert.deepEqual(
    (await numbered(service, "even")).map(({ number, row: { n } }) => [number, n]),
    all.filter((n) => n % 2 === 0).map((n, i) => [i + 1, n]),
  );
});

test("a subscriber goes on behind the last event that it has", async (t) => {
  const folder = packageWith(t, {});
  const service = await serving(t, folder);
  assert.equal(statSync(join(folder, "headwater-data", "admin.token")).mode & 0o777, 0o600);
  await define(service, "CREATE STREAM ticks (n bigint)");
  const push = (rows: string) => service.ask("POST", "/v1/streams/ticks/events", rows);
  await push('{"n":1}\n{"n":2}\n{"n":3}');
  const followed = await service.ask("GET", "/v1/streams/ticks/results", undefined, {
    accept: "text/event-stream",
    "last-event-id": "1",
  });
  assert.ok(followed.body);
  const reader = followed.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (end: string) => {
    while (!text.includes(end)) {
      const { value, done } = await reader.read();
      assert.ok(!done);
      text += value;
    }
  };
  await until('{"n":3}\n\n');
  await push('{"n":4}'); // arrives while it waits
  await until('{"n":4}\n\n');
  await reader.cancel();
  assert.deepEqual(
    [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id),
    ["2", "3", "4"],
  );
});

test("what strangers send is refused with a code and changes nothing", async (t) => {
  const service = await serving(t, packageWith(t, {}));
  await define(service, "CREATE STREAM s (n bigint NOT NULL, who text)");
  const events = "/v1/streams/s/events";
  const gzip = { "content-encoding": "gzip" };
  const cases: readonly [string, number, string, () => Promise<Response>][] = [
    ["a wrong type", 400, "HW-5302: Line 2", () => service.ask("POST", events, '{"n":1}\n{"n":"x"}')],
    ["bad JSON", 400, "HW-5302: Line 1", () => service.ask("POST", events, "{")],
    ["another's prototype", 400, "HW-5302", () => service.ask("POST", events, '{"__proto__":{"n":1}}')],
    ["a number beyond 2^53", 400, "HW-5302", () => service.ask("POST", events, '{"n":9007199254740993}')],
    [
      "a gzip bomb",
      413,
      "HW-4006",
      () => service.ask("POST", events, new Uint8Array(gzipSync(Buffer.alloc(2 ** 25, 32))), gzip),
    ],
    ["no gzip", 400, "HW-4005", () => service.ask("POST", events, "{}", gzip)],
    [
      "another encoding",
      415,
      "HW-4009",
      () => service.ask("POST", events, "{}", { "content-encoding": "br" }),
    ],
    ["no such stream", 404, "HW-5401", () => service.ask("POST", "/v1/streams/t/events", "{}")],
    ["a bad path", 400, "HW-4005", () => service.ask("GET", "/v1/streams/%ff")],
    ["nothing there", 404, "HW-4004", () => service.ask("GET", "/etc/passwd")],
    ["no token", 401, "HW-4010", () => service.ask("GET", "/v1/streams", undefined, { authorization: "" })],
    [
      "a foreign page",
      403,
      "HW-4012",
      () => service.ask("GET", "/v1/streams", undefined, { origin: "https://e.vil" }),
    ],
    [
      "a name twice",
      409,
      "HW-5402",
      () => service.ask("POST", "/v1/sql", '{"sql":"CREATE STREAM s (n bigint)"}'),
    ],
    ["bad SQL", 400, "HW-5101", () => service.ask("POST", "/v1/sql", '{"sql":"CREATE STREM"}')],
    ["a query on a view that is none", 400, "HW-5410", () => service.ask("GET", "/v1/views/s")],
  ];
  for (const [what, status, code, ask] of cases) {
    const response = await ask();
    const text = await response.text();
    assert.equal(response.status, status, `${what}: ${text}`);
    assert.ok(text.includes(code), `${what}: ${text}`);
  }
  assert.deepEqual(await numbered(service, "s"), []);
});
