import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryJournal, run } from "headwater";
import { Random } from "#src/random.js";
import { ask, checkLook, checkSettled } from "./checks.js";
import { Groups } from "./groups.js";
import House from "./programs/house.js";

test("views are as of the ticket, rows and results come once, whatever fails, at any time, with many events at once", async () => {
  for (let seed = 0; seed < 4; seed++) {
    const random = new Random(seed);
    await using service = await run(House, seed % 2 === 0 ? {} : { journal: new MemoryJournal() });
    for (let round = 0; round < 12; round++) {
      const asked = Array.from({ length: random.int(8) }, (_, i) => ask(service, random, `${round}.${i}`));
      const looks = Array.from({ length: random.int(3) }, async () => checkLook(await service.root.look()));
      await Promise.all([...asked, ...looks]);
    }
    await service.idle();
    const { allBids } = await checkSettled(service);
    assert.ok(allBids.length > 20, `${allBids.length} bids`);
  }
});

test("killed after any group of the journal, the program goes on with every row and every result once", async () => {
  let checkpoints = 0;
  for (let seed = 0; seed < 4; seed++) {
    const random = new Random(100 + seed);
    const journal = new Groups();
    const service = await run(House, { journal });
    /** By id: how many groups there were when it was acknowledged. */
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < 25; round++)
      await Promise.all(
        Array.from({ length: 1 + random.int(8) }, async (_, i) => {
          for (const id of await ask(service, random, `${round}.${i}`))
            acknowledged.set(id, journal.groups.length);
        }),
      );
    await service.idle();
    await service.stop();
    checkpoints += journal.groups.flat().filter(({ key }) => key.endsWith("\0k")).length;
    const cuts = Array.from({ length: 8 }, () => random.int(journal.groups.length + 1));
    for (const cut of [...cuts, journal.groups.length]) {
      await using again = await run(House, { journal: journal.first(cut) });
      await again.idle();
      const { bids } = await checkSettled(again);
      for (const [id, groups] of acknowledged)
        if (groups <= cut) assert.ok(bids.includes(id), `seed ${seed}: ${id} was acknowledged before ${cut}`);
      await ask(again, random, "later");
      await again.idle();
      await checkSettled(again);
    }
  }
  assert.ok(checkpoints > 3, `${checkpoints} checkpoints`);
});
