import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HeadwaterError } from "../errors.js";
import { listen } from "../server/listen.js";
import { StreamsHttp } from "../streams/http/index.js";
import { StreamService } from "../streams/index.js";
import type { Terminal } from "./terminal.js";

export interface Started {
  readonly url: string;
  readonly token: string;
  readonly readyMs: number;
  /** Rejects when nothing can be kept any more. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** Starts the service: the port first, so that a process that cannot have it touches no journal. */
export async function startService(
  folder: string,
  port: number,
  durability: "synced" | "written",
  terminal: Terminal,
): Promise<Started> {
  const began = performance.now();
  const listener = await listen({ port, log: (line) => terminal.say(line) });
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    let fail: (error: HeadwaterError) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    failed.catch(() => {}); // it is waited for once the service has started
    const service = await StreamService.open({
      journal: join(folder, "journal"),
      durability,
      onFailure: fail,
    });
    const token = await adminToken(service, join(folder, "admin.token"));
    const http = new StreamsHttp(service, listener);
    return {
      ...{ url: listener.url, token, failed, readyMs: Math.round(performance.now() - began) },
      close: async () => {
        http.close();
        listener.close();
        listener.http.closeAllConnections();
        await service.close();
      },
    };
  } catch (error) {
    listener.close();
    throw error;
  }
}

/** The token of an earlier start, if it is good, or a new one. */
async function adminToken(service: StreamService, file: string): Promise<string> {
  const kept = await readFile(file, "utf8").then(
    (text) => text.trim(),
    () => "",
  );
  if (service.granted(kept) !== null) return kept;
  const token = await service.addToken("default", ["admin"]);
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  return token;
}
