import type { OperatorState } from "./state.js";

/** A few numbers that are part of an operator's state. */
export class Registers implements OperatorState {
  readonly values: Float64Array;
  #written: string | null = null;

  constructor(...initial: readonly number[]) {
    this.values = Float64Array.from(initial);
  }

  get memoryBytes(): number {
    return this.values.byteLength;
  }

  base(): Buffer {
    const bytes = Buffer.from(Uint8Array.from(Buffer.from(this.values.buffer)));
    this.#written = bytes.toString("latin1");
    return bytes;
  }

  delta(): Buffer | null {
    return Buffer.from(this.values.buffer).toString("latin1") === this.#written ? null : this.base();
  }

  load(bytes: Buffer): void {
    new Uint8Array(this.values.buffer).set(bytes);
    this.#written = bytes.toString("latin1");
  }
}
