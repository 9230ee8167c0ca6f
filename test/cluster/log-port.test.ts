import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import type { LogPort } from "#src/journal/stream/log-port.js";
import { natsAddress } from "#src/journal/stream/nats-address.js";
import { NatsLog } from "#src/journal/stream/nats-log.js";
import { Random } from "#src/random.js";
import { FINE, SimLog, SimStream } from "#src/sim/world/sim-log.js";
import { NatsServers } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { Chance, publish, readUpTo } from "./support.js";

/** What every log must do. Two ports of one log are two processes that have it open. */
type Open = (t: TestContext) => Promise<[LogPort, LogPort]>;

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

const IDENTITY = { program: "bank", format: 1 };
let names = 0;

const kinds: Record<string, Open> = {
  simulated: async () => {
    const stream = new SimStream();
    const { later } = new Chance(new Random(1));
    return [1, 2].map((seed) => new SimLog(stream, FINE, new Random(seed), later)) as [SimLog, SimLog];
  },
  "three NATS servers": async (t) => {
    names += 1;
    const ports: NatsLog[] = [];
    for (const first of [0, 1]) {
      const port = await NatsLog.open(natsAddress(`${servers.address(first)}/log${names}`), IDENTITY);
      t.after(() => port.close());
      ports.push(port);
    }
    return ports as [NatsLog, NatsLog];
  },
};

for (const [kind, open] of Object.entries(kinds)) {
  describe(`a log (${kind})`, () => {
    test("takes a message for the next position, and refuses all other positions", async (t) => {
      const [port, other] = await open(t);
      assert.equal(port.id, other.id);
      assert.equal((await port.last()).position, 0);
      assert.equal(await publish(port, 2, "too early"), "refused");
      assert.equal(await publish(port, 1, "first"), "landed");
      assert.equal(await publish(other, 1, "too late"), "refused");
      assert.equal(await publish(port, 1, "first"), "refused");
      assert.equal(await publish(other, 2, "second"), "landed");
      const { position, bytes } = await port.last();
      assert.deepEqual([position, bytes.toString()], [2, "second"]);
    });

    test("of many that want one position, one gets it", async (t) => {
      const [port, other] = await open(t);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, i) => publish(i % 2 === 0 ? port : other, 1, `${i}`)),
      );
      assert.equal(outcomes.filter((outcome) => outcome === "landed").length, 1);
      const winner = outcomes.indexOf("landed");
      assert.equal((await other.last()).bytes.toString(), `${winner}`);
    });

    test("hands every message on, in order, to all who follow, from any position", async (t) => {
      const [port, other] = await open(t);
      for (let i = 1; i <= 20; i++) assert.equal(await publish(port, i, `m${i}`), "landed");
      const seen: string[] = [];
      const following = other.follow(15, {
        message: ({ position, bytes }) => seen.push(`${position} ${bytes}`),
        cut: () => assert.fail(),
      });
      t.after(() => following.stop());
      await until(() => seen.length === 5);
      assert.equal(await publish(port, 21, "m21"), "landed");
      await until(() => seen.length === 6);
      assert.deepEqual(
        seen,
        [16, 17, 18, 19, 20, 21].map((i) => `${i} m${i}`),
      );
      const all = await waitFor("for all messages", readUpTo(other, 21));
      assert.deepEqual(
        all.map(({ bytes }) => bytes.toString()),
        Array.from({ length: 21 }, (_, i) => `m${i + 1}`),
      );
    });

    test("says that messages were cut off, keeps positions, and never cuts less", async (t) => {
      const [port, other] = await open(t);
      for (let i = 1; i <= 10; i++) await publish(port, i, `m${i}`);
      await port.cut(6);
      await other.cut(3);
      const first = await waitFor(
        "for the cut",
        new Promise<number>((resolve) => {
          other.follow(2, { message: () => assert.fail(), cut: resolve });
        }),
      );
      assert.equal(first, 7);
      const seen: number[] = [];
      const following = other.follow(6, {
        message: ({ position }) => seen.push(position),
        cut: () => assert.fail(),
      });
      t.after(() => following.stop());
      assert.equal(await publish(other, 11, "m11"), "landed");
      await until(() => seen.length === 5);
      assert.deepEqual(seen, [7, 8, 9, 10, 11]);
    });

    test("keeps parts by their names", async (t) => {
      const [port, other] = await open(t);
      assert.equal(await other.getPart("a"), null);
      const bytes = Buffer.alloc(300_000, 7);
      await port.putPart("a", bytes);
      const kept = await other.getPart("a");
      assert.ok(kept !== null);
      assert.ok(kept.bytes.equals(bytes));
      await other.putPart("a", Buffer.from("new"));
      assert.equal(await port.replacePart("a", Buffer.from("late"), kept.version), false);
      const newer = await port.getPart("a");
      assert.ok(newer !== null);
      assert.equal(newer.bytes.toString(), "new");
      assert.equal(await port.replacePart("a", Buffer.from("newer"), newer.version), true);
      assert.equal(await other.replacePart("b", Buffer.from("first"), 0), true);
      assert.equal(await port.replacePart("b", Buffer.from("second"), 0), false);
      await port.putPart("at.1.0", bytes);
      await port.putPart("at.10.0", bytes);
      await port.dropParts("at.1");
      assert.equal(await other.getPart("at.1.0"), null);
      assert.ok((await other.getPart("at.10.0")) !== null);
    });

    test("carries beats to all members", async (t) => {
      const [port, other] = await open(t);
      const heard: string[] = [];
      const hearing = other.hear((bytes) => heard.push(bytes.toString()));
      t.after(() => hearing.stop());
      await until(() => {
        port.say(Buffer.from("here"));
        return heard.includes("here");
      });
    });
  });
}
