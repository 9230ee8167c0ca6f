import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Connection, requestOf } from "./http-load.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = join("dist", "cli", "main.js");
const MARKDOWN = join("examples", "fluxion", "markdown-server", "index.js");
const BY_HAND = join("bench", "programs", "markdown-by-hand.js");
const SMALL = join("bench", "programs", "small-server.js");

/** The programs that are compared: as written, with the stage moved by hand, and compiled. */
export const COMMANDS = {
  plain: [MARKDOWN],
  "by-hand": [BY_HAND],
  compiled: [MAIN, "run", "--fluxions", MARKDOWN],
  "small-plain": [SMALL],
  "small-compiled": [MAIN, "run", "--fluxions", SMALL],
} as const satisfies Record<string, readonly string[]>;

export type CaseName = keyof typeof COMMANDS;

/** A server in a process of its own. */
export class RunningServer {
  private constructor(
    readonly name: CaseName,
    readonly port: number,
    readonly process: ChildProcess,
  ) {}

  static start(name: CaseName, threads: number): Promise<RunningServer> {
    const child = spawn(process.execPath, [...COMMANDS[name]], {
      cwd: ROOT,
      env: {
        ...process.env,
        NODE_ENV: "production",
        PORT: "0",
        THREADS: String(threads),
        HEADWATER_THREADS: String(threads),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    return new Promise((resolve, reject) => {
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const port = /listening on \S+:(\d+)/.exec(said)?.[1];
        if (port !== undefined) resolve(new RunningServer(name, Number(port), child));
      });
      child.on("exit", () => reject(new Error(`${name} ended before it listened.`)));
    });
  }

  /** How many requests it has counted itself. */
  async counted(): Promise<number> {
    const connection = await Connection.open(this.port);
    const answer = (await connection.ask(requestOf("GET", "/count"))).toString();
    connection.close();
    return Number(/"rendered":(\d+)/.exec(answer)?.[1]);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.process.on("exit", () => resolve());
      this.process.kill();
    });
  }
}
