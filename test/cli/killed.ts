import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { StreamsClient } from "headwater/streams/client";
import { Running } from "./headwater.js";

/** A service at a port of its own that is killed and started again. */
export class Killed {
  #running: Running;

  constructor(
    t: TestContext,
    readonly folder: string,
    readonly port: number,
  ) {
    this.#running = this.#start();
    t.after(() => this.#running.interrupt("SIGKILL"));
  }

  #start(): Running {
    return new Running(
      ["serve", "--port", String(this.port), "--durability", "written", "--json"],
      this.folder,
    );
  }

  async ready(): Promise<void> {
    await this.#running.hasWritten("}\n");
  }

  async killAndStart(): Promise<void> {
    this.#running.interrupt("SIGKILL");
    await this.#running.ended;
    this.#running = this.#start();
    await this.ready();
  }

  client(): StreamsClient {
    const token = readFileSync(join(this.folder, "headwater-data", "admin.token"), "utf8").trim();
    return new StreamsClient(`http://127.0.0.1:${this.port}`, { token, backoffMs: 5, retryMs: 600_000 });
  }
}
