import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import type { Journal } from "#src/journal/journal.js";
import { MESSAGE_BYTES_MAX } from "#src/journal/stream/messages.js";
import { conforms } from "../journal/conformance.js";
import { allOf, openIn, outcome, write } from "../journal/support.js";
import { NatsServers } from "../nats-servers.js";
import { refused } from "../refused.js";
import { until } from "../waits.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

let names = 0;
const newName = () => `${servers.address(names++ % 3)}/journal${names}`;

/** Small limits, so that all of the machinery is at work. */
const SMALL = { carryOver: { keys: 40, logBytes: 4000 }, takeOver: true };

conforms("three NATS servers", (t: TestContext) => openIn(t, newName(), SMALL));

describe("a journal on NATS servers", () => {
  test("has what was acknowledged when another process opens it, groups of several messages included", async (t) => {
    const address = newName();
    const first = await openIn(t, address, SMALL);
    const large = "x".repeat(3 * MESSAGE_BYTES_MAX);
    for (let i = 0; i < 100; i++) void write(first, { [`k${i % 30}`]: `${i}` });
    await write(first, { large, k0: null });
    const expected = allOf(first);
    await first.close();
    assert.deepEqual(allOf(await openIn(t, address, SMALL)), expected);
  });

  test("is refused while another process writes it, and taken over if that is asked for", async (t) => {
    const address = newName();
    const failures: string[] = [];
    const first = await openIn(t, address, { onFailure: ({ code }) => failures.push(code) });
    await write(first, { a: "1" });
    await refused(openIn(t, address), "HW-3024");
    await write(first, { b: "2" });
    const second = await openIn(t, address, { takeOver: true });
    await write(second, { c: "3" });
    await until(() => failures.length > 0); // though it writes nothing
    assert.equal(failures[0], "HW-3005");
    const late = await outcome(first, [{ key: "d", value: Buffer.from("4") }]);
    assert.equal(late?.code, "HW-3005");
    assert.equal((await outcome(first, []))?.code, "HW-3005");
    assert.deepEqual(allOf(second), { a: "1", b: "2", c: "3" });
  });

  test("goes on after its stream's leader was killed, and nothing that was acknowledged is lost", async (t) => {
    const address = newName();
    const journal = await openIn(t, address, SMALL);
    await write(journal, { before: "1" });
    const stream = `HEADWATER_journal${names}`;
    const leader = await servers.leaderOf(stream);
    assert.ok(leader >= 0);
    const acknowledged: Promise<number>[] = [];
    const appendSome = (from: number) => {
      for (let i = from; i < from + 20; i++) {
        acknowledged.push(write(journal, { [`k${i}`]: `${i}` }).then(() => i));
      }
    };
    appendSome(0);
    await servers.signal(leader, "SIGKILL");
    appendSome(20);
    const all = await Promise.all(acknowledged);
    assert.equal(all.length, 40);
    servers.resume(leader);
    const next: Journal = await openIn(t, address, SMALL);
    const found = allOf(next);
    for (const i of all) assert.equal(found[`k${i}`], `${i}`);
    assert.equal(Object.keys(found).length, 41);
  });

  test("belongs to one program and one format", async (t) => {
    const address = newName();
    const journal = await openIn(t, address, SMALL);
    await journal.close();
    const { openJournal } = await import("#src/journal/open.js");
    const open = (program: string, format: number) =>
      openJournal(address, { program, format }, { durability: "synced" });
    await refused(open("shop", 1), "HW-3002");
    await refused(open("bank", 2), "HW-3003");
  });

  test("is refused where it would not be safe", async (t) => {
    const alone = await NatsServers.start({ count: 1 });
    t.after(() => alone.stop());
    await refused(openIn(t, alone.address()), "HW-3104");
    await (await openIn(t, `${alone.address()}/main?replicas=1`)).close();
    const connection = await alone.connect();
    const { jetstreamManager, StorageType } = await import("@nats-io/jetstream");
    const manager = await jetstreamManager(connection);
    const [name, subjects] = ["HEADWATER_other", ["headwater.other.log"]];
    await manager.streams.add({ name, subjects, storage: StorageType.Memory });
    await refused(openIn(t, `${alone.address()}/other?replicas=1`), "HW-3104");
    await connection.close();
    for (const wrong of [
      "nats://",
      "nats://a:b@host",
      "nats://host/a.b",
      "nats://host?replicas=2",
      "nats://host?x=1",
    ])
      await refused(openIn(t, wrong), "HW-3101");
    await refused(openIn(t, "nats://127.0.0.1:1"), "HW-3102");
  });
});
