import assert from "node:assert/strict";
import { test } from "node:test";
import { ByTicket } from "#src/host/event/by-ticket.js";
import { Random } from "#src/random.js";

test("what belongs to a ticket is found again, however many there are and however long one takes", () => {
  const random = new Random(1);
  const [table, expected] = [new ByTicket<{ n: number }>(), new Map<number, { n: number }>()];
  let ticket = 0;
  for (const atMost of [10, 3000, 200_000, 100]) {
    for (let i = 0; i < 30_000; i++) {
      ticket += 1;
      const item = { n: ticket };
      table.set(ticket, item);
      expected.set(ticket, item);
      if (random.chance(0.1)) {
        const again = ticket - random.int(2000);
        if (expected.has(again)) {
          expected.set(again, item);
          table.set(again, item);
        }
      }
      // Most end soon; the first ones stay for long.
      while (expected.size > atMost) {
        const gone = random.chance(0.9) ? ticket - random.int(50) : ([...expected.keys()].at(-1) ?? 0);
        table.delete(gone);
        expected.delete(gone);
        if (expected.size > 2 * atMost) {
          for (const old of expected.keys()) table.delete(old);
          expected.clear();
        }
      }
      const asked = Math.max(0, ticket - random.int(5000));
      assert.equal(table.get(asked), expected.get(asked));
    }
    assert.deepEqual(new Set(table.values()), new Set(expected.values()));
  }
});
