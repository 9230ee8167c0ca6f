import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Running } from "../cli/headwater.js";
import { until } from "../waits.js";

const PROGRAM = fileURLToPath(new URL("./programs/mill.ts", import.meta.url));

async function running(t: TestContext, args: (folder: string) => string[], first = ":") {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  const program = new Running([...args(folder), "--json"], folder, first);
  t.after(async () => {
    program.interrupt();
    await program.ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await program.hasWritten("127.0.0.1:");
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(program.stdout) ?? [];
  const ask = (
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: string }> =>
    new Promise((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port, path, headers });
      asked.on("error", reject).on("response", async (response) => {
        let body = "";
        for await (const chunk of response.setEncoding("utf8")) body += chunk;
        resolve({ status: response.statusCode ?? 0, body });
      });
      asked.end();
    });
  return { folder, program, ask };
}

test("/metrics is for this machine, and for no page whose name was made to lead here", async (t) => {
  const { ask } = await running(t, () => ["run", PROGRAM, "--metrics", "--port", "0"]);
  const { status, body } = await ask("/metrics");
  assert.equal(status, 200);
  assert.match(body, /^headwater_healthy 1$/m);
  assert.equal((await ask("/metrics", { host: "evil.example" })).status, 403);
  assert.equal((await ask("/metrics", { origin: "https://evil.example" })).status, 403);
});

test("/metrics asks for the token that is set, and serve shows streams", async (t) => {
  const { ask } = await running(
    t,
    (folder) => ["serve", "--metrics", "--port", "0", "--journal", join(folder, "data")],
    "export HEADWATER_METRICS_TOKEN=secret",
  );
  assert.equal((await ask("/metrics")).status, 401);
  assert.equal((await ask("/metrics", { authorization: "Bearer wrong" })).status, 401);
  const { status, body } = await ask("/metrics", { authorization: "Bearer secret" });
  assert.deepEqual([status, /# TYPE headwater_stream_rows_total counter/.test(body)], [200, true]);
});

test("other machines are shown no figures without a token", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { exitCode, stderr } = await new Running(
    ["run", PROGRAM, "--metrics", "--port", "0", "--host", "0.0.0.0"],
    folder,
  ).ended;
  assert.deepEqual([exitCode, /HEADWATER_METRICS_TOKEN/.test(stderr)], [2, true]);
});

test("a program that was fenced fails its health check, and its log says why", async (t) => {
  const args = (folder: string) => ["run", PROGRAM, "--journal", join(folder, "data"), "--port", "0"];
  const { ask, folder, program } = await running(t, (own) => [
    ...args(own),
    "--log",
    join(own, "log"),
    "--log-level",
    "debug",
  ]);
  assert.equal((await ask("/healthz")).status, 200);
  const other = new Running([...args(folder), "--take-over", "--json"], folder);
  t.after(async () => {
    other.interrupt();
    await other.ended;
  });
  await other.hasWritten("127.0.0.1:");
  const gone = () =>
    ask("/healthz").then(
      ({ status }) => status,
      () => 0,
    );
  await until(async () => (await gone()) !== 200);
  await program.ended;
  const lines = readFileSync(join(folder, "log"), "utf8").trimEnd().split("\n");
  const facts = lines.map(
    (line) => JSON.parse(line) as { level: string; kind: string; error: { code: string } },
  );
  const halted = facts.find(({ kind }) => kind === "halted"); // the health check may be refused behind it
  assert.equal(halted?.level, "error");
  assert.match(halted?.error.code ?? "", /^HW-3/);
});
