import { join } from "node:path";
import { PeerHome } from "./peer-process.js";
import { RespClient } from "./resp.js";
import type { Subject } from "./subject.js";
import { spin } from "./work.js";

const SETTINGS = { appendonly: "yes", appendfsync: "always", save: "" };

/** Redis that syncs its append-only file before it replies: one sync for all commands that it found waiting. */
export async function startRedis(contexts: number, folder: string): Promise<Subject> {
  const home = await PeerHome.open();
  try {
    const socket = join(home.directory, "redis.sock");
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) => [`--${name}`, value]);
    await home.serve(join(folder, "redis-server"), [
      ...["--port", "0", "--unixsocket", socket, "--dir", home.directory, "--daemonize", "no"],
      ...settings,
    ]);
    const client = await RespClient.connect(socket);
    await check(client);
    const keys = Array.from({ length: contexts }, (_, counter) => `counter:${counter}`);
    return {
      call(counter, work) {
        spin(work);
        return client.ask("INCR", keys[counter] ?? "");
      },
      async counted() {
        const counts = await client.ask("MGET", ...keys);
        return Array.isArray(counts)
          ? counts.reduce<number>((sum, count) => sum + Number(count), 0)
          : Number.NaN;
      },
      async stop() {
        await client.close();
        await home.close();
      },
    };
  } catch (error) {
    await home.close();
    throw error;
  }
}

/** A figure of a Redis that does not sync would be worth nothing here. */
async function check(client: RespClient): Promise<void> {
  for (const [name, value] of Object.entries(SETTINGS)) {
    const reply = await client.ask("CONFIG", "GET", name);
    if (!Array.isArray(reply) || reply[1] !== value)
      throw new Error(`Redis runs with ${name} ${JSON.stringify(reply)} instead of "${value}".`);
  }
}
