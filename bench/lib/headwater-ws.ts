import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "headwater/client";
import { temporaryDirectory } from "./append-sync.js";
import type { Subject } from "./subject.js";
import type { api } from "./ws-server.js";

const SERVER = fileURLToPath(new URL("./ws-server.ts", import.meta.url));

/** The same counters in a process of their own, asked over a WebSocket. */
export async function startOverSocket(contexts: number, journal = ""): Promise<Subject> {
  const server = fork(SERVER, [journal], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true, // Ctrl-C is for us; it ends when we are gone
  });
  const url = await addressOf(server);
  const client = connect<typeof api>(url);
  const counted = async () => {
    let total = 0;
    for (let key = 0; key < contexts; key++) total += await client.api.value(key);
    return total;
  };
  await counted();
  return {
    call: (key, work) => client.api.bump(key, work),
    counted,
    async stop() {
      client.close();
      server.disconnect(); // it ends by itself when nobody is left to ask
      await once(server, "exit");
    },
  };
}

/** With a journal in a directory of its own. */
export async function startDurableOverSocket(contexts: number): Promise<Subject> {
  const directory = await temporaryDirectory();
  const subject = await startOverSocket(contexts, join(directory, "journal"));
  return {
    ...subject,
    async stop() {
      await subject.stop();
      await rm(directory, { recursive: true });
    },
  };
}

async function addressOf(server: ChildProcess): Promise<string> {
  const early = once(server, "exit").then(() => {
    throw new Error("the server process ended before it listened.");
  });
  const [url] = (await Promise.race([once(server, "message"), early])) as [string];
  early.catch(() => {});
  return url;
}
