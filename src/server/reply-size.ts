/**
 * At least how many bytes a value takes when it is written as a reply. Stops counting above `enough`, so that it costs no more than a
 * look at what may be written.
 */
export function leastBytes(value: unknown, enough: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  return new Count(enough).object(value, 0).bytes;
}

/** Deeper values are refused when they are written. */
const DEPTH_MAX = 500;

class Count {
  bytes = 0;

  constructor(readonly enough: number) {}

  object(value: object, depth: number): this {
    this.bytes += 1;
    if (depth > DEPTH_MAX) return this;
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) this.bytes += value.byteLength;
    else if (value instanceof Map) this.#entries(value, depth);
    else if (Array.isArray(value) || value instanceof Set) this.#items(value, depth);
    else this.#fields(value as Record<string, unknown>, depth);
    return this;
  }

  #add(value: unknown, depth: number): void {
    if (typeof value === "string") this.bytes += 1 + value.length;
    else if (typeof value === "object" && value !== null) this.object(value, depth + 1);
    else this.bytes += 1;
  }

  #items(items: Iterable<unknown>, depth: number): void {
    for (const item of items) {
      if (this.bytes > this.enough) return;
      this.#add(item, depth);
    }
  }

  #entries(entries: Iterable<readonly [unknown, unknown]>, depth: number): void {
    for (const [key, item] of entries) {
      if (this.bytes > this.enough) return;
      this.#add(key, depth);
      this.#add(item, depth);
    }
  }

  #fields(fields: Record<string, unknown>, depth: number): void {
    for (const name of Object.keys(fields)) {
      if (this.bytes > this.enough) return;
      this.bytes += name.length;
      this.#add(fields[name], depth);
    }
  }
}
