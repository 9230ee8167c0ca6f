import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, MemoryJournal, run } from "headwater";
import { DOOR } from "#src/model/door.js";
import { until } from "../server/town.js";

/** What a journal keeps for clients, and when it ceases to. */

class Post extends Context {
  tell(client: string, text: string) {
    this.event.send(client, text);
  }
}

const keysOf = (journal: MemoryJournal, prefix: string) => [...journal.range(prefix)].map(([key]) => key);

/** Runs the program until it ends without a word, as in a crash: nobody leaves. */
async function crashedWith(journal: MemoryJournal, clients: readonly string[]): Promise<void> {
  const service = await run(Post, { journal });
  for (const client of clients) service[DOOR].listen(client, () => {});
  await service.root.tell("nobody", "");
  await service.stop();
}

test("a client that was connected at a crash and does not come back is forgotten, also if nothing is kept for it", async () => {
  const journal = new MemoryJournal();
  await crashedWith(journal, ["ada", "ben"]);
  assert.deepEqual(keysOf(journal, "k/"), ["k/ada", "k/ben"]);
  const service = await run(Post, { journal, limits: { messagesMs: 20 } });
  const ada = service[DOOR].listen("ada", () => {});
  assert.equal(ada.isComplete, true);
  await until(() => keysOf(journal, "k/").length === 1);
  assert.deepEqual(keysOf(journal, "k/"), ["k/ada"], "the one that came back is known");
  ada.leave();
  await until(() => keysOf(journal, "k/").length === 0);
  await service.stop();
});

test("for a client that is away since before a restart no more is kept than stated, in bytes", async () => {
  const journal = new MemoryJournal();
  await crashedWith(journal, ["ada", "ben"]);
  const service = await run(Post, { journal, limits: { messageBytesPerClient: 50_000 } });
  await service.root.tell("ben", "short");
  for (let i = 0; i < 20; i++) await service.root.tell("ada", "x".repeat(5000));
  await service.root.tell("ben", "last"); // what is not needed any more is written along with later events
  assert.deepEqual(keysOf(journal, "k/"), ["k/ben"]);
  assert.equal(
    service[DOOR].listen("ada", () => {}).isComplete,
    false,
    "it hears that it has missed something",
  );
  const heard: unknown[] = [];
  assert.equal(service[DOOR].listen("ben", (message) => heard.push(message)).isComplete, true);
  await until(() => heard.length === 2);
  assert.deepEqual(heard, ["short", "last"]);
  await service.stop();
  const bytes = [...journal.range("m/")].reduce((sum, [, value]) => sum + value.length, 0);
  assert.ok(bytes < 50_000, `${bytes} bytes`);
});

test("all clients together have a budget, and the one whose share is used up is given up", async () => {
  const journal = new MemoryJournal();
  const clients = ["ada", "ben", "cleo"];
  await crashedWith(journal, clients);
  const service = await run(Post, { journal, limits: { mailboxBytes: 60_000 } });
  await service.root.tell("ben", "short");
  for (let i = 0; i < 20; i++) await service.root.tell("ada", "x".repeat(5000));
  assert.deepEqual(keysOf(journal, "k/"), ["k/ben", "k/cleo"]);
  await service.stop();
});

test("messages of before a restart are read from the journal when they are handed over, in their order", async () => {
  const journal = new MemoryJournal();
  await crashedWith(journal, ["ada"]);
  const texts = Array.from({ length: 50 }, (_, i) => `${i}`);
  const second = await run(Post, { journal });
  for (const text of texts.slice(0, 30)) await second.root.tell("ada", text);
  await second.stop();
  const third = await run(Post, { journal });
  for (const text of texts.slice(30)) await third.root.tell("ada", text);
  const heard: unknown[] = [];
  third[DOOR].listen("ada", (message) => heard.push(message));
  await until(() => heard.length === 50);
  assert.deepEqual(heard, texts);
  await third.stop();
});
