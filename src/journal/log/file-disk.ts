import {
  close,
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  write,
} from "node:fs";
import { join } from "node:path";
import { FILE_MODE, isCode, syncDirectory } from "../files.js";
import type { LogDisk, LogFile } from "./disk.js";
import { OpenFile, openSynced } from "./synced-file.js";

const ZEROS = Buffer.alloc(2 ** 20);
const { O_CREAT, O_EXCL, O_RDWR } = constants;

/** The directory of a log on a real disk. */
export class FileDisk implements LogDisk {
  readonly boot = bootId();
  readonly #directory: string;
  readonly #isSynced: boolean;

  constructor(directory: string, isSynced: boolean) {
    this.#directory = directory;
    this.#isSynced = isSynced;
  }

  static make(directory: string): void {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** If there is nothing in it. */
  static unmake(directory: string): void {
    try {
      rmdirSync(directory);
    } catch (error) {
      // Another opening may be using it, or have removed it.
      if (!["ENOTEMPTY", "EEXIST", "ENOENT"].some((code) => isCode(error, code))) throw error;
    }
  }

  names(): string[] {
    try {
      return readdirSync(this.#directory);
    } catch (error) {
      if (isCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  read(name: string, bytes?: number): Buffer {
    const path = this.#path(name);
    if (bytes === undefined) return readFileSync(path);
    const handle = openSync(path, "r");
    try {
      const buffer = Buffer.alloc(Math.min(bytes, fstatSync(handle).size));
      return buffer.subarray(0, readSync(handle, buffer, 0, buffer.length, 0));
    } finally {
      closeSync(handle);
    }
  }

  create(name: string, bytes: number, done: (error: Error | null, file: LogFile | null) => void): void {
    const path = this.#path(name);
    open(path, O_CREAT | O_EXCL | O_RDWR, FILE_MODE, (failure, handle) => {
      if (failure !== null) return done(failure, null);
      const finish = (error: Error | null) => {
        if (error === null) error = this.#syncNames();
        if (error === null) return this.#opened(path, handle, done);
        close(handle, () => {
          rmSync(path, { force: true }); // what it took is free again
          done(error, null);
        });
      };
      fill(handle, bytes, 0, (error) => {
        if (error !== null || !this.#isSynced) finish(error);
        else fdatasync(handle, finish);
      });
    });
  }

  has(name: string): boolean {
    return existsSync(this.#path(name));
  }

  rename(from: string, to: string): boolean {
    try {
      renameSync(this.#path(from), this.#path(to));
      return true;
    } catch (error) {
      if (isCode(error, "ENOENT")) return false;
      throw error;
    }
  }

  remove(name: string): void {
    rmSync(this.#path(name), { force: true });
  }

  later(ms: number, callback: () => void): void {
    setTimeout(callback, ms);
  }

  #opened(path: string, made: number, done: (error: Error | null, file: LogFile | null) => void): void {
    if (this.#isSynced) openSynced(path, made, done);
    else done(null, new OpenFile(made));
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #syncNames(): Error | null {
    if (!this.#isSynced) return null;
    try {
      syncDirectory(this.#directory);
      return null;
    } catch (error) {
      return error as Error;
    }
  }
}

/** Zeros that are written take up room on the disk; a file that is only made longer does not. */
function fill(handle: number, bytes: number, at: number, done: (error: Error | null) => void): void {
  if (at >= bytes) return done(null);
  write(handle, ZEROS, 0, Math.min(ZEROS.length, bytes - at), at, (error, written) => {
    if (error !== null) done(error);
    else fill(handle, bytes, at + written, done);
  });
}

/** Which start of the machine this is; empty where that is not known. */
export function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8")
      .replace(/[^0-9a-f]/g, "")
      .slice(0, 32);
  } catch {
    return ""; // Not on Linux: every end that cannot be read counts as torn.
  }
}
