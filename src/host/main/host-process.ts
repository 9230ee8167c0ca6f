import { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { SocketCarrier } from "../../net/socket-carrier.js";
import { type Aside, NOTHING_RUNS, runningIn, uncaught } from "../link/host-link.js";
import type { HostLine } from "../wire/index.js";
import { startHost } from "./host-main.js";

/** A host in a process of its own, the child of its head. */
const MESSAGES_FD = 3;

process.on("SIGINT", () => {}); // Ctrl-C is for the head, which ends its hosts when it has answered

const noted = new Float64Array(new SharedArrayBuffer(16)).fill(NOTHING_RUNS);
new Worker(new URL("./host-watch.js", import.meta.url), { workerData: { headwaterWatch: noted } }).unref();

const socket = new Socket({ fd: MESSAGES_FD });
socket.on("close", () => process.exit());
socket.on("error", () => process.exit(1));

/** Ending by itself, it says why, while it still can: what is written to a socket that is idle leaves at once. */
let error: string | null = null;
process.on("uncaughtExceptionMonitor", (thrown: unknown) => {
  error = uncaught(thrown);
});
process.on("exit", () => {
  if (socket.writable) head.tell({ kind: "ends", error, running: runningIn(noted) });
});

let line: HostLine | null = null;
/** What came before the program was loaded: at most a few batches, then the head waits for confirmations. */
const early: Uint8Array[] = [];
const head = new SocketCarrier<Aside>(
  socket,
  {
    batch: (bytes) => {
      if (line === null) early.push(bytes);
      else line.receive(bytes);
    },
    aside: heard,
  },
  (broken) => {
    throw broken;
  },
);

function heard(aside: Aside): void {
  if (aside.kind === "heartbeat") head.tell(aside);
  else if (aside.kind === "task") void begin(aside);
}

async function begin({ task }: Extract<Aside, { kind: "task" }>): Promise<void> {
  line = await startHost(task, head, noted);
  if (line === null) return void socket.end(() => process.exit(1));
  for (const bytes of early.splice(0)) line.receive(bytes);
}
