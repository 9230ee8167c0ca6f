import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Context,
  type Key,
  MemoryJournal,
  type Owned,
  owned,
  readonly,
  reads,
  run,
  type Service,
  tracked,
} from "headwater";
import { Gates } from "../gates.js";
import { refused } from "../refused.js";
import { Tally } from "./tally.js";

const gates = new Gates();

class Book extends Context<string> {
  tally = owned(() => new Tally(), { checkpointBytes: 3000 });
  names = tracked.set<string>();
  pages = this.children(Page);

  add(key: string, add: number) {
    this.names.add(key);
    return this.tally.apply(Tally.record(key, add));
  }
  addAll(adds: [string, number][]) {
    return adds.map(([key, add]) => this.tally.apply(Tally.record(key, add)));
  }
  fail(key: string, add: number) {
    this.tally.apply(Tally.record(key, add));
    throw new Error(`no ${key}`);
  }
  @readonly all() {
    return { ...this.tally.read((tally) => tally.tallied), position: this.tally.position };
  }
  @readonly lies() {
    this.tally.apply(Tally.record("lie", 1));
  }
  async slow(key: string) {
    this.tally.apply(Tally.record(key, 1));
    await gates.pass("slow");
    return this.tally.read((tally) => tally.tallied.sums[key]);
  }
  async givenUp(key: string) {
    this.tally.apply(Tally.record(key, 1));
    this.downgrade();
    await gates.pass("given up");
    return this.tally.read((tally) => tally.tallied.sums);
  }
  async turnPage(page: number) {
    this.tally.apply(Tally.record("turned", 1));
    return await this.pages(page).looksUp();
  }
  /** Not bytes, too many of them, and everything else that an owned field does not take. */
  wrong(how: "text" | "large" | "async" | "inside" | "replaced" | "given") {
    if (how === "text") this.tally.apply("text" as unknown as Uint8Array);
    if (how === "large") this.tally.apply(Buffer.alloc(16 * 2 ** 20 + 1));
    if (how === "async") void this.tally.read(async (tally) => tally.tallied);
    if (how === "inside") this.tally.read(() => this.tally.apply(Tally.record("inside", 1)));
    if (how === "replaced") this.tally = new Tally() as unknown as Owned<Tally>;
    return how === "given" ? this.tally : null;
  }
}

class Page extends Context<number> {
  @reads(Book)
  looksUp(): number {
    return this.event.read(Book).tally.position;
  }
  @reads(Book)
  through() {
    const { tally } = this.event.read(Book) as unknown as Book;
    return tally.read((each) => each.tallied);
  }
}

class Shelf extends Context {
  books = this.children(Book);

  /** What the call below applied is undone, and this goes on. */
  async addUnlessFailing(book: string) {
    const results: unknown[] = [await this.books(book).add("a", 1)];
    results.push(
      await this.books(book)
        .fail("a", 100)
        .catch((error: Error) => error.message),
    );
    results.push(await this.books(book).add("a", 1));
    return results;
  }
  async failAfter(book: string) {
    await this.books(book).add("a", 1000);
    await this.books(book).addAll([
      ["b", 1000],
      ["c", 1000],
    ]);
    throw new Error("nothing of this");
  }
  async burn(book: string) {
    await this.event.delete(this.books(book));
  }
}

async function withShelf(
  act: (service: Service<Shelf>) => Promise<void>,
  journal?: MemoryJournal,
): Promise<void> {
  const service = await run(Shelf, journal === undefined ? {} : { journal });
  try {
    await act(service);
  } finally {
    await service.stop();
  }
}

test("events apply records, read the engine and are rolled back as if one ran at a time", async () => {
  await withShelf(async ({ root }) => {
    const book = root.books("a");
    assert.equal(await book.add("a", 1), 1);
    assert.deepEqual(
      await book.addAll([
        ["a", 2],
        ["b", 1],
        ["a", -3],
      ]),
      [3, 1, 0],
    );
    await assert.rejects(book.fail("b", 5), /no b/);
    const records = [
      ["a", 1],
      ["a", 2],
      ["b", 1],
      ["a", -3],
    ].map(([key, add]) => Tally.record(String(key), Number(add)));
    assert.deepEqual(await book.all(), { ...Tally.of(records), position: 4 });
    assert.deepEqual(await root.addUnlessFailing("c"), [1, "no a", 2]);
    await assert.rejects(root.failAfter("c"), /nothing of this/);
    assert.deepEqual((await root.books("c").all()).sums, { a: 2 });
    assert.equal((await root.books("c").all()).position, 2);
  });
});

test("an event that is still running keeps others out; its rollback takes the engine back", async () => {
  await withShelf(async ({ root }) => {
    const book = root.books("a");
    const slow = book.slow("s");
    await gates.reached("slow");
    const later = [book.add("s", 1), book.fail("s", 7).catch(() => "failed"), book.add("s", 1), book.all()];
    gates.open("slow");
    assert.equal(await slow, 1);
    const [second, failed, third, all] = await Promise.all(later);
    assert.deepEqual([second, failed, third], [2, "failed", 3]);
    assert.equal((all as { position: number }).position, 3);
  });
});

