import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { hostsOf, type RunOptions, run, type Service } from "headwater";
import type { Ticket } from "#src/core/event.js";
import { Slot } from "#src/host/context/slot.js";
import { DEFAULT_LIMITS } from "#src/host/ports/limits.js";
import { HostSite } from "#src/host/site/site.js";
import { Inbox } from "#src/host/wire/inbox.js";
import { Outbox } from "#src/host/wire/outbox.js";
import type { ToHost } from "#src/host/wire/wire.js";
import { Reference } from "#src/model/refs.js";
import Archive from "./programs/archive.js";

const module = new URL("./programs/archive.ts", import.meta.url).href;
const [BOOKS, PAGES, IN_MEMORY] = [12, 40, 30];

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-eviction-"));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

function archive(journal: string, options: RunOptions): Promise<Service<Archive>> {
  return run(Archive, { journal, module, durability: "written", ...options });
}

function inMemory(service: Service<Archive>): number {
  return hostsOf(service)
    .list()
    .reduce((sum, { contexts }) => sum + contexts, 0);
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  await new Promise(setImmediate);
  (runInNewContext("gc") as () => void)();
}

function* named(slot: Slot): Iterable<Slot> {
  yield slot;
  for (const child of slot.made()) yield* named(child);
}

const all = (count: number) => Array.from({ length: count }, (_, i) => i);

test("hosts keep the contexts that were used last, and load the others when they are used", async (t) => {
  const journal = await folder(t);
  const limits = { contexts: IN_MEMORY };
  const service = await archive(journal, { hosts: 2, limits });
  const { root } = service;
  assert.deepEqual(
    await Promise.all(all(BOOKS).map((book) => root.books(book).writeAll(PAGES, "first"))),
    all(BOOKS).map(() => PAGES),
  );
  for (let page = 0; page < PAGES; page += 7) await root.writeOn(page, all(BOOKS), "a longer text");
  for (let book = 0; book < BOOKS; book++) {
    for (let page = 0; page < PAGES; page++) {
      const isSecond = page % 7 === 0;
      assert.deepEqual(await root.books(book).pages(page).read("one"), {
        bytes: isSecond ? 13 : 5,
        changes: isSecond ? 2 : 1,
        readers: ["one"],
      });
      assert.ok(inMemory(service) <= IN_MEMORY + 2, `${inMemory(service)} contexts are in memory`);
    }
  }
  await collectGarbage();
  const names = [...named(Reference.addressOf(root) as Slot)].length;
  assert.ok(names < BOOKS + 2 * IN_MEMORY, `the head has ${names} names`);

  // What has left a host is as good as what is there: it moves, and goes on elsewhere.
  const hosts = hostsOf(service);
  await hosts.move(root.books(3), 1 - hosts.where(root.books(3)));
  await hosts.add();
  await hosts.remove(0);
  for (const page of all(PAGES)) {
    const { readers } = await root.books(3).pages(page).read("two");
    assert.deepEqual(readers.sort(), ["one", "two"]);
  }
  assert.equal(await root.books(3).writeAll(1, "third"), PAGES + 1);
  await service.stop();

  await using again = await archive(journal, {});
  assert.deepEqual(await again.root.books(3).pages(0).read("three"), {
    bytes: 5,
    changes: 3,
    readers: ["one", "two", "three"],
  });
});

test("the contexts of a host need not fit into its memory", async (t) => {
  const [pages, bytes, hostHeapMb] = [800, 150_000, 64]; // 120 MB
  const options: RunOptions = { hosts: 1, hostsAs: "processes", hostHeapMb, limits: { contexts: 40 } };
  await using service = await archive(await folder(t), options);
  const { pages: page } = service.root.books(1);
  const host = await page(0).host();
  for (let i = 0; i < pages; i++) await page(i).write(String(i % 10).repeat(bytes));
  let read = 0;
  for (let i = 0; i < pages; i++) read += (await page(i).read("one")).bytes;
  assert.equal(read, pages * bytes);
  assert.equal(await page(0).host(), host, "the host has ended in between");
});

test("a host forgets the names of contexts that it was told to evict", async () => {
  const classes = { Archive };
  const limits = DEFAULT_LIMITS;
  const ports = { soon: queueMicrotask, atRest: queueMicrotask, send: () => true, broken: assert.ifError };
  const site = new HostSite(classes, ports, { limits, isDurable: true });
  const head = new Slot("Archive", null, null, undefined, Archive);
  const outbox = new Outbox<ToHost>();
  const inbox = new Inbox<ToHost>(
    () => site.roots,
    (message) => site.receive(message),
  );
  const bookOf = (root: Slot, key: number) => root.child(root.shape.slots[0] as never, key);
  const asked = {
    attempt: 1,
    time: 1,
    steadyMs: 1,
    args: [0, ""],
    caller: null,
    origin: { kind: "request" },
  } as const;
  const rest = { seen: [], isAlone: true, after: null } as const;
  for (let key = 0; key < 3000; key++) {
    const slot = bookOf(head, key);
    const method = slot.shape.methods.get("writeAll");
    assert.ok(method !== undefined);
    outbox.add({
      kind: "run",
      slot,
      method,
      ticket: key as Ticket,
      ...asked,
      args: [...asked.args],
      ...rest,
    });
  }
  const pass = async () => {
    inbox.open(outbox.batch(0));
    while (inbox.next());
    await collectGarbage();
  };
  const root = site.roots.get("Archive") as Slot;
  await pass();
  assert.equal([...root.made()].filter(({ exists }) => exists).length, 3000);
  for (let key = 10; key < 3000; key++) outbox.add({ kind: "evict", slot: bookOf(head, key) });
  await pass();
  await pass();
  assert.equal([...root.made()].filter(({ exists }) => exists).length, 10);
  assert.ok([...root.made()].length < 100, `${[...root.made()].length} names are left`);
});
