import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream";
import { NatsServers } from "../nats-servers.js";
import { until } from "../waits.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

test("a killed server starts again with what it had, and the other two go on meanwhile", async (t) => {
  const connection = await servers.connect();
  t.after(() => connection.close());
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: "kept", subjects: ["kept"], num_replicas: 3, storage: StorageType.File });
  const js = jetstream(connection);
  assert.equal((await js.publish("kept", "first")).seq, 1);

  const leader = await servers.leaderOf("kept");
  const follower = [0, 1, 2].find((i) => i !== leader) as number;
  await servers.signal(follower, "SIGKILL");
  await until(() =>
    js.publish("kept", "second").then(
      () => true,
      () => false,
    ),
  );
  servers.resume(follower);
  await until(async () => {
    const { cluster } = await manager.streams.info("kept");
    return cluster?.replicas?.every(({ current }) => current);
  });
  assert.equal((await manager.streams.getMessage("kept", { seq: 1 }))?.string(), "first");
});
