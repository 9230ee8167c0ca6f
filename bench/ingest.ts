import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { Batch, ByteWriter, column, encodeBatch } from "#src/streams/columns/index.js";
import { Connection } from "./lib/http-load.js";
import { StreamsServer } from "./lib/streams-server.js";

/**
 * Rows per second into a stream with a filter query, from this process to a server with a journal (written): NDJSON over HTTP with 100
 * and 1,000 small rows per request, and encoded columns over a WebSocket. Rows per second of the server's processor time do not depend on
 * what else the machine does, and on two cores this process and the server are not in each other's way.
 */
const GOALS: Readonly<Record<string, number>> = {
  "http 100": 500_000,
  "http 1000": 1_500_000,
  socket: 4_000_000,
};
const CONNECTIONS = 16;
const SOCKET_ROWS = 10_000;
const FRAMES_IN_FLIGHT = 8;
const QUERY = "SELECT n, who FROM s WHERE n % 10 = 0";

export async function main(args: readonly string[]): Promise<void> {
  const options = { json: { type: "boolean" }, quick: { type: "boolean" } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const ms = values.quick === true ? 1500 : 8000;
  for (const name of Object.keys(GOALS)) {
    const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"));
    const server = await StreamsServer.start(folder, "written");
    try {
      await server.sql("CREATE STREAM s (n bigint NOT NULL, who text NOT NULL)");
      await server.sql(QUERY, "tenth");
      const [kind, count] = name.split(" ");
      const load =
        kind === "http"
          ? (over: number) => http(server, Number(count), over)
          : (over: number) => socket(server, over);
      await load(ms / 4);
      const [began, cpu] = [performance.now(), server.cpuMs];
      const rows = await load(ms);
      const rowsPerSecond = Math.round((1000 * rows) / (performance.now() - began));
      const cpuMs = (server.cpuMs ?? Number.NaN) - (cpu ?? Number.NaN);
      const rowsPerCpuSecond = Math.round((1000 * rows) / cpuMs);
      const goal = GOALS[name] ?? 0;
      if (values.json === true)
        console.log(JSON.stringify({ bench: "ingest", case: name, rowsPerSecond, rowsPerCpuSecond, goal }));
      else
        console.log(
          `${name.padEnd(10)} ${rowsPerSecond.toLocaleString("en").padStart(12)} rows/s, ${rowsPerCpuSecond.toLocaleString("en").padStart(12)} per second of the server's processor time; goal ${goal.toLocaleString("en")}`,
        );
    } finally {
      await server.end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function http({ port, token }: StreamsServer, rows: number, ms: number): Promise<number> {
  const lines = Array.from({ length: rows }, (_, n) => `{"n":${1000 + n},"who":"user ${n % 7}"}`).join("\n");
  const head = `POST /v1/streams/s/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n`;
  const request = Buffer.from(`${head}content-length: ${Buffer.byteLength(lines)}\r\n\r\n${lines}`);
  const end = performance.now() + ms;
  let taken = 0;
  const run = async () => {
    const connection = await Connection.open(port);
    while (performance.now() < end) {
      const answer = await connection.ask(request);
      if (answer.indexOf("HTTP/1.1 200") !== 0) throw new Error(answer.toString("utf8"));
      taken += rows;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, run));
  return taken;
}

async function socket({ url, token }: StreamsServer, ms: number): Promise<number> {
  const ws = new WebSocket(`${url.replace("http", "ws")}/v1/socket`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  const schema = [column("n", "int", false), column("who", "text", false)];
  const rows = Array.from({ length: SOCKET_ROWS }, (_, n) => [1000 + n, `user ${n % 7}`]);
  const frame = frameOf(encodeBatch(Batch.of(schema, rows)));
  const end = performance.now() + ms;
  let [taken, inFlight] = [0, 0];
  await new Promise<void>((resolve, reject) => {
    const send = () => {
      while (inFlight < FRAMES_IN_FLIGHT && performance.now() < end) {
        ws.send(frame);
        inFlight++;
      }
      if (inFlight === 0) resolve();
    };
    ws.on("error", reject);
    ws.on("message", (data) => {
      const text = String(data);
      if (text.includes('"error"')) return reject(new Error(text));
      if (text.includes('"ok"')) {
        inFlight--;
        taken += SOCKET_ROWS;
      }
      send();
    });
  });
  ws.close();
  return taken;
}

function frameOf(batch: Uint8Array): Buffer {
  const out = new ByteWriter();
  out.u8(1);
  out.varint(1);
  for (const text of ["s", "", ""]) {
    out.varint(text.length);
    out.raw(Buffer.from(text));
  }
  out.u8(0);
  out.raw(batch);
  return out.written;
}
