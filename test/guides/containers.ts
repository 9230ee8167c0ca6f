import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { until } from "../waits.js";

export interface Container {
  readonly name: string;
  /** Without the entry point of its image. */
  readonly args: readonly string[];
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where a path of the container is on this machine. */
  readonly mounts: ReadonlyMap<string, string>;
  readonly restarts: boolean;
}

/** Runs what manifests say as processes on the loopback interface: names become 127.0.0.1, and each port of each name a free one. */
export class Containers {
  readonly #ports: ReadonlyMap<string, number>;
  readonly #names: readonly string[];
  readonly #running = new Map<string, ChildProcess>();
  readonly #stopped = new Set<string>();
  readonly starts = new Map<string, number>();
  readonly #cwd: string;
  output = "";

  /** `ports`: by NAME:PORT. */
  constructor(ports: ReadonlyMap<string, number>, cwd: string) {
    this.#ports = ports;
    this.#names = [...new Set([...ports.keys()].map((each) => each.split(":")[0] ?? ""))];
    this.#cwd = cwd;
  }

  port(name: string, port: string | number): number {
    const found = this.#ports.get(`${name}:${port}`);
    if (found === undefined) throw new Error(`the manifest does not say that ${name} has a port ${port}`);
    return found;
  }

  /** A text of a container, as it is on this machine. */
  resolved(text: string, { name, mounts }: Pick<Container, "name" | "mounts">): string {
    let resolved = text.replace(
      /127\.0\.0\.1:(\d+)/g,
      (_, port: string) => `localhost:${this.port(name, port)}`,
    );
    for (const other of this.#names)
      resolved = resolved.replace(new RegExp(`(?<![\\w.-])${other}:(\\d+)`, "g"), (_, port: string) => {
        return `localhost:${this.port(other, port)}`;
      });
    for (const [path, local] of mounts)
      if (resolved === path || resolved.startsWith(`${path}/`))
        resolved = local + resolved.slice(path.length);
    return resolved.replaceAll("localhost:", "127.0.0.1:");
  }

  #argument(text: string, before: string | undefined, container: Container): string {
    if (before === "--member-host" || before === "--host" || text === "0.0.0.0") return "127.0.0.1";
    if (before === "--port") return String(this.port(container.name, text));
    return this.resolved(text, container);
  }

  start(container: Container): void {
    const { name, program, args, environment, restarts } = container;
    this.starts.set(name, (this.starts.get(name) ?? 0) + 1);
    const [file = "", ...first] = program;
    const given = args.map((arg, i) => this.#argument(arg, args[i - 1], container));
    const values = Object.entries(environment).map(([key, value]) => [key, this.resolved(value, container)]);
    const child = spawn(file, [...first, ...given], {
      cwd: this.#cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH, ...Object.fromEntries(values) },
    });
    this.#running.set(name, child);
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => {
        this.output = `${this.output}${bytes.toString().replace(/^/gm, `${name}: `)}`.slice(-20_000);
      });
    child.once("exit", () => {
      if (restarts && !this.#stopped.has(name)) this.start(container);
    });
  }

  /** A command within a container, as health checks are. */
  async isHealthy(test: readonly string[], container: Container): Promise<boolean> {
    const [kind, program = "", ...args] = test;
    if (kind !== "CMD") throw new Error(`a health check is CMD, not ${kind}`);
    const file = program === "node" ? process.execPath : program;
    const given = args.map((arg) => this.resolved(arg, container));
    return promisify(execFile)(file, given).then(
      () => true,
      () => false,
    );
  }

  async healthy(test: readonly string[], container: Container): Promise<void> {
    await until(() => this.isHealthy(test, container), `until ${container.name} is healthy`).catch(
      (error: Error) => {
        throw new Error(`${error.message}\n${this.output}`);
      },
    );
  }

  kill(name: string): void {
    this.#running.get(name)?.kill("SIGKILL");
  }

  /** Resolves with its exit code. */
  async stop(name: string, signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#stopped.add(name);
    const child = this.#running.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null)
      return child?.exitCode ?? null;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    return child.exitCode;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.stop(name, "SIGKILL")));
  }
}
