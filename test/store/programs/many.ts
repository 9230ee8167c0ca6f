import { Context, readonly, run, tracked } from "headwater";

/**
 * A program with many contexts. `many.ts fill JOURNAL COUNT` makes them, the first half with a text of 1 kB each;
 * `many.ts first JOURNAL` answers one event and says how long after the start of the process; `many.ts touch JOURNAL COUNT
 * LIMIT` goes through the first half with at most `LIMIT` in memory, and says by how much the memory in use has grown.
 */

const AT_ONCE = 5000;

class Item extends Context<number> {
  text = "";
  changes = 0;
  tags = tracked.set<string>();

  change(text: string) {
    this.text = text;
    this.changes += 1;
    return this.changes;
  }

  @readonly size() {
    return this.text.length;
  }
}

class Shelf extends Context<number> {
  items = this.children(Item);

  async changeAll(count: number, text: string) {
    for (let i = 0; i < count; i++) await this.items(i).change(text);
  }
}

class Store extends Context {
  shelves = this.children(Shelf);
}

const [mode, journal = "", written = "1", limit = "1000"] = process.argv.slice(2);
const count = Number(written);

async function fill(): Promise<void> {
  const service = await run(Store, { journal, durability: "written", limits: { contexts: 2 * AT_ONCE } });
  for (let shelf = 0; shelf * AT_ONCE < count; shelf++) {
    const text = shelf * AT_ONCE * 2 < count ? "x".repeat(1024) : "short";
    await service.root.shelves(shelf).changeAll(Math.min(AT_ONCE, count - shelf * AT_ONCE), text);
  }
  await service.stop();
  process.send?.({ made: count });
}

async function first(): Promise<void> {
  const service = await run(Store, { journal });
  const changes = await service.root.shelves(1).items(7).change("another text");
  process.send?.({ changes, ms: Math.round(performance.now()) });
  await service.stop();
}

async function touch(): Promise<void> {
  const service = await run(Store, { journal, durability: "written", limits: { contexts: Number(limit) } });
  const used = () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  let bytes = 0;
  let most = 0;
  for (let shelf = 0; shelf * AT_ONCE * 2 < count; shelf++) {
    const { items } = service.root.shelves(shelf);
    for (let from = 0; from < AT_ONCE; from += 100) {
      const sizes = await Promise.all(Array.from({ length: 100 }, (_, i) => items(from + i).size()));
      bytes += sizes.reduce((sum, size) => sum + size, 0);
    }
    await items(0).change("another text");
    if (shelf % 4 === 0) most = Math.max(most, used() - before);
  }
  process.send?.({ bytes, grown: Math.max(most, used() - before) });
  await service.stop();
}

await { fill, first, touch }[mode as "fill" | "first" | "touch"]();
process.disconnect?.();
