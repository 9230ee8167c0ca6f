import assert from "node:assert/strict";
import { test } from "node:test";
import { packageWith, Running } from "./headwater.js";

const IDLE = 'import { Context } from "headwater"; export default class Idle extends Context {}';

test("a program without main runs until Ctrl-C and then exits with 0", async (t) => {
  const running = new Running(["run", "idle"], packageWith(t, { "idle.ts": IDLE }));
  await running.hasWritten("Running Idle");
  running.interrupt();
  const { exitCode, stderr } = await running.ended;
  assert.match(stderr, /Stopping\.\nStopped\.\n$/);
  assert.equal(exitCode, 0);
});

test("SIGTERM is as polite as Ctrl-C", async (t) => {
  const running = new Running(["run", "idle"], packageWith(t, { "idle.ts": IDLE }));
  await running.hasWritten("Running Idle");
  running.interrupt("SIGTERM");
  assert.equal((await running.ended).exitCode, 0);
});

test("main hears the signal, may still use the service, and has the last word", async (t) => {
  const folder = packageWith(t, {
    "heeds.ts": `
      import { once } from "node:events";
      import { Context, type Service } from "headwater";
      export default class Heeds extends Context { count = 0; bump() { return ++this.count; } }
      export async function main({ root }: Service<Heeds>, io: { print(line: string): void; signal: AbortSignal }) {
        io.print("started " + await root.bump());
        await once(io.signal, "abort");
        io.print("last word " + await root.bump());
      }`,
  });
  const running = new Running(["run", "heeds"], folder);
  await running.hasWritten("started");
  running.interrupt();
  const { exitCode, stdout } = await running.ended;
  assert.equal(stdout, "started 1\nlast word 2\n");
  assert.equal(exitCode, 0);
});

test("a main that is cut off in the middle of a wait or a call is no failure", async (t) => {
  const folder = packageWith(t, {
    "waits.ts": `
      import { setTimeout as sleep } from "node:timers/promises";
      ${IDLE}
      export async function main(_: unknown, io: { print(line: string): void; signal: AbortSignal }) {
        io.print("waiting");
        await sleep(1_000_000, undefined, { signal: io.signal });
      }`,
  });
  const running = new Running(["run", "waits"], folder);
  await running.hasWritten("waiting");
  running.interrupt();
  const { exitCode, stderr } = await running.ended;
  assert.doesNotMatch(stderr, /error/);
  assert.equal(exitCode, 0);
});

test("a second Ctrl-C ends a program at once that does not heed the first, with 130", async (t) => {
  const folder = packageWith(t, {
    "deaf.ts": `${IDLE}
      export async function main(_: unknown, io: { print(line: string): void }) {
        io.print("deaf");
        await new Promise(() => {});
      }`,
  });
  const running = new Running(["run", "deaf"], folder);
  await running.hasWritten("deaf");
  running.interrupt();
  await running.hasWritten("Stopping.");
  running.interrupt();
  assert.equal((await running.ended).exitCode, 130);
});

test("an endless chain of events does not keep Ctrl-C from ending the run", async (t) => {
  const folder = packageWith(t, {
    "endless.ts": `
      import { setImmediate } from "node:timers/promises";
      import { Context, type Service } from "headwater";
      export default class Endless extends Context {
        async go() { await setImmediate(); this.event.start(this.above(Endless)).go(); }
      }
      export async function main({ root }: Service<Endless>, io: { print(line: string): void }) {
        await root.go();
        io.print("main is over");
      }`,
  });
  const running = new Running(["run", "endless"], folder);
  await running.hasWritten("main has returned; events are still in flight.");
  running.interrupt();
  assert.equal((await running.ended).exitCode, 0);
});
