import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket } from "ws";
import { until } from "../waits.js";
import { numbersOf, tcpReceiver } from "./receivers.js";
import { served } from "./served.js";

const NAMES = [
  ["alpha", "alphb"],
  ["gamma_q", "gamma_r"],
  ["gamma_q.late", "gamma_r.late"],
  ["acme.alpha", "acme.alphb"],
] as const;

const MESSAGES: readonly ((name: string) => object)[] = [
  (name) => ({ push: name, rows: [{ n: 1 }] }),
  (name) => ({ push: name, rows: [], producer: "secret_producer", sequence: 1 }),
  (name) => ({ push: name, rows: [], producer: "secret_producer", seals: [[4711]] }),
  (name) => ({ subscribe: name, from: 1 }),
];

test("over a WebSocket, a tenant that uses another's names learns nothing and changes nothing", async (t) => {
  const service = await served(t);
  const acme = await service.service.tenant("acme");
  const seals = { columns: ["n"], producers: ["secret_producer"] };
  await acme.registerStream("alpha", { n: "bigint" }, { seals });
  await acme.registerQuery("gamma_q", "SELECT n FROM alpha");
  await acme.pushEvents("alpha", [{ n: 4711 }], { producer: "secret_producer", sequence: 1 });
  await (await service.service.tenant("zoo")).registerStream("own", { n: "bigint" });
  const before = JSON.stringify([await acme.describe("alpha"), (await acme.page("alpha", 1)).rows]);
  const ws = new WebSocket(`${service.url.replace("http", "ws")}/v1/socket`, {
    headers: { authorization: `Bearer ${await service.service.addToken("zoo", ["admin"])}` },
  });
  t.after(() => ws.terminate());
  const heard = new Map<number, string>();
  ws.on("message", (data) => {
    const { id } = JSON.parse(String(data)) as { readonly id?: number };
    if (id !== undefined) heard.set(id, String(data));
  });
  await until(() => ws.readyState === WebSocket.OPEN, "until the socket is open");
  let id = 0;
  for (const message of MESSAGES)
    for (const pair of NAMES) {
      const replies: string[] = [];
      for (const name of pair) {
        const own = ++id;
        ws.send(JSON.stringify({ id: own, ...message(name) }));
        await until(() => heard.has(own), `until ${JSON.stringify(message(name))} is answered`);
        const text = heard.get(own) ?? "";
        assert.match(text, /"error"/);
        assert.doesNotMatch(text, /4711|secret_producer/);
        replies.push(text.replaceAll(name, "NAME").replace(`"id":${own},`, ""));
      }
      assert.equal(replies[0], replies[1]);
    }
  assert.equal(JSON.stringify([await acme.describe("alpha"), (await acme.page("alpha", 1)).rows]), before);
});

test("rows go to stdout where that is allowed, and over TCP without acknowledgements, each once and in order", async (t) => {
  let written = "";
  const stdout = (text: string) => {
    written += text;
    return Promise.resolve();
  };
  const { streams } = await served(t, { outputs: { isPrivateAllowed: true, stdout } });
  const heard: number[] = [];
  const tcp = await tcpReceiver(t, (number) => heard.push(number));
  await streams.registerStream("s", { n: "bigint" });
  await streams.registerOutput("s", "stdout:", { name: "out", batchRows: 7 });
  await streams.registerOutput("s", `tcp://127.0.0.1:${tcp.port}`, { name: "tcp", batchRows: 7 });
  for (let batch = 0; batch < 5; batch++)
    await streams.pushEvents(
      "s",
      Array.from({ length: 10 }, (_, n) => ({ n })),
    );
  const all = Array.from({ length: 50 }, (_, i) => i + 1);
  await until(() => heard.length >= all.length && numbersOf(written).length >= all.length);
  assert.deepEqual(heard, all);
  assert.deepEqual(numbersOf(written), all);
});