test("an event that has given the context up reads the engine as it was then, and later events as it is", async () => {
  await withShelf(async ({ root }) => {
    const book = root.books("a");
    await book.add("a", 1);
    const givenUp = book.givenUp("b");
    await gates.reached("given up");
    const later = [book.add("c", 1), book.add("c", 1)];
    await new Promise(setImmediate); // they run while the first one still looks at what it gave up
    gates.open("given up");
    assert.deepEqual(await givenUp, { a: 1, b: 1 });
    assert.deepEqual(await Promise.all(later), [1, 2]);
    assert.equal(await book.add("c", 1), 3);
    assert.deepEqual((await book.all()).sums, { a: 1, b: 1, c: 3 });
  });
});

test("an engine that throws keeps nothing of the record and is built again", async () => {
  await withShelf(async ({ root }) => {
    const book = root.books("a");
    await book.addAll([
      ["a", 1],
      ["b", 2],
    ]);
    await assert.rejects(book.add("throw", 1), /this tally throws/);
    assert.deepEqual(await book.all(), {
      ...Tally.of([Tally.record("a", 1), Tally.record("b", 2)]),
      position: 2,
    });
  });
});

test("what an owned field does not take is refused and changes nothing", async () => {
  await withShelf(async ({ root }) => {
    const book = root.books("a");
    await book.add("a", 1);
    await refused(book.wrong("text"), "HW-1109", "no Uint8Array");
    await refused(book.wrong("large"), "HW-1109", "16777217 bytes");
    await refused(book.wrong("async"), "HW-1110", "async function");
    await refused(book.wrong("inside"), "HW-1110", "while it");
    await refused(book.wrong("replaced"), "HW-1101", "tally");
    await refused(book.wrong("given"), "HW-1006", "an owned engine");
    await refused(book.lies(), "HW-1010", "tally");
    assert.deepEqual((await book.all()).sums, { a: 1 });
    assert.equal(await book.turnPage(1), 2);
    assert.equal(await book.pages(1).looksUp(), 2);
    await refused(book.pages(1).through(), "HW-1111", "through a view");
  });
});

test("an engine comes back from the journal after a restart, with and without checkpoints behind it", async () => {
  const journal = new MemoryJournal();
  const records: Uint8Array[] = [];
  for (let life = 0; life < 6; life++) {
    await withShelf(async ({ root }) => {
      const book = root.books("a");
      const position = records.length;
      assert.deepEqual(await book.all(), { ...Tally.of(records), position });
      const adds: Promise<unknown>[] = [];
      for (let i = 0; i < 7 + life; i++) {
        adds.push(
          book.add(`key ${i % 4}`, i),
          book.fail("x", 1).catch(() => {}),
        );
        records.push(Tally.record(`key ${i % 4}`, i));
      }
      await Promise.all(adds); // they share groups of the journal
      assert.deepEqual(await book.all(), { ...Tally.of(records), position: records.length });
    }, journal);
  }
  const keys = [...journal.range("")].map(([key]) => key);
  assert.ok(keys.some((key) => key.endsWith("\0k")));
  assert.ok(keys.filter((key) => /\0r\d+$/.test(key)).length < records.length);
});

test("a deleted context begins anew, in memory and in the journal", async () => {
  const journal = new MemoryJournal();
  await withShelf(async ({ root }) => {
    for (let i = 0; i < 20; i++) await root.books("a").add(`${i}`, 1);
    await root.burn("a");
    assert.equal((await root.books("a").all()).position, 0);
    assert.equal(await root.books("a").add("a", 1), 1);
    await root.burn("a");
  }, journal);
  assert.ok(![...journal.range("d/")].some(([key]) => key.includes("tally")));
  await withShelf(async ({ root }) => {
    assert.equal((await root.books("a").all()).position, 0);
  }, journal);
});

test("contexts that are let go of are loaded again with their engines, and the memory of those is free", async () => {
  const journal = new MemoryJournal();
  const service = await run(Shelf, { journal, limits: { contexts: 4 } });
  const { root } = service;
  const { made } = Tally;
  for (let round = 1; round <= 3; round++) {
    for (let i = 0; i < 40; i++) assert.equal(await root.books(`${i}`).add("a", 1), round);
  }
  assert.ok(Tally.made - made >= 100, `${Tally.made - made} engines were made`);
  await service.stop();
});

test("an engine that cannot be declared or used like that is refused before anything runs", async () => {
  class Inside extends Context<Key> {
    list = [owned(() => new Tally())];
  }
  await refused(run(Inside as never), "HW-1102", "owned engine");
  assert.throws(() => owned(() => new Tally()), { code: "HW-1102" });
});

test("two applies of the same event are two records, and a checkpoint in between is one of them all", async () => {
  const journal = new MemoryJournal();
  await withShelf(async ({ root }) => {
    const adds = Array.from({ length: 30 }, (_, i): [string, number] => [`${i % 3}`, 1]);
    await root.books("a").addAll(adds);
    await root.books("a").addAll(adds);
    await assert.rejects(root.failAfter("a"));
    assert.deepEqual((await root.books("a").all()).sums, { "0": 20, "1": 20, "2": 20 });
  }, journal);
  await withShelf(async ({ root }) => {
    assert.deepEqual((await root.books("a").all()).sums, { "0": 20, "1": 20, "2": 20 });
    assert.equal((await root.books("a").all()).position, 60);
  }, journal);
});
