import { parentPort, workerData } from "node:worker_threads";
import type { Aside, HostTask } from "../link/host-link.js";
import { startHost } from "./host-main.js";

/** A host in a thread. */
const given = workerData as { headwater?: { task: HostTask; noted: Float64Array } } | null;

if (parentPort !== null && given?.headwater !== undefined) {
  const { task, noted } = given.headwater;
  const port = parentPort;
  const line = await startHost(
    task,
    {
      post: (bytes) => port.postMessage(bytes, [bytes.buffer as ArrayBuffer]),
      tell: (aside) => port.postMessage(aside),
    },
    noted,
  );
  if (line === null) process.exit(1); // what was told comes before the end, as it would not before an error
  port.on("message", (message: Uint8Array | Aside) => {
    if (message instanceof Uint8Array) line.receive(message);
    else if (message.kind === "beat") port.postMessage(message);
  });
}
