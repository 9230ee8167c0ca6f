import { close, closeSync, constants, open, write } from "node:fs";
import type { LogFile } from "./disk.js";

const { O_DSYNC, O_RDWR } = constants;

/**
 * The disk sync: opens a file so that each write returns when the disk has the bytes. With `O_DSYNC` a write and its sync are
 * one call, and one turn of Node's thread pool. `made` is the descriptor with which the file was made; it is closed.
 */
export function openSynced(
  path: string,
  made: number,
  done: (error: Error | null, file: LogFile | null) => void,
): void {
  open(path, O_RDWR | O_DSYNC, (error, handle) => {
    close(made, () => done(error, error === null ? new OpenFile(handle) : null));
  });
}

/** A file of a log that is written at given places. */
export class OpenFile implements LogFile {
  readonly #handle: number;
  #isWriting = false;
  #isClosed = false;

  constructor(handle: number) {
    this.#handle = handle;
  }

  write(bytes: Buffer, at: number, done: (error: Error | null) => void): void {
    this.#isWriting = true;
    write(this.#handle, bytes, 0, bytes.length, at, (error, written) => {
      if (error === null && written < bytes.length) {
        return this.write(bytes.subarray(written), at + written, done);
      }
      this.#isWriting = false;
      if (this.#isClosed) closeSync(this.#handle);
      done(error);
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isWriting) closeSync(this.#handle);
  }
}
