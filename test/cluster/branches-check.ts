import assert from "node:assert/strict";
import { BRANCHES, type Taken } from "./programs/branches.js";

/** Of each coin: that it was received, and the thanks for it. */
export const MESSAGES_PER_GIFT = 4;

/** What each branch has taken, after these gifts: each message once, and in the order in which one branch has sent them to another. */
export function checkTaken(taken: ReadonlyMap<string, readonly Taken[]>, gifts: readonly string[]): void {
  const all = [...taken.values()].flat().map(({ name }) => name);
  const expected = gifts.flatMap((each) => [0, 1].flatMap((n) => [`${each}/${n}`, `${each}/${n}/thanks`]));
  assert.deepEqual(all.sort(), expected.sort(), "every message becomes one event");
  for (const [to, list] of taken) {
    for (const from of BRANCHES) {
      const ofPair = list.filter((each) => each.from === from).sort((a, b) => a.takenBy - b.takenBy);
      let last = { sentBy: 0, name: "" };
      for (const each of ofPair) {
        const isInOrder = each.sentBy > last.sentBy || (each.sentBy === last.sentBy && each.name > last.name);
        assert.ok(isInOrder, `${to} took ${JSON.stringify(each)} of ${from} after ${JSON.stringify(last)}`);
        last = each;
      }
    }
  }
}
