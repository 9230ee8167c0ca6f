import assert from "node:assert/strict";
import { test } from "node:test";
import { Share, shareOf } from "#src/model/share.js";
import { Random } from "#src/random.js";

test("whatever callers take, no more than the budget is taken, and each leaves half for others", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed);
    const total = 1000 + random.int(100_000);
    const budget = Share.of(total);
    const callers = 1 + random.int(6);
    const taken: { share: Share; bytes: number }[] = [];
    for (let step = 0; step < 400; step++) {
      if (taken.length > 0 && random.chance(0.3)) {
        const [each] = taken.splice(random.int(taken.length), 1);
        each?.share.give(each.bytes);
        continue;
      }
      const payer = { caller: `caller ${random.int(callers)}`, part: `part ${random.int(3)}` };
      const share = shareOf(budget, payer);
      const bytes = 1 + random.int(Math.ceil(total / 20));
      if (share.tryTake(bytes)) taken.push({ share, bytes });
      share.leave();
      assert.ok(budget.held <= total);
      const newcomer = shareOf(budget, { caller: "newcomer", part: "HTTP" });
      assert.ok(newcomer.room >= Math.floor(total / 2 ** callers / 3) - 1, `${newcomer.room} of ${total}`);
      newcomer.leave();
    }
    for (const { share, bytes } of taken) share.give(bytes);
    assert.equal(budget.held, 0);
  }
});

test("a caller has one share, however often it is asked for, as long as somebody uses it", () => {
  const budget = Share.of(1000);
  const kept = shareOf(budget, { caller: "ada", part: "1" });
  kept.take(10);
  kept.give(10);
  const other = shareOf(budget, { caller: "ada", part: "2" });
  other.take(100);
  assert.equal(kept.room, 266, "a third of what is free less what the caller holds");
});

test("a waiter is called once when something of its share is given back, and not when others give back", () => {
  const budget = Share.of(100);
  const [ada, ben] = ["ada", "ben"].map((caller) => shareOf(budget, { caller, part: "" })) as [Share, Share];
  ada.take(60);
  ben.take(10);
  let calls = 0;
  ben.within?.wait(() => {
    calls += 1;
  });
  ada.give(10);
  assert.equal(calls, 0);
  ben.give(5);
  ben.give(5);
  assert.equal(calls, 1);
});
