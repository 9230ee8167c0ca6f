import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { percentile } from "./lib/percentile.js";
import { StreamsServer } from "./lib/streams-server.js";

/**
 * From the push of one row, alone, to its result at a subscriber of the same WebSocket, with a journal that syncs. The yardstick is
 * one sync of a small record to a file in the same directory.
 */
const GOAL_MS = 3;

export async function main(args: readonly string[]): Promise<void> {
  const options = {
    json: { type: "boolean" },
    quick: { type: "boolean" },
    events: { type: "string" },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const events = Number(values.events ?? (values.quick === true ? 200 : 2000));
  const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"));
  const server = await StreamsServer.start(folder, "synced");
  try {
    await server.sql("CREATE STREAM s (n bigint NOT NULL)");
    await server.sql("SELECT n FROM s WHERE n >= 0", "q");
    const latencies = await measured(server, events);
    const syncs = syncsIn(folder, events);
    const figures = {
      ...{ events, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) },
      syncP50Ms: percentile(syncs, 0.5),
    };
    const above = figures.p50Ms - figures.syncP50Ms;
    if (values.json === true) console.log(JSON.stringify({ bench: "latency", ...figures, goalMs: GOAL_MS }));
    else
      console.log(
        `p50 ${figures.p50Ms.toFixed(2)} ms, p99 ${figures.p99Ms.toFixed(2)} ms; a sync ${figures.syncP50Ms.toFixed(2)} ms; above it ${above.toFixed(2)} ms, goal ${GOAL_MS} ms`,
      );
  } finally {
    await server.end("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

function measured({ url, token }: StreamsServer, events: number): Promise<number[]> {
  const ws = new WebSocket(`${url.replace("http", "ws")}/v1/socket`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const latencies: number[] = [];
  return new Promise((resolve, reject) => {
    let [began, sent] = [0, 0];
    const push = () => {
      began = performance.now();
      ws.send(JSON.stringify({ id: 2, push: "s", rows: [{ n: sent++ }] }));
    };
    ws.on("error", reject);
    ws.on("message", (data) => {
      const heard = JSON.parse(String(data)) as { readonly welcome?: unknown; readonly rows?: unknown };
      if (heard.welcome !== undefined) {
        ws.send(JSON.stringify({ id: 1, subscribe: "q", from: 1 }));
        return push();
      }
      if (heard.rows === undefined) return;
      latencies.push(performance.now() - began);
      if (latencies.length < events) return push();
      ws.close();
      resolve(latencies.slice(Math.floor(events / 10)));
    });
  });
}

function syncsIn(folder: string, count: number): number[] {
  const file = openSync(join(folder, "sync"), "w");
  const record = Buffer.alloc(200, 1);
  const times = Array.from({ length: count }, () => {
    const began = performance.now();
    writeSync(file, record);
    fdatasyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return times;
}
