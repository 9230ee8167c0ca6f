import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { statusOf } from "#src/cluster/index.js";
import type { Measurement } from "../lib/driver.js";
import type { MemberAnswer, MemberAsk } from "../programs/cluster-member.js";

const PROGRAM = fileURLToPath(new URL("../programs/cluster-member.ts", import.meta.url));

/** Each takes a second. */
const LOOKS_MAX = 30;

type Asked = MemberAsk extends infer Ask ? (Ask extends MemberAsk ? Omit<Ask, "n"> : never) : never;

/** One process of the cluster. */
export class MemberProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #asked = 0;
  /** Where it takes requests over HTTP, once it has joined. */
  readonly joined: Promise<string>;

  constructor(
    readonly name: string,
    journal: string,
    program: string,
  ) {
    this.#child = fork(program, [journal, name], { execArgv: [...process.execArgv] });
    this.joined = this.#answer(0) as Promise<string>;
    this.#child.on("message", (answer: MemberAnswer) => {
      const waiting = this.#waiting.get(answer.n);
      this.#waiting.delete(answer.n);
      if ("error" in answer) waiting?.reject(new Error(answer.error));
      else waiting?.resolve(answer.value);
    });
    this.#child.once("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${name} has ended.`));
    });
    this.joined.catch(() => {});
  }

  drive(events: number, inFlight: number): Promise<Measurement> {
    return this.#ask({ drive: [events, inFlight] }) as Promise<Measurement>;
  }

  counted(): Promise<number> {
    return this.#ask({ counted: true }) as Promise<number>;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  #ask(asked: Asked): Promise<unknown> {
    this.#asked += 1;
    this.#child.send({ ...asked, n: this.#asked });
    return this.#answer(this.#asked);
  }

  #answer(n: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(n, { resolve, reject }));
  }
}

/** The processes of one cluster. */
export class Processes {
  readonly #journal: string;
  readonly #program: string;
  readonly #processes = new Map<string, MemberProcess>();
  #started = 0;

  constructor(journal: string, program = PROGRAM) {
    this.#journal = journal;
    this.#program = program;
  }

  get all(): MemberProcess[] {
    return [...this.#processes.values()];
  }

  /** Starts a process; it is one of them when it has joined. */
  async start(): Promise<MemberProcess> {
    this.#started += 1;
    const made = new MemberProcess(`m${this.#started}`, this.#journal, this.#program);
    this.#processes.set(made.name, made);
    await made.joined;
    return made;
  }

  async kill(process: MemberProcess): Promise<void> {
    this.#processes.delete(process.name);
    await process.kill();
  }

  /** The process of a member. */
  named(member: string): MemberProcess {
    const process = this.#processes.get(member.replace(/-[^-]+$/, ""));
    if (process === undefined) throw new Error(`${member} is no process that lives.`);
    return process;
  }

  /** The process that is the head, and those that are not. */
  async roles(): Promise<{ readonly head: MemberProcess; readonly others: readonly MemberProcess[] }> {
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const { members } = await statusOf(this.#journal);
      const name = members.find(({ isHead }) => isHead)?.member.replace(/-[^-]+$/, "");
      const head = this.#processes.get(name ?? "");
      if (head !== undefined) return { head, others: this.all.filter((each) => each !== head) };
    }
    throw new Error("the cluster has no head.");
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((each) => each.kill()));
  }
}
