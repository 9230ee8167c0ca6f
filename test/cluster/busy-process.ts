import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { TcpProxy } from "../tcp-proxy.js";

/** Of the last output of errors, which is kept. */
const STDERR_MAX = 20_000;
const PROGRAM = fileURLToPath(new URL("./programs/busy-member.ts", import.meta.url));

/** Each makes one transfer at a time. */
export const WORKERS = [0, 1, 2] as const;

/** A process of a cluster that makes transfers, and its way to the NATS servers. */
export class BusyProcess {
  readonly #child: ChildProcess;
  readonly #proxies: readonly TcpProxy[];
  readonly joined: Promise<void>;
  /** Per worker: the number of its last transfer that was acknowledged. */
  readonly done: number[] = [];
  stale = 0;
  /** It can do nothing at the moment, or reach nothing. */
  isPaused = false;
  /** Rejects if the process ends and nobody has told it to. */
  readonly lost: Promise<never>;
  #isToEnd = false;

  private constructor(
    readonly name: string,
    cluster: string,
    proxies: readonly TcpProxy[],
    heard: () => void,
  ) {
    this.#proxies = proxies;
    const journal = `nats://${proxies.map(({ host }) => host).join(",")}/${cluster}`;
    this.#child = spawn(process.execPath, ["--no-warnings", "--import", "tsx", PROGRAM, journal, name], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("there is no output.");
    let errors = "";
    stderr.on("data", (bytes: Buffer) => {
      errors = (errors + bytes.toString()).slice(-STDERR_MAX);
    });
    this.lost = new Promise((_, reject) => {
      this.#child.once("close", (code, signal) => {
        if (!this.#isToEnd) reject(new Error(`${name} has ended by itself (${code ?? signal}):\n${errors}`));
      });
    });
    this.lost.catch(() => {});
    this.joined = new Promise((resolve, reject) => {
      this.lost.catch(reject);
      createInterface({ input: stdout }).on("line", (line) => {
        const said = JSON.parse(line) as { joined?: string; worker: number; done: number; isStale: boolean };
        if (said.joined !== undefined) return resolve();
        this.done[said.worker] = said.done;
        if (said.isStale) this.stale += 1;
        heard();
      });
    });
    this.joined.catch(() => {});
  }

  /** `heard` is called for each transfer that was acknowledged. */
  static async start(
    name: string,
    cluster: string,
    servers: readonly string[],
    heard: () => void,
  ): Promise<BusyProcess> {
    const proxies = await Promise.all(servers.map((host) => TcpProxy.start(host)));
    return new BusyProcess(name, cluster, proxies, heard);
  }

  /** The transfers that were acknowledged, and the next of each worker, which may have been made. */
  transfers(): { readonly acknowledged: string[]; readonly unsure: string[] } {
    const acknowledged = this.done.flatMap((last, worker) =>
      Array.from({ length: last + 1 }, (_, i) => `${this.name}/${worker}/${i}`),
    );
    const unsure = WORKERS.map((worker) => `${this.name}/${worker}/${(this.done[worker] ?? -1) + 1}`);
    return { acknowledged, unsure };
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.isPaused = signal === "SIGSTOP";
    this.#child.kill(signal);
  }

  partition(isHeld: boolean): void {
    for (const proxy of this.#proxies) isHeld ? proxy.hold() : proxy.letGo();
  }

  delay(ms: number): void {
    for (const proxy of this.#proxies) proxy.delay(ms);
  }

  cut(): void {
    for (const proxy of this.#proxies) proxy.cut();
  }

  async kill(): Promise<void> {
    this.#isToEnd = true;
    for (const proxy of this.#proxies) proxy.close();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  /** Lets what is under way be answered. */
  async stop(): Promise<void> {
    this.#isToEnd = true;
    const ended = once(this.#child, "exit");
    this.#child.stdin?.end();
    const [code] = await ended;
    if (code !== 0) throw new Error(`${this.name} could not stop (${code}).`);
    for (const proxy of this.#proxies) proxy.close();
  }
}
