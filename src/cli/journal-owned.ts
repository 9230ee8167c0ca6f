import { jsonOf } from "./journal-values.js";

/**
 * What a journal has of owned engines (`host/context/stored-keys.ts`): bytes that mean nothing without the engine, even where
 * they look like data. They are shown with what is known of them.
 */

/** `d/NODE/ADDRESS NUL FIELD NUL`, then the kind of the entry. Entries of tracked collections are of other kinds. */
const OWNED = /^(d\/[^\0]*\0[^\0]*)\0([rpkg])(.*)$/s;

/** A key and its value as JSON. */
export function entryAsJson(key: string, value: Uint8Array): string {
  const [, , kind, name = ""] = OWNED.exec(key) ?? [];
  const base64 = () => Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  switch (kind) {
    case "r":
      return JSON.stringify({ $record: { position: Number(name), bytes: base64() } });
    case "p":
      return JSON.stringify({ $part: { name, bytes: base64() } });
    case "k":
      return JSON.stringify({ $checkpoint: checkpointIn(value) });
    case "g":
      return JSON.stringify({ $digest: digestIn(value) });
    default:
      return jsonOf(value);
  }
}

function checkpointIn(value: Uint8Array): { position: number; bytes: number } | null {
  const [position, bytes] = numbersIn(value) ?? [];
  return position === undefined || bytes === undefined ? null : { position, bytes };
}

function digestIn(value: Uint8Array): { position: number; digest: number } | null {
  const [position, digest] = numbersIn(value) ?? [];
  return position === undefined || digest === undefined ? null : { position, digest };
}

function numbersIn(value: Uint8Array): readonly [number, number] | null {
  if (value.byteLength !== 16) return null;
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  return [view.getFloat64(0, true), view.getFloat64(8, true)];
}

/** Adds up what a journal has of owned engines. Keys come in their order, so those of one engine come in a row. */
export class OwnedTotals {
  engines = 0;
  records = 0;
  recordBytes = 0;
  parts = 0;
  partBytes = 0;
  #last = "";

  add(key: string, bytes: number): void {
    const [, field, kind] = OWNED.exec(key) ?? [];
    if (field === undefined) return;
    if (field !== this.#last) this.engines += 1;
    this.#last = field;
    if (kind === "r") {
      this.records += 1;
      this.recordBytes += bytes;
    } else {
      this.parts += 1;
      this.partBytes += bytes;
    }
  }

  get facts(): Record<string, number> {
    const { engines, records, recordBytes, parts, partBytes } = this;
    return { engines, records, recordBytes, parts, partBytes };
  }

  toString(): string {
    const { engines, records, recordBytes, parts, partBytes } = this;
    return `${engines} engines: ${records} records, ${recordBytes} bytes; ${parts} parts of checkpoints, ${partBytes} bytes`;
  }
}
