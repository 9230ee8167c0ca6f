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
    this.pace = new CopyPace({ now: () => this.now, at, pieceBytes: SMALL, marks: undefined });
  }

  /** So many pieces, one after the other. */
  copy(pieces: number, tripMs: (bytes: number) => number): { bytes: number; ms: number } {
    const copy = { isVoid: false };
    const from = this.now;
    let total = 0;
    for (let piece = 0; piece < pieces; piece++) {
      let bytes = 0;
      this.pace.wait(copy, () => {
        bytes = this.pace.bytes;
      });
      if (bytes === 0) this.rest(); // a host that was slow has time for events first
      assert.ok(bytes > 0);
      total += bytes;
      this.now += tripMs(bytes);
      this.pace.arrived(copy, bytes);
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
  const copying = new Copying();
  const copy = { isVoid: false };
  for (let i = 0; i < 20; i++) {
    copying.pace.wait(copy, () => {});
    copying.pace.arrived(copy, 100);
  }
  assert.equal(copying.pace.bytes, SMALL);
});

test("one piece at a time goes to a host, copies take turns, and a copy that leaves holds up none", () => {
  const { pace } = new Copying();
  const log: string[] = [];
  const [a, b, c] = [{ isVoid: false }, { isVoid: false }, { isVoid: false }];
  pace.wait(a, () => log.push("a"));
  pace.wait(b, () => log.push("b"));
  pace.wait(c, () => log.push("c"));
  assert.deepEqual(log, ["a"]);
  pace.arrived(c, SMALL); // an answer to something older
  b.isVoid = true;
  pace.leave(a);
  assert.deepEqual(log, ["a", "c"]);
  pace.wait(a, () => log.push("a"));
  pace.arrived(c, SMALL);
  assert.deepEqual(log, ["a", "c", "a"]);
  pace.stop();
  pace.arrived(a, SMALL);
  pace.wait(b, () => log.push("b"));
  assert.deepEqual(log, ["a", "c", "a"]);
});
