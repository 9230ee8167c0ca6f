import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { openStreams, StreamService } from "headwater/streams";
import { Client } from "pg";
import { servePostgres } from "#src/pgwire/index.js";
import { StreamsCatalog } from "#src/streams/pg/index.js";
import { type Certificates, certificatesIn } from "../certificates.js";
import { needed } from "../needed.js";
import { until } from "../waits.js";
import { numbersOf } from "./receivers.js";

const folder = mkdtempSync(join(tmpdir(), "headwater-tls-"));
let own: Certificates;
let other: Certificates;

before(async () => {
  own = await certificatesIn(folder, "own", "IP:127.0.0.1");
  other = await certificatesIn(folder, "other", "DNS:other.example");
});

after(() => rmSync(folder, { recursive: true, force: true }));

test("rows go to an https target whose certificate an authority of one's own has given; to no other, whose rows wait", async (t) => {
  const heard = new Map<string, number[]>();
  const target = async ({ cert, key }: Certificates, name: string) => {
    heard.set(name, []);
    const server = createServer({ cert, key }, (request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += String(chunk)));
      request.on("end", () => {
        heard.get(name)?.push(...numbersOf(text));
        response.end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}/rows`;
  };
  const [good, misnamed] = [await target(own, "good"), await target(other, "misnamed")];
  const strict = await openStreams({ outputs: { isPrivateAllowed: true } });
  const trusting = await openStreams({ outputs: { isPrivateAllowed: true, ca: `${own.ca}\n${other.ca}` } });
  for (const streams of [strict, trusting]) {
    t.after(() => streams.service.close());
    await streams.define("CREATE STREAM s (n bigint)");
  }
  await strict.registerOutput("s", good, { name: "out", backoffMs: 1 });
  await trusting.registerOutput("s", good, { name: "out", backoffMs: 1 });
  await trusting.registerOutput("s", misnamed, { name: "wrong", backoffMs: 1 });
  const rows = Array.from({ length: 20 }, (_, n) => ({ n }));
  for (const streams of [strict, trusting]) await streams.pushEvents("s", rows);
  await until(async () => (await trusting.outputs.status("out")).lag === 0);
  assert.deepEqual(
    heard.get("good"),
    rows.map((_, i) => i + 1),
  );
  for (const [streams, name, why] of [
    [strict, "out", /certificate|issuer/],
    [trusting, "wrong", /altnames/],
  ] as const) {
    await until(async () => (await streams.outputs.status(name)).attempts > 2);
    const { lag, lastError, deadLetters } = await streams.outputs.status(name);
    assert.deepEqual([lag, deadLetters], [20, 0]);
    assert.match(lastError?.message ?? "", why);
  }
  assert.deepEqual(heard.get("misnamed"), []);
});

test("PostgreSQL's clients read views over TLS, check the certificate, and send no password without one that they trust", async (t) => {
  const service = await StreamService.open();
  const catalog = new StreamsCatalog(service);
  const server = await servePostgres({ catalog, tls: own });
  const plain = await servePostgres({ catalog });
  t.after(async () => {
    catalog.close();
    await Promise.all([server.close(), plain.close()]);
    await service.close();
  });
  const password = await service.addToken("default", ["read"]);
  const streams = await service.tenant("default");
  await streams.define("CREATE TABLE prices (item text PRIMARY KEY, cents bigint)");
  await streams.pushEvents("prices", [{ item: "fig", cents: 9 }]);
  const ask = async (port: number, ssl: object | false, words = "select * from prices") => {
    const client = new Client({ host: "127.0.0.1", port, user: "default", database: "any", password, ssl });
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.query(words)).rows as unknown[];
    } finally {
      await client.end();
    }
  };
  const rows = [{ item: "fig", cents: "9" }];
  assert.deepEqual(await ask(server.port, { ca: own.ca }), rows);
  await assert.rejects(ask(server.port, { ca: other.ca }), /certificate/);
  await assert.rejects(ask(plain.port, { ca: own.ca }), /does not support SSL/);
  // More than one record of TLS, both ways.
  const long = "x".repeat(90_000);
  assert.deepEqual(await ask(server.port, { ca: own.ca }, `select '${long}' as t from prices`), [
    { t: long },
  ]);
  const psql = await needed(["psql"], "postgresql-client");
  const run = async (mode: string, root: string, port = server.port) => {
    const about = `host=127.0.0.1 port=${port} user=default dbname=any sslmode=${mode} sslrootcert=${root}`;
    const options = { env: { ...process.env, PGPASSWORD: password } };
    return (
      await promisify(execFile)(psql, [about, "-Atc", "select cents from prices"], options)
    ).stdout.trim();
  };
  assert.equal(await run("verify-full", own.caFile), "9");
  await assert.rejects(run("verify-full", other.caFile), /certificate verify failed/);
  await assert.rejects(run("require", own.caFile, plain.port), /does not support SSL/);
});
