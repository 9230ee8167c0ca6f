import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Batched, OutputTarget } from "./target.js";

/**
 * Rows appended to a file, exactly once: the length of the file after each batch is kept with the position, in one event. What a crash
 * has left behind that length is cut off when the file is opened again, and written again from the same rows.
 */
export class FileTarget implements OutputTarget {
  readonly isKeyed = false;
  #file: FileHandle | null = null;
  #length = 0;

  constructor(
    readonly path: string,
    readonly format: "ndjson" | "csv",
  ) {}

  async open(mark: string | null): Promise<void> {
    this.#length = Number(mark ?? 0);
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
    const file = await open(this.path, flags, 0o600);
    this.#file = file;
    const { size } = await file.stat();
    if (size < this.#length) {
      await this.close();
      throw new Error(
        `${this.path} has ${size} bytes, and rows were delivered to ${this.#length}: it was shortened by another process. ` +
          "Put it back, or register the output anew",
      );
    }
    if (size > this.#length) await file.truncate(this.#length);
  }

  async send({ lines, schema }: Batched): Promise<string> {
    if (this.#file === null) throw new Error("the file is not open");
    const header = this.format === "csv" && this.#length === 0 ? [headerOf(schema)] : [];
    const bytes = Buffer.from(`${[...header, ...lines].join("\n")}\n`);
    for (let written = 0; written < bytes.length; )
      written += (await this.#file.write(bytes, written, bytes.length - written, this.#length + written))
        .bytesWritten;
    await this.#file.datasync();
    this.#length += bytes.length;
    return String(this.#length);
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }
}

function headerOf(schema: Batched["schema"]): string {
  const quoted = schema.map(({ name }) => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
  return ["number", "weight", ...quoted].join(",");
}
