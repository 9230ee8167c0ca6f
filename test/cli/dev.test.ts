import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../waits.js";
import { packageWith, Running, write } from "./headwater.js";

const program = (body: string) => `
  import { Context, expose } from "headwater";
  export default class Counter extends Context {
    count = 0;
    ${body}
  }
  export const api = expose(Counter, { add: (counter) => counter.add() });
`;

test("headwater dev runs what was saved, with its state, and keeps the old version where the new one cannot run", async (t) => {
  const folder = packageWith(t, { "counter.ts": program("add() { return (this.count += 1); }") });
  const dev = new Running(["dev", "counter", "--hosts", "1", "--port", "0"], folder);
  t.after(async () => {
    dev.interrupt();
    await dev.ended;
  });
  await dev.hasWritten("q quit");
  const add = async () => {
    const url =
      dev.stderr
        .match(/Listening on (\S+)/g)
        ?.at(-1)
        ?.replace("Listening on ", "") ?? "";
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/api/add`, { method: "POST", headers, body: "[]" });
    return ((await response.json()) as { value: number }).value;
  };
  assert.equal(await add(), 1);

  write(folder, { "counter.ts": program("add() { return (this.count += 10); }") });
  await dev.hasWritten("state kept");
  assert.equal(await add(), 11);

  write(folder, { "counter.ts": program("add() { return (this.count += ; }") });
  await dev.hasWritten("cannot run. The version before it goes on");
  assert.equal(await add(), 21);

  const more = program("more = 0.5; add() { return (this.count += this.more); }");
  write(folder, { "counter.ts": more });
  await until(() => dev.stderr.split("state kept").length === 3);
  assert.equal(await add(), 21.5);

  // A field that is gone may be one that was renamed: that needs an upgrade, which the new version does not have.
  write(folder, { "counter.ts": more.replaceAll("more", "step") });
  await dev.hasWritten("HW-3021");
  assert.equal(await add(), 22);

  // A root of another name is another program, as far as the journal can tell.
  write(folder, { "counter.ts": more.replaceAll("Counter", "Adder") });
  await dev.hasWritten('static storedAs = "Counter"');
  assert.equal(await add(), 22.5);

  rmSync(join(folder, "counter.ts"));
  await dev.hasWritten("counter.ts is gone");
  assert.equal(await add(), 23);
  assert.ok(!dev.stderr.includes("The program is not running"), dev.stderr);
});

test("headwater dev ends at once when it was given a port that it cannot have", async (t) => {
  const folder = packageWith(t, { "counter.ts": program("add() { return (this.count += 1); }") });
  const taken = createServer().listen(0, "127.0.0.1");
  t.after(() => taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  for (const [written, said] of [
    [String(port), /HW-4020: the port \d+ of 127\.0\.0\.1 is taken/],
    ["no", /HW-2001: --port is a number from 0 to 65535, not "no"/],
  ] as const) {
    const dev = new Running(["dev", "counter", "--port", written], folder);
    const { exitCode, stderr } = await dev.ended;
    assert.notEqual(exitCode, 0);
    assert.match(stderr, said);
  }
});

test("a program that headwater dev runs ends with it, also when that is killed", async (t) => {
  const folder = packageWith(t, { "counter.ts": program("add() { return (this.count += 1); }") });
  const dev = new Running(["dev", "counter", "--hosts", "1", "--port", "0", "--no-watch"], folder);
  await dev.hasWritten("q quit");
  const url = /Listening on (\S+)/.exec(dev.stderr)?.[1] ?? "";
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  dev.interrupt("SIGKILL");
  await until(() =>
    fetch(`${url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
});
