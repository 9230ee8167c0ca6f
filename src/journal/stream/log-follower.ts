import { readWrites } from "../log/frame.js";
import type { Following, LogMessage, LogPort } from "./log-port.js";
import { ownerOf, type Progress, progressWith, readMessage } from "./messages.js";

/** What becomes of the groups of a log. */
export interface GroupReader {
  write(key: string, value: Buffer | null): void;
  /** All writes of a group, so many bytes, were handed on: the log up to this position is applied. */
  applied(position: number, bytes: number): void;
  /** A member has begun an epoch. */
  epoch(epoch: number, member: string, position: number): void;
  /** The log cannot be followed: it is damaged, or what comes next was cut off. */
  failed(what: string): void;
}

/** Reads groups out of the messages of a log: those in parts count when the last part is there, and an epoch voids an unfinished group. */
export class LogFollower {
  readonly #reader: GroupReader;
  readonly #following: Following;
  readonly #waiting: {
    readonly position: number;
    readonly resolve: () => void;
    readonly reject: (why: Error) => void;
  }[] = [];
  #failure: Error | null = null;
  #parts: Buffer[] = [];
  #position: number;
  #progress: Progress = { epoch: 0, number: 0 };
  #complete: { readonly position: number; readonly progress: Progress };
  #isStopped = false;

  /**
   * Begins behind a message that counts and ends a group, or at the beginning of the log. If it is not known how far a reader is
   * there (`progress`), that message is read.
   */
  constructor(port: LogPort, after: number, reader: GroupReader, progress: Progress | null = null) {
    this.#reader = reader;
    this.#position = after;
    if (progress !== null) this.#progress = progress;
    this.#complete = { position: after, progress: this.#progress };
    this.#following = port.follow(progress === null ? Math.max(0, after - 1) : after, {
      message: (message) => {
        if (this.#isStopped) return;
        if (message.position === after) this.#beginBehind(message);
        else this.#take(message);
      },
      cut: (first) =>
        this.#fail(`it begins with message ${first}, and message ${this.#position + 1} is needed`),
    });
  }

  /** The last message that was read. */
  get position(): number {
    return this.#position;
  }

  /** The last message up to which all groups are whole. */
  get complete(): { readonly position: number; readonly progress: Progress } {
    return this.#complete;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** Resolves when everything up to this position was read; rejects if it cannot be. */
  caughtUp(position: number): Promise<void> {
    if (this.#position >= position) return Promise.resolve();
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#waiting.push({ position, resolve, reject }));
  }

  stop(): void {
    this.#isStopped = true;
    this.#following.stop();
  }

  #beginBehind(message: LogMessage): void {
    const read = readMessage(message);
    if (read === null) return this.#fail(`message ${message.position} cannot be read`);
    this.#progress = { epoch: read.head.epoch, number: read.head.segment };
    this.#complete = { position: message.position, progress: this.#progress };
  }

  #take(message: LogMessage): void {
    const read = readMessage(message);
    if (read === null) return this.#fail(`message ${message.position} cannot be read`);
    this.#position = message.position;
    const progress = progressWith(this.#progress, read);
    if (progress !== null) {
      this.#progress = progress;
      const { kind } = read.head;
      if (kind === "part") this.#parts.push(read.content);
      else this.#apply(kind === "group" ? [...this.#parts, read.content] : []);
      const owner = ownerOf(read);
      if (owner !== null) this.#reader.epoch(progress.epoch, owner.member, message.position);
    }
    for (let i = this.#waiting.length - 1; i >= 0; i--) {
      const waiting = this.#waiting[i];
      if (waiting === undefined || waiting.position > this.#position) continue;
      this.#waiting.splice(i, 1);
      waiting.resolve();
    }
  }

  #apply(parts: readonly Buffer[]): void {
    this.#parts = [];
    const content = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    readWrites(content, (key, value) => {
      this.#reader.write(key, value === null ? null : Buffer.from(value));
    });
    this.#complete = { position: this.#position, progress: this.#progress };
    this.#reader.applied(this.#position, content.length);
  }

  #fail(what: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#failure = new Error(what);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
    this.#reader.failed(what);
  }
}
