import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chownSync, constants, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { temporaryDirectory } from "./append-sync.js";

const READY = /ready to accept connections/i; // PostgreSQL and Redis say it in the same words
const SAID_CHARS_MAX = 2000;

/** A user other than root, as whom a server that refuses root is run. */
interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Whom to run as, if we are root: those who are not, run as themselves. */
export function lesserUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const id = (flag: string) =>
      Number(execFileSync("id", [flag, name], { stdio: "pipe", encoding: "utf8" }));
    try {
      return { uid: id("-u"), gid: id("-g") };
    } catch {} // there is no such user: the next one
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody.");
}

/** The folders in which programs are looked for; some lists for users leave out the last ones. */
export function programFolders(): string[] {
  return [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), "/usr/bin", "/usr/local/bin"];
}

/** The first of these folders that has all these programs. */
export function folderWith(programs: readonly string[], folders: readonly string[]): string | undefined {
  return folders.find((folder) => programs.every((program) => isProgram(join(folder, program))));
}

/** What is in a folder, the highest version first; nothing, if there is no such folder. */
export function newestFirst(folder: string): string[] {
  try {
    return readdirSync(folder).sort((a, b) => Number.parseFloat(b) - Number.parseFloat(a));
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A directory and the server processes that live in it. Both go when it is closed, or at the latest when we end. */
export class PeerHome {
  readonly #children: ChildProcess[] = [];
  readonly #atExit = () => {
    for (const child of this.#children) child.kill("SIGKILL");
  };

  private constructor(
    readonly directory: string,
    readonly user: User | undefined,
  ) {
    process.prependListener("exit", this.#atExit); // before the directory goes
  }

  static async open(user?: User): Promise<PeerHome> {
    const directory = await temporaryDirectory();
    if (user !== undefined) chownSync(directory, user.uid, user.gid);
    return new PeerHome(directory, user);
  }

  /** Runs a program to its end. */
  async run(program: string, args: readonly string[]): Promise<void> {
    const { child, said } = this.#spawn(program, args);
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`${program} failed: ${said()}`);
  }

  /** Starts a server, and resolves when it says that it is ready. */
  async serve(program: string, args: readonly string[]): Promise<void> {
    const { child, said } = this.#spawn(program, args);
    await new Promise<void>((resolve, reject) => {
      const look = () => READY.test(said()) && resolve();
      child.stdout?.on("data", look);
      child.stderr?.on("data", look);
      child.once("error", reject);
      child.once("close", () => reject(new Error(`${program} ended before it was ready: ${said()}`)));
    });
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      child.kill("SIGINT"); // PostgreSQL: ends the connections, then itself
      await once(child, "exit");
    }
    await rm(this.directory, { recursive: true });
    process.off("exit", this.#atExit);
  }

  #spawn(program: string, args: readonly string[]) {
    const child = spawn(program, args, {
      cwd: this.directory,
      env: { PATH: process.env.PATH, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // Ctrl-C is for us, and we end it
      ...this.user,
    });
    this.#children.push(child);
    let text = "";
    const hear = (chunk: Buffer) => (text = (text + chunk.toString()).slice(-SAID_CHARS_MAX));
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    return { child, said: () => text.trim() };
  }
}
