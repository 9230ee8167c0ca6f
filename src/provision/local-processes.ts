import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ProcessMaker, ProcessOrder } from "./provisioner.js";

/** In the environment of a process that was added: its id, which is its name as a member. */
export const PROVISIONED = "HEADWATER_PROVISIONED";
/** Set for a process that ends when its standard input does, that is, with the process that has started it. */
export const WITH_STARTER = "HEADWATER_WITH_STARTER";

const TIMEOUT_MS = 30_000;
/** A process that is told to end has so long for it. */
const END_MS = 20_000;

export interface LocalParts {
  readonly env: NodeJS.ProcessEnv;
  /** The process of the members of that name ends in good order. */
  readonly retire: (name: string) => Promise<void>;
}

/** More processes on this machine: each runs what this one runs, and ends at the latest with this one. */
export class LocalProcesses implements ProcessMaker {
  readonly timeoutMs = TIMEOUT_MS;
  readonly repeats = false;
  readonly #parts: LocalParts;
  readonly #children = new Map<string, ChildProcess>();

  constructor(parts: LocalParts) {
    this.#parts = parts;
  }

  async add({ id }: ProcessOrder): Promise<null> {
    if (this.#children.has(id)) return null;
    const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      stdio: ["pipe", "inherit", "inherit"],
      env: { ...this.#parts.env, [PROVISIONED]: id, [WITH_STARTER]: "1" },
      detached: true, // Ctrl-C is for this process, which they end with
    });
    child.stdin?.on("error", () => {});
    await once(child, "spawn");
    this.#children.set(id, child);
    child.once("exit", () => this.#children.delete(id));
    child.unref();
    return null;
  }

  async remove({ id, name }: ProcessOrder): Promise<void> {
    const child = this.#children.get(id);
    if (child === undefined) return this.#parts.retire(name);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    await this.#parts.retire(name).catch(() => child.kill("SIGTERM"));
    child.stdin?.end();
    const late = setTimeout(() => child.kill("SIGKILL"), END_MS).unref();
    await ended.finally(() => clearTimeout(late));
  }

  /** They end, each in good order. */
  close(): void {
    for (const child of this.#children.values()) child.stdin?.end();
  }
}
