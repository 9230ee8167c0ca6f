import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { StreamsServer } from "./lib/streams-server.js";

/**
 * A materialized view with many keys; the server is killed (SIGKILL) right after the last push and started again: the time from the
 * start of the process to the first answer of the view.
 */
const GOAL_S = 2;
const ROWS = 10_000;

export async function main(args: readonly string[]): Promise<void> {
  const options = {
    json: { type: "boolean" },
    quick: { type: "boolean" },
    events: { type: "string" },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const keys = Number(values.events ?? (values.quick === true ? 100_000 : 1_000_000));
  const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"));
  let server = await StreamsServer.start(folder, "written");
  try {
    await server.sql("CREATE STREAM s (k bigint NOT NULL, v bigint NOT NULL)");
    await server.sql(
      "CREATE MATERIALIZED VIEW latest AS SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k",
    );
    for (let at = 0; at < keys; at += ROWS) {
      const lines = Array.from({ length: Math.min(ROWS, keys - at) }, (_, i) => `{"k":${at + i},"v":${i}}`);
      await server.ask("POST", "/v1/streams/s/events", lines.join("\n"));
    }
    await server.end("SIGKILL");
    const began = performance.now();
    server = await StreamsServer.start(folder, "written");
    const { rows } = (await server.ask("GET", `/v1/views/latest?key=${keys - 1}`)) as {
      readonly rows: unknown[];
    };
    const seconds = (performance.now() - began) / 1000;
    if (rows.length !== 1) throw new Error("the last key is not there");
    const cpuS = (server.cpuMs ?? Number.NaN) / 1000;
    const startS = server.startedMs / 1000;
    if (values.json === true)
      console.log(JSON.stringify({ bench: "recovery-streams", keys, seconds, cpuS, startS, goalS: GOAL_S }));
    else
      console.log(
        `${keys.toLocaleString("en")} keys: first answer after ${seconds.toFixed(2)} s, of which ${startS.toFixed(2)} s until the port is open; ${cpuS.toFixed(2)} s of processor time; goal ${GOAL_S} s`,
      );
  } finally {
    await server.end("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}
