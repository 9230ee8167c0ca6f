import type { Batched, OutputTarget } from "./target.js";

/** Rows as lines on stdout of the service's process, at least once: after a crash the last of them may come again, with their numbers. */
export class StdoutTarget implements OutputTarget {
  readonly format = "ndjson";
  readonly isKeyed = false;

  constructor(readonly write: (text: string) => Promise<void>) {}

  async send({ lines }: Batched): Promise<null> {
    await this.write(`${lines.join("\n")}\n`);
    return null;
  }

  async close(): Promise<void> {}
}
