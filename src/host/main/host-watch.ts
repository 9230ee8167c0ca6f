import { Socket } from "node:net";
import { workerData } from "node:worker_threads";
import { runningIn } from "../link/host-link.js";

/** Beside a host in a process: goes on when the host's own event loop is blocked. */
const noted = (workerData as { headwaterWatch?: Float64Array } | null)?.headwaterWatch;
const WATCH_FD = 4;

if (noted !== undefined) {
  const head = new Socket({ fd: WATCH_FD });
  head.on("data", () => head.write(`${JSON.stringify(runningIn(noted))}\n`));
  head.on("error", () => {});
  head.on("close", () => process.kill(process.pid, "SIGKILL")); // the head is gone, whatever the host is at
}
