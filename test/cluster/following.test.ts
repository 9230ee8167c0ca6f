import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { natsAddress } from "#src/journal/stream/nats-address.js";
import { NatsLog } from "#src/journal/stream/nats-log.js";
import { NatsServers } from "../nats-servers.js";
import { TcpProxy } from "../tcp-proxy.js";
import { until } from "../waits.js";
import { publish } from "./support.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ count: 1 });
});
after(() => servers.stop());

test("messages that are lost on their way to a reader are read again, though none comes after them", async (t) => {
  const [server = ""] = servers.hosts();
  const log = await NatsLog.open(natsAddress(`nats://${server}/following?replicas=1`), {
    program: "Test",
    format: 1,
  });
  t.after(() => log.close());
  const proxy = await TcpProxy.start(server);
  t.after(() => proxy.close());
  const reader = await NatsLog.existing(natsAddress(`nats://${proxy.host}/following?replicas=1`));
  t.after(() => reader.close());
  const read: number[] = [];
  const following = reader.follow(0, {
    message: ({ position }) => read.push(position),
    cut: () => assert.fail(),
  });
  t.after(() => following.stop());
  const publishUpTo = async (last: number) => {
    for (let i = read.length + 1; i <= last; i++) assert.equal(await publish(log, i, `m${i}`), "landed");
  };
  await publishUpTo(5);
  await until(() => read.length === 5);
  // The server has delivered them, as far as it knows, when the connection breaks.
  proxy.hold();
  await publishUpTo(10);
  await until(async () => {
    const consumers = await log.manager.consumers.list(log.names.log).next();
    return consumers.some(({ delivered }) => delivered.stream_seq === 10);
  });
  proxy.cut();
  proxy.letGo();
  await until(() => read.length >= 10);
  assert.deepEqual(
    read,
    Array.from({ length: 10 }, (_, i) => i + 1),
  );
});
