import { CopiedFields } from "#src/cluster/copied-fields.js";
import { readWrites } from "#src/journal/log/frame.js";
import type { LogTap } from "#src/journal/stream/followed-table.js";
import type { LogPort } from "#src/journal/stream/log-port.js";
import { readMessage } from "#src/journal/stream/messages.js";
import { GraphEngine } from "#src/streams/graph/index.js";

/** Mistakes of a process that keeps copies, which digests have to show. */
export type CopyPlant = "skipped batch" | "digest of another record" | "part of another checkpoint";

const EACH = 9;

/** Now and then, it leaves a record out. */
class SkippingEngine extends GraphEngine {
  #records = 0;

  override apply(record: Uint8Array) {
    this.#records += 1;
    if (this.#records % EACH !== 0) return super.apply(record);
    return { refused: null, answers: [], grown: [], work: null, brought: new Map() };
  }
}

class SkippingFields extends CopiedFields {
  override at(key: string) {
    const found = super.at(key);
    if (found === null) return null;
    const [field, entry] = found;
    return [{ ...field, make: () => new SkippingEngine() }, entry] as const;
  }
}

export function fieldsOf(
  plant: CopyPlant | null,
  roots: ConstructorParameters<typeof CopiedFields>[0],
): CopiedFields {
  return plant === "skipped batch" ? new SkippingFields(roots) : new CopiedFields(roots);
}

/** Takes what was written for one record for the digest of the next. */
export class LateDigests implements LogTap {
  readonly #tap: LogTap;
  readonly #last = new Map<string, Uint8Array>();

  constructor(tap: LogTap) {
    this.#tap = tap;
  }

  write(key: string, value: Uint8Array | null): void {
    if (value === null || !key.endsWith("\0g")) return this.#tap.write(key, value);
    const planted = Buffer.from(value);
    planted.set(Buffer.from(this.#last.get(key) ?? value).subarray(8), 8);
    this.#last.set(key, value);
    this.#tap.write(key, planted);
  }

  applied(position: number): void {
    this.#tap.applied(position);
  }
}

/** Takes a part of each checkpoint for another. */
export class MixedParts implements LogTap {
  readonly #tap: LogTap;

  constructor(tap: LogTap) {
    this.#tap = tap;
  }

  write(key: string, value: Uint8Array | null): void {
    this.#tap.write(key, key.endsWith("p|graph") && value !== null ? Buffer.concat([value, value]) : value);
  }

  applied(position: number): void {
    this.#tap.applied(position);
  }
}

/** Gives the copies all messages, void messages of an earlier epoch included. */
export function followAll(port: LogPort, tap: LogTap): void {
  port.follow(0, {
    message: (message) => {
      const read = readMessage(message);
      if (read === null || read.head.kind !== "group") return;
      readWrites(read.content, (key, value) => tap.write(key, value === null ? null : Buffer.from(value)));
      tap.applied(message.position);
    },
    cut: () => {},
  });
}
