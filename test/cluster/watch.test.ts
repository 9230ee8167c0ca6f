import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { run, serve } from "headwater";
import { connect } from "headwater/client";
import { NatsServers } from "../nats-servers.js";
import { until } from "../waits.js";
import Bank, { api } from "./programs/bank.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

test("a client of any member watches what the head knows, also when another member becomes the head", async (t) => {
  const join = async (name: string) => {
    const service = await run(Bank, { journal: `${servers.address(0)}/watching`, member: { name } });
    t.after(() => service.stop({ graceMs: 0 })); // before its server is closed, which must not keep the process
    return service;
  };
  const first = await join("first");
  const second = await join("second");
  const third = await join("third");

  const watched = [second, third].map(async (service) => {
    const server = await serve(service, api);
    t.after(() => server.close());
    const client = connect<typeof api>(server.url);
    t.after(() => client.close());
    return client.watch(client.api.count);
  });
  const watches = await Promise.all(watched);
  const seen = (count: number) => until(() => watches.every(({ state }) => state.value === count));
  await seen(0);
  assert.equal(await first.root.transfer(1, 2, 1), 1);
  await seen(1);
  assert.equal(await third.root.transfer(1, 2, 1), 2);
  await seen(2);

  await first.stop(); // the head
  assert.equal(await second.root.transfer(1, 2, 1), 3);
  await seen(3);
  assert.equal(await third.root.transfer(1, 2, 1), 4);
  await seen(4);
});
