import assert from "node:assert/strict";
import { test } from "node:test";
import { Segments } from "#src/streams/graph/segments.js";
import fc from "../properties.js";

interface Naive {
  readonly first: number;
  readonly entries: number;
  readonly round: number;
  readonly timeMs: number;
  readonly bytes: string;
}

/** What a segment counts for, as far as this test knows: found by appending one. */
const OVERHEAD = (() => {
  const log = new Segments();
  log.append(Buffer.alloc(0), 1, 1, 1);
  return log.bytes;
})();

const step = fc.oneof(
  fc.record({
    kind: fc.constant("append" as const),
    // Small ones share buffers, large ones do not.
    length: fc.oneof(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 900, max: 3000 })),
    entries: fc.integer({ min: 1, max: 5 }),
  }),
  fc.record({ kind: fc.constant("trim" as const), bytes: fc.nat(9000), ageMs: fc.nat(30) }),
  fc.record({ kind: fc.constant("hold" as const), back: fc.nat(20), bytes: fc.nat(9000) }),
  fc.record({ kind: fc.constant("checkpoint" as const), isTight: fc.boolean() }),
  fc.record({ kind: fc.constant("kill" as const) }),
);

test("a log of segments reads, trims and comes back as a plain list would", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: "max" }), (steps) => {
      let log = new Segments();
      let kept: Naive[] = [];
      let saved = { kept: [...kept], next: 1, position: log.position };
      const parts = new Map<string, Uint8Array>();
      let next = 1;
      for (const [i, each] of steps.entries()) {
        if (each.kind === "append") {
          const bytes = Buffer.alloc(each.length, i);
          log.append(bytes, each.entries, i, i);
          kept.push({
            first: next,
            entries: each.entries,
            round: i,
            timeMs: i,
            bytes: bytes.toString("hex"),
          });
          next += each.entries;
        } else if (each.kind === "trim" || each.kind === "hold") {
          const held =
            each.kind === "hold"
              ? { from: next - each.back, bytes: each.bytes }
              : { from: Number.POSITIVE_INFINITY, bytes: 0 };
          const [bytesMax, olderThanMs] = each.kind === "hold" ? [0, 0] : [each.bytes, i - each.ageMs];
          const dropped = log.trim(bytesMax, olderThanMs, held);
          const gone: Naive[] = [];
          for (let [oldest] = kept; oldest !== undefined; [oldest] = kept) {
            const size = kept.reduce((sum, { bytes }) => sum + bytes.length / 2 + OVERHEAD, 0);
            if (size <= bytesMax && oldest.timeMs >= olderThanMs) break;
            if (size <= held.bytes && oldest.first + oldest.entries > held.from) break;
            gone.push(...kept.splice(0, 1));
          }
          assert.deepEqual(dropped.map(plain), gone);
        } else if (each.kind === "checkpoint") {
          log.isTight = each.isTight;
          for (const [name, bytes] of log.checkpoint("log/"))
            if (bytes === null) parts.delete(name);
            else parts.set(name, bytes);
          if (each.isTight) {
            const written = [...parts.values()].reduce((sum, { length }) => sum + length, 0);
            const live = kept.reduce((sum, { bytes }) => sum + bytes.length / 2 + 34, 0);
            assert.ok(written <= 2 * live + 32, `${written} bytes stand for ${live}`);
          }
          saved = { kept: [...kept], next, position: log.position };
        } else {
          log = new Segments();
          log.load(saved.position, [...parts.values()]);
          kept = [...saved.kept];
          next = saved.next;
        }
        assert.equal(log.next, next);
        assert.equal(log.first, kept[0]?.first ?? log.first);
        assert.equal(
          log.bytes,
          kept.reduce((sum, { bytes }) => sum + bytes.length / 2 + OVERHEAD, 0),
        );
        assert.deepEqual(log.all.map(plain), kept);
        const [from, most] = [next - 1 - (i % 17), 500 + 40 * i];
        const found = kept.filter(({ first, entries }) => first + entries > from);
        let [size, count] = [0, 0];
        for (const { bytes } of found) {
          size += bytes.length / 2;
          if (count > 0 && size > most) break;
          count++;
        }
        assert.deepEqual(log.read(from, most).map(plain), found.slice(0, count));
      }
    }),
    { numRuns: 200 },
  );
});

function plain({ bytes, ...rest }: Omit<Naive, "bytes"> & { readonly bytes: Buffer }): Naive {
  return { ...rest, bytes: bytes.toString("hex") };
}
