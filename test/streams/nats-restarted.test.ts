import assert from "node:assert/strict";
import { test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { openStreams } from "headwater/streams";
import { NatsServers } from "../nats-servers.js";
import { until } from "../waits.js";

const ROUNDS = 3;
const ROWS = 20;

/** A server that has just started again may leave a question without an answer: it is asked again. */
async function answered<T>(what: string, ask: () => Promise<T>): Promise<T> {
  const answers: T[] = [];
  const asked = () =>
    ask().then(
      (answer) => answers.push(answer) > 0,
      () => false,
    );
  await until(asked, `until the server has answered ${what}`);
  return answers[0] as T;
}

test("a source and an output of NATS go on when the server was killed and started again: JetStream once each, in order", async (t) => {
  const servers = await NatsServers.start({ count: 1 });
  t.after(() => servers.stop());
  const nats = await servers.connect();
  t.after(() => nats.close());
  const manager = await jetstreamManager(nats);
  await manager.streams.add({ name: "in", subjects: ["in.>"] });
  await manager.streams.add({ name: "out", subjects: ["out.>"] });
  const streams = await openStreams({ outputs: { isPrivateAllowed: true } });
  t.after(() => streams.service.close());
  const [host] = servers.hosts();
  await streams.define("CREATE STREAM s (n bigint NOT NULL)");
  await streams.registerQuery("even", "SELECT n FROM s WHERE n % 2 = 0");
  await streams.registerSource("s", `jetstream://${host}/in`, { name: "from" });
  await streams.registerOutput("even", `jetstream://${host}/out.even`, {
    name: "to",
    backoffMs: 1,
    batchRows: 3,
  });
  await streams.registerOutput("even", `nats://${host}/plain`, { name: "plain", backoffMs: 1 });
  const js = jetstream(nats);
  const publish = (row: number) =>
    answered(`row ${row}`, () => js.publish("in.rows", JSON.stringify({ n: row }), { msgID: String(row) }));
  let n = 0;
  for (let round = 0; round < ROUNDS; round++) {
    // Half of the rows are under way when the server is killed: those it has acknowledged are on its disk.
    for (let i = 0; i < ROWS; i++) await publish(n++);
    await servers.signal(0, "SIGKILL");
    await streams.pushEvents("s", [{ n: 1_000_000 + 2 * round }]);
    await until(async () => (await streams.outputs.status("to")).lastError !== null);
    await until(async () => (await streams.sources.status("from")).lastError !== null);
    servers.resume(0);
    await until(async () => (await streams.sources.status("from")).position === n, "until all are taken");
    for (const name of ["to", "plain"])
      await until(async () => (await streams.outputs.status(name)).lag === 0, `until ${name} has all rows`);
  }
  const taken = (await streams.page("s", 1)).rows.map(({ json }) => (JSON.parse(json) as { n: number }).n);
  assert.deepEqual(
    taken.filter((each) => each < 1_000_000),
    Array.from({ length: n }, (_, i) => i),
  );
  const expected = (await streams.page("even", 1)).rows.map(({ number }) => number);
  const consumer = await answered("for a consumer", () => js.consumers.get("out"));
  const stored: number[] = [];
  for await (const message of await consumer.fetch({ max_messages: expected.length }))
    stored.push(message.json<{ number: number }>().number);
  assert.deepEqual(stored, expected);
  const { state } = await answered("about its stream", () => manager.streams.info("out"));
  assert.equal(state.messages, expected.length);
});
