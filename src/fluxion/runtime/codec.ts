import { DefaultDeserializer, DefaultSerializer } from "node:v8";
import { type ErrorFields, restoreFields } from "./error-fields.js";
import { check, REPAIR, type Repair } from "./fidelity.js";
import { StageRefusal } from "./refusal.js";
import { VIEWS } from "./views.js";

/**
 * Values as bytes, between the main loop and its workers. V8 writes them, with cycles and shared references; what it
 * would lose (`fidelity.ts`) goes along as a list of repairs, which are made to the copy in place.
 */

const BUFFER = VIEWS.length;

interface Bytes {
  writeUint32(value: number): void;
  writeRawBytes(bytes: Uint8Array): void;
}

class Writer extends DefaultSerializer {
  /** Called by V8 for what it does not know itself: views of memory. */
  _writeHostObject(view: ArrayBufferView): void {
    const bytes = this as unknown as Bytes;
    const kind = Buffer.isBuffer(view) ? BUFFER : (VIEWS as readonly unknown[]).indexOf(view.constructor);
    if (kind < 0) throw new StageRefusal("an object of the host cannot be copied");
    bytes.writeUint32(kind);
    bytes.writeUint32(view.byteLength);
    bytes.writeRawBytes(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  }
}

interface Reading {
  readUint32(): number;
  readRawBytes(length: number): Buffer;
}

class Reader extends DefaultDeserializer {
  _readHostObject(): ArrayBufferView {
    const bytes = this as unknown as Reading;
    const kind = bytes.readUint32();
    const read = bytes.readRawBytes(bytes.readUint32());
    if (kind === BUFFER) return Buffer.from(read); // its own memory: these bytes are not shared
    const memory = read.buffer.slice(read.byteOffset, read.byteOffset + read.byteLength);
    const View = (VIEWS[kind] ?? Uint8Array) as new (memory: unknown) => ArrayBufferView;
    return new View(memory);
  }
}

/** Throws a `StageRefusal` if the copy would not be what the value is. */
export function encode(value: unknown): Uint8Array {
  const repairs = check(value);
  const writer = new Writer();
  writer.writeHeader();
  try {
    writer.writeValue(repairs.length === 0 ? [value] : [value, repairs]);
  } catch (error) {
    throw new StageRefusal(`it cannot be copied: ${error instanceof Error ? error.message : String(error)}`);
  }
  return writer.releaseBuffer();
}

export function decode(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  reader.readHeader();
  const [value, repairs] = reader.readValue() as [unknown, (readonly Repair[])?];
  for (const [kind, of, fields] of repairs ?? []) repair(kind, of, fields);
  return value;
}

function repair(kind: Repair[0], of: object, fields: ErrorFields | undefined): void {
  switch (kind) {
    case REPAIR.nullPrototype:
      Object.setPrototypeOf(of, null);
      return;
    case REPAIR.error:
      if (fields !== undefined) restoreFields(of as Error, fields);
      return;
    case REPAIR.notExtensible:
      Object.preventExtensions(of);
      return;
    case REPAIR.sealed:
      Object.seal(of);
      return;
    case REPAIR.frozen:
      Object.freeze(of);
  }
}
