import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream";
import { type ConnectionOptions, connect, type NatsConnection } from "@nats-io/transport-node";
import { natsServer } from "./nats-server.js";
import { until } from "./waits.js";

export interface NatsServersOptions {
  /** One server, or three with replicas. */
  readonly count?: 1 | 3;
  /** More lines for each server's configuration. */
  readonly settings?: string;
  /** With the servers' monitoring over HTTP. */
  readonly monitoring?: boolean;
  /** The largest message. */
  readonly payload?: string;
  /** Of the settings of JetStream. */
  readonly sync?: "always" | "2m";
  /** How the test itself connects, to servers that want credentials. */
  readonly connection?: ConnectionOptions | undefined;
}

/**
 * Real NATS servers on loopback, with JetStream on file, as a cluster if there are several. They end with the test file. A server
 * that was killed can be started again with what it has on its disk.
 */
export class NatsServers {
  readonly #folder: string;
  readonly #program: string;
  readonly #ports: readonly number[];
  readonly #options: NatsServersOptions;
  #httpPorts: readonly number[] = [];
  readonly #running: (ChildProcess | null)[];

  private constructor(program: string, ports: readonly number[], options: NatsServersOptions) {
    this.#folder = mkdtempSync(join(tmpdir(), "headwater-nats-"));
    this.#program = program;
    this.#ports = ports;
    this.#options = options;
    this.#running = ports.map(() => null);
  }

  /** Resolves when a stream with as many replicas as there are servers can be written to. */
  static async start(options: NatsServersOptions = {}): Promise<NatsServers> {
    const count = options.count ?? 3;
    const ports = await freePorts(count * 3);
    const servers = new NatsServers(await natsServer(), ports.slice(0, count), options);
    const routes = ports.slice(count, 2 * count);
    servers.#httpPorts = ports.slice(2 * count);
    for (let i = 0; i < count; i++)
      writeFileSync(servers.#file(i, "conf"), servers.#configuration(i, routes));
    for (let i = 0; i < count; i++) servers.resume(i);
    await servers.#ready();
    return servers;
  }

  get count(): number {
    return this.#ports.length;
  }

  /** As an address for Headwater: all servers, the given one first. */
  address(first = 0): string {
    return `nats://${this.hosts(first).join(",")}`;
  }

  /** The addresses of the servers' monitoring, if they were started with it. */
  get monitoring(): string[] {
    return this.#httpPorts.map((port) => `http://127.0.0.1:${port}`);
  }

  hosts(first = 0): string[] {
    const hosts = this.#ports.map((port) => `127.0.0.1:${port}`);
    return [...hosts.slice(first), ...hosts.slice(0, first)];
  }

  /** A connection of the test's own. */
  connect(): Promise<NatsConnection> {
    return connect({
      ...this.#options.connection,
      servers: this.hosts(),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
      pingInterval: 1000,
    });
  }

  /** Which server leads a stream; -1 if none does. */
  async leaderOf(stream: string): Promise<number> {
    const connection = await this.connect();
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const { cluster } = await manager.streams.info(stream);
      return cluster?.leader === undefined ? -1 : Number(cluster.leader.replace("n", ""));
    } finally {
      await connection.close();
    }
  }

  /** Ends a server as a crash would, or as an administrator does; or pauses it (SIGSTOP, SIGCONT). */
  async signal(i: number, signal: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): Promise<void> {
    const child = this.#running[i];
    if (!child) return;
    const isEnd = signal === "SIGKILL" || signal === "SIGTERM";
    const ended = isEnd ? once(child, "exit") : null;
    child.kill(signal);
    if (ended === null) return;
    this.#running[i] = null;
    await ended;
  }

  /** Starts a server that was ended. */
  resume(i: number): void {
    if (this.#running[i]) return;
    const child = spawn(this.#program, ["-c", this.#file(i, "conf")], { stdio: "ignore" });
    this.#running[i] = child;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#ports.map((_, i) => this.signal(i, "SIGKILL")));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #file(i: number, ending: string): string {
    return join(this.#folder, `n${i}.${ending}`);
  }

  #configuration(i: number, routes: readonly number[]): string {
    const { sync = "always", settings = "", payload = "8MB" } = this.#options;
    const urls = routes.map((port) => `nats://127.0.0.1:${port}`).join(", ");
    const cluster = `cluster { name: tests, no_advertise: true, host: 127.0.0.1, port: ${routes[i]}, routes: [${urls}] }`;
    return [
      `server_name: n${i}`,
      "host: 127.0.0.1",
      `port: ${this.#ports[i]}`,
      `log_file: ${JSON.stringify(this.#file(i, "log"))}`,
      `max_payload: ${payload}`,
      this.#options.monitoring ? `http: 127.0.0.1:${this.#httpPorts[i]}` : "",
      `jetstream { store_dir: ${JSON.stringify(this.#file(i, "store"))}, max_memory_store: 64MB, max_file_store: 4GB, sync_interval: ${sync} }`,
      this.count > 1 ? cluster : "",
      settings,
    ].join("\n");
  }

  async #ready(): Promise<void> {
    let last: unknown;
    const isReady = async () => {
      for (const [i, child] of this.#running.entries()) {
        if (child && child.exitCode !== null)
          throw new Error(`nats-server ended:\n${readFileSync(this.#file(i, "log"), "utf8")}`);
      }
      try {
        await this.#tryOut();
        return true;
      } catch (error) {
        last = error;
        return false;
      }
    };
    await until(isReady, "until the NATS servers are ready").catch((error: unknown) => {
      throw new Error(`the NATS servers did not become ready: ${last}`, { cause: error });
    });
  }

  async #tryOut(): Promise<void> {
    const connection = await connect({ ...this.#options.connection, servers: this.hosts(), timeout: 2000 });
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 2000 });
      const name = "ready";
      await manager.streams.add({
        name,
        subjects: [name],
        num_replicas: this.count,
        storage: StorageType.File,
      });
      await jetstream(connection).publish(name, "", { timeout: 1000 });
      await manager.streams.delete(name);
    } finally {
      await connection.close();
    }
  }
}

/** Below those that outgoing connections get, so that a server that is started again finds its port free. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
