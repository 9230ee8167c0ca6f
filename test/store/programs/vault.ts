import { createHash } from "node:crypto";
import { Context, readonly, tracked } from "headwater";

/** What a safe holds, as digests. */
export interface Digest {
  readonly plain: string;
  readonly entries: readonly (readonly [key: string, digest: string])[];
  readonly items: readonly string[];
}

export function digestOf(bytes: Uint8Array | null): string {
  return bytes === null ? "" : createHash("sha256").update(bytes).digest("base64");
}

/** Keeps bytes in every way in which a context can keep some. */
class Safe extends Context<number> {
  plain: Uint8Array | null = null;
  entries = tracked.map<string, Uint8Array>();
  items = tracked.list<Uint8Array>();

  hold(_: string, bytes: Uint8Array) {
    this.plain = bytes;
  }

  put(key: string, bytes: Uint8Array) {
    this.entries.set(key, bytes);
  }

  push(_: string, bytes: Uint8Array) {
    this.items.push(bytes);
    if (this.items.length > 3) this.items.shift();
  }

  /** The bytes travel as the argument of an event that the journal keeps until it has committed. */
  startPut(key: string, bytes: Uint8Array) {
    this.event.start(this.above(Safe)).put(key, bytes);
  }

  take(key: string) {
    const bytes = this.entries.get(key);
    this.entries.delete(key);
    return bytes ?? null;
  }

  @readonly get(key: string) {
    return this.entries.get(key) ?? null;
  }

  @readonly digest(): Digest {
    return {
      plain: digestOf(this.plain),
      entries: [...this.entries].map(([key, bytes]) => [key, digestOf(bytes)] as const),
      items: [...this.items].map(digestOf),
    };
  }

  @readonly all() {
    return { plain: this.plain, entries: [...this.entries], items: [...this.items] };
  }

  @readonly where() {
    return process.pid;
  }
}

export default class Vault extends Context {
  safes = this.children(Safe);

  /** From one safe to another, which may be on another host. */
  async move(from: number, to: number, key: string) {
    const bytes = await this.safes(from).take(key);
    if (bytes !== null) await this.safes(to).put(key, bytes);
  }
}
