import { spawn } from "node:child_process";
import type { ProcessMaker, ProcessOrder } from "./provisioner.js";

const OUTPUT_BYTES_MAX = 64 * 1024;
/** Of what it has said about its failure. */
const SHOWN_MAX = 500;
const NAME = /^[A-Za-z0-9_-]{1,100}$/;

export interface CommandParts {
  /** The program and its first arguments. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** Without credentials. */
  readonly cluster: string;
  readonly env: NodeJS.ProcessEnv;
}

type Doing = "add" | "remove";

/**
 * Makes and removes processes by a command of the user: COMMAND add ID, COMMAND remove ID. What is asked for stands in its environment and, as JSON, on its
 * standard input; it may answer with JSON. It is asked again for the same id when it has failed, was too slow, or when its head has ended.
 */
export class CommandMaker implements ProcessMaker {
  readonly repeats = true;
  readonly #parts: CommandParts;

  constructor(parts: CommandParts) {
    this.#parts = parts;
  }

  get timeoutMs(): number {
    return this.#parts.timeoutMs;
  }

  async add(order: ProcessOrder, signal: AbortSignal): Promise<string | null> {
    const output = (await this.#run("add", order, signal)).trim();
    if (output === "") return null;
    const name = nameIn(output);
    if (name !== undefined && !(typeof name === "string" && NAME.test(name)))
      throw new Error(`it answered with the name ${JSON.stringify(name)}; letters, digits, _ and - make one`);
    return name ?? null;
  }

  async remove(order: ProcessOrder, signal: AbortSignal): Promise<void> {
    await this.#run("remove", order, signal);
  }

  #run(action: Doing, order: ProcessOrder, signal: AbortSignal): Promise<string> {
    const { command, timeoutMs, cluster, env } = this.#parts;
    const [program = "", ...args] = command;
    const child = spawn(program, [...args, action, order.id], {
      detached: true, // a group of its own, all of which is ended when it takes too long
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        ...env,
        HEADWATER_ACTION: action,
        HEADWATER_CLUSTER: cluster,
        HEADWATER_PROCESS: order.id,
        HEADWATER_NAME: order.name,
        HEADWATER_WANTED: String(order.wanted),
        HEADWATER_TIMEOUT_MS: String(timeoutMs),
      },
    });
    let [output, errors, outputBytes] = ["", "", 0];
    let ended: string | null = null;
    const end = (why: string) => {
      ended ??= why;
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        child.kill("SIGKILL"); // it has ended meanwhile, or is no leader of a group
      }
    };
    child.stdout.on("data", (bytes: Buffer) => {
      outputBytes += bytes.length;
      if (outputBytes > OUTPUT_BYTES_MAX) end(`it printed more than ${OUTPUT_BYTES_MAX} bytes`);
      else output += bytes.toString();
    });
    child.stderr.on("data", (bytes: Buffer) => {
      errors = (errors + bytes.toString()).slice(-SHOWN_MAX);
    });
    child.stdin.on("error", () => {}); // it need not read
    child.stdin.end(`${JSON.stringify({ action, cluster, ...order })}\n`);
    const timeout = setTimeout(() => end(`it took longer than ${timeoutMs / 1000} seconds`), timeoutMs);
    const aborted = () => end("this process is not the head any more");
    signal.addEventListener("abort", aborted);
    return new Promise<string>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, by) => {
        if (ended !== null) return reject(new Error(`${program} was ended: ${ended}`));
        if (code === 0) return resolve(output);
        const how = code === null ? `was ended by ${by}` : `ended with code ${code}`;
        reject(new Error(`${program} ${how}${errors.trim() === "" ? "" : `, and said: ${errors.trim()}`}`));
      });
    }).finally(() => {
      clearTimeout(timeout);
      signal.removeEventListener("abort", aborted);
    });
  }
}

function nameIn(output: string): unknown {
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    answer = null;
  }
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    throw new Error(
      `it printed ${JSON.stringify(output.slice(0, SHOWN_MAX))}, and should print a JSON object or nothing`,
    );
  return Reflect.get(answer, "name");
}
