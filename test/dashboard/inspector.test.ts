import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hostsOf, MemoryJournal, run } from "headwater";
import { inspectorOf } from "#src/host/service.js";
import Shop from "./programs/shop.js";

const module = new URL("./programs/shop.ts", import.meta.url).href;

const PLACES = {
  "in one thread": {},
  "in one thread with a journal": { journal: new MemoryJournal() },
  "on two hosts": { hosts: 2, module },
  "on two hosts with a journal": { hosts: 2, module, journal: new MemoryJournal() },
} as const;

for (const [place, options] of Object.entries(PLACES)) {
  describe(`the contexts of a program ${place}`, () => {
    test("are listed a page at a time, and shown with their state", async () => {
      await using service = await run(Shop, options);
      const { root } = service;
      for (let i = 0; i < 25; i++) await root.shelves(i).put(`item ${i}`, i);
      await root.till.take(5);
      const inspector = inspectorOf(service);
      assert.deepEqual(inspector.roots, ["Shop"]);
      const { className, children, fields } = inspector.outline("Shop");
      assert.deepEqual([className, fields], ["Shop", ["names"]]);
      assert.deepEqual(children, [
        { field: "shelves", className: "Shelf", isSingle: false },
        { field: "till", className: "Till", isSingle: true },
      ]);
      const found: string[] = [];
      for (let after: string | undefined; ; after = found.at(-1)) {
        const page = inspector.children("Shop", "shelves", { limit: 10, ...(after ? { after } : {}) });
        found.push(...page.addresses);
        if (!page.hasMore) break;
      }
      const all = Array.from({ length: 25 }, (_, i) => `Shop.shelves(${i})`);
      assert.deepEqual(found.toSorted(), all.toSorted());
      assert.deepEqual(JSON.parse(await inspector.state("Shop.shelves(7)", 1000)), {
        items: { $map: [["item 7", 7]] },
        note: "",
      });
      assert.deepEqual(JSON.parse(await inspector.state("Shop.till", 1000)), { cents: { $bigint: "5" } });
    });

    test("are not made or changed by being looked at", async () => {
      await using service = await run(Shop, {
        ...options,
        ...("journal" in options ? { journal: new MemoryJournal() } : {}),
      });
      const inspector = inspectorOf(service);
      assert.deepEqual(JSON.parse(await inspector.state("Shop.shelves(1)", 1000)), {
        items: { $map: [] },
        note: "",
      });
      assert.deepEqual(inspector.children("Shop", "shelves"), { addresses: [], hasMore: false });
    });
  });
}

test("a state is cut where its bytes end, and says how much is left out", async () => {
  await using service = await run(Shop);
  for (let i = 0; i < 1000; i++) await service.root.shelves(1).put(`item ${i}`, i);
  const text = await inspectorOf(service).state("Shop.shelves(1)", 1000);
  assert.ok(text.length < 3000, String(text.length));
  const { items } = JSON.parse(text) as { items: { $map: unknown[] } };
  const cut = items.$map.at(-1) as { $cut: number };
  assert.equal(items.$map.length - 1 + cut.$cut, 1000);
});

test("a host that is killed for a trial is replaced, and nothing is lost", async () => {
  await using service = await run(Shop, {
    hosts: 2,
    module,
    journal: new MemoryJournal(),
    onWarning: () => {},
  });
  const hosts = hostsOf(service);
  await service.root.shelves(1).put("a", 1);
  hosts.kill(hosts.where("Shop.shelves(1)"));
  assert.equal(await service.root.shelves(1).put("b", 2), 2);
  assert.equal(
    hosts.list().reduce((sum, { restarts }) => sum + restarts, 0),
    1,
  );
});
