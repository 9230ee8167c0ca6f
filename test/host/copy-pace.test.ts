import assert from "node:assert/strict";
import { test } from "node:test";
import { CopyPace } from "#src/host/head/copy-pace.js";
import { largest } from "#src/host/wire/pieces.js";

const SMALL = 16_384;

/** A host in virtual time whose pieces take so long there and back. */
class Copying {
  now = 0;
  readonly pace: CopyPace;
  #later: (() => void) | null = null;

  constructor() {
    const at = (time: number, task: () => void) => {
      this.#later = () => {
        this.now = time;
        task();
      };
    };
    this.pace = new CopyPace({ now: () => this.now, at, pieceBytes: SMALL });
  }

  /** So many pieces, one after the other. */
  copy(pieces: number, tripMs: (bytes: number) => number): { bytes: number; ms: number } {
    const from = this.now;
    let total = 0;
    for (let piece = 0; piece < pieces; piece++) {
      const { bytes } = this.pace;
      let mayGoOn = false;
      this.pace.begins();
      this.now += tripMs(bytes);
      this.pace.arrived(bytes, () => {
        mayGoOn = true;
      });
      if (!mayGoOn) this.rest(); // hosts have time for events first
      assert.ok(mayGoOn);
      total += bytes;
    }
    return { bytes: total, ms: this.now - from };
  }

  rest(): void {
    const later = this.#later;
    this.#later = null;
    later?.();
  }
}

test("pieces become large, and follow each other at once, where hosts have room", () => {
  const { bytes, ms } = new Copying().copy(200, (size) => 0.2 + size / 4e5); // 400 MB/s, and 0.2 ms on the way
  assert.ok(bytes / ms > 50_000, `${bytes / ms} bytes per millisecond`);
});

test("pieces are small where events wait, and hosts have as long for events alone", () => {
  const copying = new Copying();
  copying.copy(50, () => 0.2);
  assert.equal(copying.pace.bytes, largest(SMALL));
  const { bytes, ms } = copying.copy(50, () => 10);
  assert.equal(copying.pace.bytes, SMALL);
  assert.ok(ms >= 50 * 10 + 49 * 10);
  assert.ok(bytes < 80 * SMALL);
  copying.copy(50, () => 0.2); // and large again when there is room
  assert.equal(copying.pace.bytes, largest(SMALL));
});

test("short pieces say nothing about room for large ones", () => {
  const { pace } = new Copying();
  for (let i = 0; i < 20; i++) {
    pace.begins();
    pace.arrived(100, () => {});
  }
  assert.equal(pace.bytes, SMALL);
});
