import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** `headwater serve` as a process of its own. */
export class StreamsServer {
  private constructor(
    readonly process: ChildProcess,
    readonly url: string,
    readonly token: string,
    /** From its start to its first line. */
    readonly startedMs: number,
  ) {}

  static async start(
    folder: string,
    durability: "synced" | "written",
    before: readonly string[] = [],
  ): Promise<StreamsServer> {
    const began = performance.now();
    const args = [...before, MAIN, "serve", "--port", "0", "--json", "--durability", durability];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    for await (const chunk of child.stdout) {
      text += String(chunk);
      if (text.includes("\n")) break;
    }
    const { url, token } = JSON.parse(text) as { readonly url: string; readonly token: string };
    return new StreamsServer(child, url, token, performance.now() - began);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Processor time of the server so far, all of its threads; `null` where the system does not tell. */
  get cpuMs(): number | null {
    try {
      const stat = readFileSync(`/proc/${this.process.pid}/stat`, "utf8");
      const [user = 0, system = 0] = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 13)
        .map(Number);
      return (user + system) * TICK_MS;
    } catch {
      return null;
    }
  }

  async ask(method: string, path: string, body?: string): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.token}` };
    const reply = await fetch(`${this.url}${path}`, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body }),
    });
    if (!reply.ok) throw new Error(await reply.text());
    return await reply.json();
  }

  async sql(sql: string, name?: string): Promise<void> {
    await this.ask("POST", "/v1/sql", JSON.stringify({ sql, name }));
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const ended = once(this.process, "exit");
    this.process.kill(signal);
    await ended;
  }
}
