import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "headwater/client";
import { headwater, packageWith, Running, runHere } from "./headwater.js";

const COUNTER = `
  import { Context, expose } from "headwater";
  export default class Counter extends Context {
    count = 0;
    add(by: number) {
      if (this.event.caller !== undefined) this.event.send(this.event.caller, "added");
      return (this.count += by);
    }
  }
  export const api = expose(Counter, { add: (counter, by: number) => counter.add(by) });
`;
const MAIN = `
  export async function main(service, io) {
    io.print("count " + (await service.root.add(5)));
  }
`;

interface CounterApi {
  add(by: number): Promise<number>;
}

test("headwater run --port serves what the program exports as api, calls main, and goes on until Ctrl-C", async (t) => {
  const folder = packageWith(t, { "counter.ts": COUNTER + MAIN });
  const running = new Running(["run", "counter", "--port", "0", "--json"], folder);
  t.after(() => running.interrupt("SIGKILL"));
  await running.hasWritten("count 5");
  const lines = running.stdout.split("\n").filter((line) => line !== "");
  const said = lines.map((line) => JSON.parse(line) as { kind: string; url?: string });
  assert.deepEqual(
    said.slice(0, 2).map(({ kind }) => kind),
    ["running", "listening"],
  );
  const url = String(said[1]?.url);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  using client = connect(url);
  const message = new Promise((resolve) => client.onMessage(resolve));
  assert.equal(await (client.api as CounterApi).add(2), 7);
  assert.equal(await message, "added");
  running.interrupt();
  const { exitCode, stdout } = await running.ended;
  assert.equal(exitCode, 0);
  assert.match(stdout, /Stopped/);
});

test("without --port nothing is served, whatever the program exports as api", async (t) => {
  const folder = packageWith(t, {
    "counter.ts": COUNTER.replace(/export const api.*/, "export const api = 5;") + MAIN,
  });
  const { exitCode, stdout, stderr } = await runHere(folder, "run", "counter");
  assert.deepEqual([exitCode, stdout], [0, "count 5\n"]);
  assert.doesNotMatch(stderr, /Listening/);
});

test("what cannot be served is refused with the reason", async (t) => {
  const folder = packageWith(t, {
    "none.ts": COUNTER.replace(/export const api.*/, ""),
    "wrong.ts": COUNTER.replace(/export const api.*/, "export const api = { add: 5 };"),
    "counter.ts": COUNTER,
  });
  const none = await runHere(folder, "run", "none", "--port", "0");
  assert.match(none.stderr, /^error HW-2002: .*none\.ts could not be loaded: .*exports no `api`.*expose/m);
  const wrong = await runHere(folder, "run", "wrong", "--port", "0");
  assert.match(wrong.stderr, /^error HW-2002: .*`api` was not made by `expose`/m);
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const taken = String((other.address() as AddressInfo).port);
  const place = await runHere(folder, "run", "counter", "--port", taken);
  assert.match(place.stderr, /^error HW-4020: the server cannot be started: .*EADDRINUSE/m);
  assert.deepEqual([none.exitCode, wrong.exitCode, place.exitCode], [1, 1, 1]);
});

test("a port that is none, and a host without a port, are not understood", async () => {
  for (const port of ["x", "-1", "65536", "1.5", ""]) {
    const { exitCode, stderr } = await headwater("run", "counter", `--port=${port}`);
    assert.match(stderr, /^error HW-2001: --port /m, port);
    assert.equal(exitCode, 2, port);
  }
  const { stderr } = await headwater("run", join("examples", "kv"), "--host", "::1");
  assert.match(stderr, /^error HW-2001: --host .* needs --port/m);
});
