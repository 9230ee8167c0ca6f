import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { SocketCarrier } from "../../net/index.js";
import {
  type Aside,
  type HostLink,
  type HostTask,
  type LastWords,
  type LinkEvents,
  type RunningEventId,
  YOUNG_GENERATION_MB,
} from "./host-link.js";
import { deadLink, NotSpawned } from "./not-spawned.js";

const MAIN = fileURLToPath(new URL("../main/host-process.js", import.meta.url));
/** How long a host may take to end when it is asked to. */
const END_MS_MAX = 1000;
/** How long to wait for what a host has said before it ended. */
const LAST_WORDS_MS_MAX = 200;

/**
 * A host that is a process of its own. Two sockets lead to it: one for messages, and one for its watch, a thread that can
 * say what the host is at when its event loop is blocked, and that ends it when the head is gone.
 */
export function openProcess(task: HostTask, on: LinkEvents): HostLink {
  const flags = [`--max-semi-space-size=${Math.round(YOUNG_GENERATION_MB / 3)}`];
  if (task.heapMb !== undefined) flags.push(`--max-old-space-size=${task.heapMb}`);
  const child = spawn(process.execPath, [...flags, MAIN], {
    stdio: ["ignore", "inherit", "inherit", "pipe", "pipe"],
  });
  if (child.pid === undefined) {
    child.once("error", (error) => on.lost(NotSpawned.because(error)));
    return deadLink("process"); // without descriptors, `child.stdio` is not there either
  }
  const [socket, watch] = [child.stdio[3] as Socket, child.stdio[4] as Socket];
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lost = (why: Error) => {
    child.kill("SIGKILL");
    socket.destroy();
    on.lost(why);
  };
  let lastWords: LastWords | null = null;
  const heard = (aside: Aside) => {
    if (aside.kind === "ends") lastWords = aside;
    else on.aside(aside);
  };
  const carrier = new SocketCarrier<Aside>(socket, { batch: on.batch, aside: heard }, lost);
  socket.on("error", () => {}); // its end is told by the process
  let told: (running: RunningEventId | null) => void = () => {};
  watch.on("data", (lines: Buffer) => {
    const line = lines.toString("utf8").trimEnd().split("\n").at(-1) ?? "null";
    told(JSON.parse(line) as RunningEventId | null);
  });
  watch.on("error", () => {});
  child.once("error", lost);
  child.once("exit", (code, signal) => {
    const end = () => lost(new Error(whyEnded(code, signal, lastWords)));
    if (socket.closed) return end();
    const late = setTimeout(() => socket.destroy(), LAST_WORDS_MS_MAX);
    socket.once("close", () => {
      clearTimeout(late);
      end();
    });
  });
  carrier.tell({ kind: "task", task });
  return {
    kind: "process",
    post: (bytes) => carrier.post(bytes),
    tell: (aside) => carrier.tell(aside),
    running(answer) {
      if (lastWords !== null) return answer(lastWords.running);
      told = answer;
      watch.write("?");
    },
    kill: () => void child.kill("SIGKILL"),
    async close() {
      socket.end();
      const late = setTimeout(() => child.kill("SIGKILL"), END_MS_MAX);
      await ended;
      clearTimeout(late);
      watch.destroy();
    },
  };
}

function whyEnded(code: number | null, signal: string | null, lastWords: LastWords | null): string {
  if (signal !== null) return `it was ended by ${signal}`;
  const error = lastWords?.error ?? null;
  return `it ended with code ${code}${error === null ? "" : ` because ${error}`}`;
}
