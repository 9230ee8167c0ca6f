import { parentPort, workerData } from "node:worker_threads";
import type { ContextClass } from "../model/context.js";
import { memoryPorts } from "./ports.js";
import { Site } from "./site.js";
import { messagesIn, Outbox } from "./thread-batch.js";
import type { ThreadTask } from "./threads.js";
import type { ToHead, ToHost } from "./wire.js";

/** A host in a thread: loads the program, and runs what the head sends. */
const task = (workerData as { headwater?: ThreadTask } | null)?.headwater;

if (parentPort !== null && task !== undefined) {
  const port = parentPort;
  if (/\.[mc]?tsx?$/.test(new URL(task.module).pathname)) (await import("tsx/esm/api")).register();
  const { default: roots } = (await import(task.module)) as {
    default: ContextClass | Record<string, ContextClass>;
  };
  const classes = typeof roots === "function" ? { [roots.name]: roots } : roots;
  const outbox = new Outbox<ToHead>((bytes) => port.postMessage(bytes, [bytes.buffer as ArrayBuffer]));
  const site = new Site(
    classes,
    { soon: memoryPorts.soon, broken: memoryPorts.broken, send: (message) => outbox.send(message) },
    { limits: task.limits, isDurable: task.isDurable },
  );
  port.on("message", (bytes: Uint8Array) => {
    for (const message of messagesIn<ToHost>(bytes)) site.receive(message);
  });
  port.postMessage("ready");
}
