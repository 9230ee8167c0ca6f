import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { headwater, packageWith, Running } from "./headwater.js";

const PROGRAM = `
  import { Context } from "headwater";

  class Clock extends Context {
    ticks = 0;
    tick() {
      this.ticks += 1;
      this.event.after(1, this.stick);
      this.event.after(5, this.tick);
    }
    stick() {
      throw new Error("it is stuck");
    }
  }

  export default Clock;

  export async function main(service, io) {
    await service.root.tick();
    io.print("ticking");
    await new Promise((resolve) => io.signal.addEventListener("abort", resolve));
  }
`;

test("headwater observe prints the facts of a running program, until it or the program ends", async (t) => {
  const folder = packageWith(t, { "clock.ts": PROGRAM });
  const clock = new Running(["run", "clock", "--journal", "data"], folder);
  t.after(() => clock.interrupt("SIGKILL"));
  await clock.hasWritten("ticking");
  const at = ["--journal", join(folder, "data")];

  const some = new Running(["observe", "event,failure", ...at], folder);
  t.after(() => some.interrupt("SIGKILL"));
  await some.hasWritten('"method":"tick"');
  await some.hasWritten('"kind":"failure"');
  some.interrupt();
  const ended = await some.ended;
  assert.deepEqual([ended.exitCode, ended.stderr], [0, ""]);
  const facts = ended.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const { kind, context } of facts) {
    assert.ok(kind === "event" || kind === "failure");
    assert.equal(context, "Clock");
  }

  const all = new Running(["observe", ...at], folder);
  t.after(() => all.interrupt("SIGKILL"));
  await all.hasWritten('"kind":"journal"');
  clock.interrupt();
  assert.equal((await clock.ended).exitCode, 0, "an observer does not keep the program from ending");
  assert.equal((await all.ended).exitCode, 0);
});

test("headwater observe refuses what is no kind of fact, and says when no program is there", async (t) => {
  const wrong = await headwater("observe", "events", "--admin", "x");
  assert.equal(wrong.exitCode, 2);
  assert.match(wrong.stderr, /"events" is none of event, .*Did you mean "event"\?/);
  const folder = packageWith(t, { "nothing.txt": "" });
  const none = await headwater("observe", "--admin", join(folder, "nothing.txt"));
  assert.deepEqual([none.exitCode, /HW-6016/.test(none.stderr)], [1, true]);
});
