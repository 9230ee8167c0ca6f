/**
 * What a log needs of the place where its segments are. The simulator has a second implementation (`sim/disk.ts`), whose
 * files tear, fail, fill up and forget what was not synced.
 */

import type { Buffer } from "node:buffer";

export interface LogFile {
  /** Calls `done` when the bytes are safe, as the durability says. One write at a time. */
  write(bytes: Buffer, at: number, done: (error: Error | null) => void): void;
  close(): void;
}

export interface LogDisk {
  /** Which run of the operating system this is, in hexadecimal: a write that it took is lost only with it. */
  readonly boot: string;
  names(): string[];
  /** All bytes of a file, or the first ones. */
  read(name: string, bytes?: number): Buffer;
  /** A new file, full of zeros that take up room on the disk; an error if there is one of that name. */
  create(name: string, bytes: number, done: (error: Error | null, file: LogFile | null) => void): void;
  has(name: string): boolean;
  /** False if there is no such file. */
  rename(from: string, to: string): boolean;
  /** No error if there is no such file. */
  remove(name: string): void;
  /** Calls back after a while. */
  later(ms: number, callback: () => void): void;
}
