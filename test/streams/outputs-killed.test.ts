import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Running } from "../cli/headwater.js";
import { until } from "../waits.js";
import { httpReceiver, numbersOf, tcpReceiver } from "./receivers.js";

const KILLS = 3;
const BATCHES = 12;
const ROWS = 40;

test("a server that is killed while it delivers goes on where each output was: nothing is lost, and files have each row once", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-killed-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [posted, lines]: number[][] = [[], []];
  const bodies = new Map<string, string>();
  const web = await httpReceiver(t, ({ key, body, numbers }, response) => {
    assert.equal(bodies.get(key) ?? body, body, "after a kill, too, a key stands for one batch");
    if (!bodies.has(key)) posted?.push(...numbers);
    bodies.set(key, body);
    response.end();
  });
  const tcp = await tcpReceiver(t, (number, socket) => {
    lines?.push(number);
    socket.write(`${number}\n`);
  });
  const serving = async () => {
    const args = [
      "serve",
      "--port",
      "0",
      "--json",
      "--private-targets",
      "--output-files",
      "files",
      "--durability",
      "written",
    ];
    const running = new Running(args, folder);
    await running.hasWritten('"readyMs"');
    const { url, token } = JSON.parse(running.stdout) as { url: string; token: string };
    const ask = async (path: string, body?: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await fetch(
        `${url}${path}`,
        body === undefined ? { headers } : { method: "POST", headers, body },
      );
      if (!reply.ok) throw new Error(await reply.text());
      return (await reply.json()) as Record<string, unknown>;
    };
    return { running, ask };
  };
  let { running, ask } = await serving();
  t.after(() => running.interrupt("SIGKILL"));
  await ask("/v1/sql", JSON.stringify({ sql: "CREATE STREAM s (n bigint)" }));
  for (const output of [
    { name: "web", target: web.url, batchRows: 17, backoffMs: 1, secrets: { "x-key": "sesame" } },
    { name: "tcp", target: `tcp://127.0.0.1:${tcp.port}`, acks: true, batchRows: 17, backoffMs: 1 },
    { name: "file", target: "file:s.ndjson", batchRows: 17, backoffMs: 1 },
  ])
    await ask("/v1/outputs", JSON.stringify({ stream: "s", ...output }));
  let sequence = 0;
  for (let kill = 0; kill <= KILLS; kill++) {
    for (let i = 0; i < BATCHES; i++) {
      const body = Array.from({ length: ROWS }, (_, n) => `{"n":${sequence * ROWS + n}}`).join("\n");
      await ask(`/v1/streams/s/events?producer=p&sequence=${sequence++}`, body);
    }
    if (kill === KILLS) break;
    running.interrupt("SIGKILL");
    await running.ended;
    ({ running, ask } = await serving());
  }
  const all = Array.from({ length: sequence * ROWS }, (_, i) => i + 1);
  for (const name of ["web", "tcp", "file"])
    await until(async () => (await ask(`/v1/outputs/${name}`)).lag === 0);
  assert.deepEqual(posted, all, "a receiver that drops keys it has seen gets each row once, in order");
  assert.deepEqual([...new Set(lines)], all, "the first arrivals of rows are complete and in order");
  assert.deepEqual(numbersOf(readFileSync(join(folder, "files/default/s.ndjson"), "utf8")), all);
  assert.doesNotMatch(running.stdout + running.stderr + JSON.stringify(await ask("/v1/outputs")), /sesame/);
});
