import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../waits.js";
import { packageWith } from "./headwater.js";
import { Killed } from "./killed.js";
import { freePort } from "./ports.js";

const BATCHES = 90;
const KILLS = 3;

test("subscribers of a service that is killed under load see every accepted row once, in order, without gaps", async (t) => {
  const service = new Killed(t, packageWith(t, {}), await freePort());
  await service.ready();
  const client = service.client();
  const s = await client.registerStream("s", { n: "bigint", producer: "text" });
  const odd = await client.registerQuery("odd", "SELECT n, producer FROM s WHERE n % 2 = 1", {
    columns: { n: "bigint", producer: "text" },
  });
  const over = new AbortController();
  t.after(() => over.abort());
  const heard: { number: number; n: number; producer: string }[] = [];
  const subscribed = (async () => {
    for await (const { number, row } of client.subscribe(odd, { from: 1, signal: over.signal }))
      heard.push({ number, ...row });
  })();
  let answered = 0;
  const produce = async (name: string) => {
    const producer = client.producer(s, name);
    for (let i = 0; i < BATCHES; i++) {
      await producer.push([0, 1, 2].map((j) => ({ n: 3 * i + j, producer: name })));
      answered++;
    }
  };
  const producing = Promise.all([produce("a"), produce("b")]);
  for (let kill = 1; kill <= KILLS; kill++) {
    await until(() => answered > (kill * 2 * BATCHES) / (KILLS + 1), `until there is load for kill ${kill}`);
    await service.killAndStart();
  }
  await producing;
  const each = Array.from({ length: 3 * BATCHES }, (_, n) => n).filter((n) => n % 2 === 1);
  await until(() => heard.length >= 2 * each.length, "until the subscriber has everything");
  over.abort();
  await subscribed;
  assert.deepEqual(
    heard.map(({ number }) => number),
    Array.from({ length: 2 * each.length }, (_, i) => i + 1),
  );
  for (const name of ["a", "b"])
    assert.deepEqual(
      heard.filter(({ producer }) => producer === name).map(({ n }) => n),
      each,
    );
});
