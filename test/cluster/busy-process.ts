import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { RunOptions } from "headwater";
import { TcpProxy } from "../tcp-proxy.js";

/** Of the last output of errors, which is kept. */
const STDERR_MAX = 20_000;
const PROGRAM = fileURLToPath(new URL("./programs/busy-member.ts", import.meta.url));

/** Each makes one transfer at a time. */
export const WORKERS = [0, 1, 2] as const;

/** What a process is started as. */
export interface BusyRole {
  readonly name: string;
  /** The cluster. */
  readonly cluster: string;
  /** The addresses of the NATS servers. */
  readonly servers: readonly string[];
  readonly options: RunOptions;
}

/** A process of a cluster that makes transfers, and its way to the NATS servers. */
export class BusyProcess {
  readonly #child: ChildProcess;
  readonly #proxies: readonly TcpProxy[];
  /** Resolves when it is a member, or was ended before. */
  readonly joined: Promise<void>;
  #ended: () => void = () => {};
  /** Per worker: the number of its last transfer that was acknowledged. */
  readonly done: number[] = [];
  stale = 0;
  /** It can do nothing at the moment, or reach nothing. */
  isPaused = false;
  /** Rejects if the process ends and nobody has told it to. */
  readonly lost: Promise<never>;
  #isToEnd = false;

  private constructor(
    readonly role: BusyRole,
    proxies: readonly TcpProxy[],
    heard: () => void,
  ) {
    this.#proxies = proxies;
    const { name, cluster, options } = role;
    const journal = `nats://${proxies.map(({ host }) => host).join(",")}/${cluster}`;
    const args = ["--no-warnings", "--import", "tsx", PROGRAM, journal, name, JSON.stringify(options)];
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("there is no output.");
    let errors = "";
    stderr.on("data", (bytes: Buffer) => {
      errors = (errors + bytes.toString()).slice(-STDERR_MAX);
    });
    this.lost = new Promise((_, reject) => {
      this.#child.once("close", (code, signal) => {
        if (this.#isToEnd) this.#ended();
        else reject(new Error(`${name} has ended by itself (${code ?? signal}):\n${errors}`));
      });
    });
    this.lost.catch(() => {});
    this.joined = new Promise((resolve, reject) => {
      this.lost.catch(reject);
      this.#ended = resolve;
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
  static async start(role: BusyRole, heard: () => void): Promise<BusyProcess> {
    const proxies = await Promise.all(role.servers.map((host) => TcpProxy.start(host)));
    return new BusyProcess(role, proxies, heard);
  }

  get name(): string {
    return this.role.name;
  }

  /** The processes of its hosts. */
  hosts(): number[] {
    const { pid } = this.#child;
    try {
      const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
      const pids = text === "" ? [] : text.split(" ").map(Number);
      return pids.filter((each) => readFileSync(`/proc/${each}/cmdline`, "utf8").includes("host-process"));
    } catch {
      return []; // it has ended
    }
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
