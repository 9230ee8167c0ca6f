import assert from "node:assert/strict";
import { test } from "node:test";
import { packageWith, Running, runHere } from "./headwater.js";

/** Each of its processes counts, and ends in another way: it is killed, it loops for ever, it has an error, it is done. */
const PROGRAM = `
  import { Context } from "headwater";
  export default class Works extends Context {
    begun = 0;
    begin() { return (this.begun += 1); }
    loop() { for (;;); }
  }
  export async function main({ root }, io) {
    const begun = await root.begin();
    io.print("begun " + begun);
    if (begun === 1) process.kill(process.pid, "SIGKILL");
    if (begun === 2) throw new Error("out of order");
    if (begun === 3) process.exit(7);
    if (io.forever) await new Promise((resolve) => io.signal.addEventListener("abort", resolve));
    io.print("done");
  }
`;

test("headwater run --supervise starts a program again that was killed or failed, where it was", async (t) => {
  const folder = packageWith(t, { "works.ts": PROGRAM });
  const { exitCode, stdout, stderr } = await runHere(
    folder,
    "run",
    "works",
    "--journal",
    "data",
    "--supervise",
  );
  assert.equal(exitCode, 0, stderr);
  assert.equal(stdout, "begun 1\nbegun 2\nbegun 3\nbegun 4\ndone\n");
  assert.match(
    stderr,
    /HW-6034: the process of the program was ended by SIGKILL\. It is started again in 100 ms/,
  );
  assert.match(stderr, /ended with code 1\. It is started again in 200 ms/);
  assert.match(stderr, /ended with code 7\. It is started again in 400 ms/);
});

/** Its first process is up and starts an event that ends every process with a code, before the next ones are up. */
const POISONED = `
  import { Context } from "headwater";
  class Poison extends Context {
    taken = 0;
    take() { process.exit(7); }
  }
  export default class Works extends Context {
    begun = 0;
    poison = this.child(Poison);
    begin() {
      this.begun += 1;
      if (this.begun === 1) this.event.start(this.poison).take();
      return this.begun;
    }
  }
  export async function main({ root }, io) {
    const begun = await root.begin();
    io.print("begun " + begun);
    if (begun === 1) await new Promise(() => {});
  }
`;

test("an event that ends each process with a code, before it is up, is parked, and the program goes on", async (t) => {
  const folder = packageWith(t, { "poisoned.ts": POISONED });
  const command = ["run", "poisoned", "--journal", "data", "--supervise"];
  const { exitCode, stdout, stderr } = await runHere(folder, ...command);
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /begun 2\n$/);
  assert.match(stderr, /HW-6031/);
  assert.ok((stderr.match(/ended with code 7\. It is started again/g) ?? []).length >= 4, stderr);
});

test("Ctrl-C ends a supervised program in good order", async (t) => {
  const folder = packageWith(t, { "works.ts": PROGRAM });
  const running = new Running(["run", "works", "--journal", "data", "--supervise", "--forever"], folder);
  t.after(() => running.interrupt("SIGKILL"));
  await running.hasWritten("begun 4");
  running.interrupt();
  const { exitCode, stdout } = await running.ended;
  assert.deepEqual([exitCode, stdout.endsWith("done\n")], [0, true]);
});

test("a program that cannot be run is not started again, and without a journal nothing is supervised", async (t) => {
  const folder = packageWith(t, { "broken.ts": "export default 3;" });
  const broken = await runHere(folder, "run", "broken", "--journal", "data", "--supervise");
  assert.deepEqual([broken.exitCode !== 0, broken.stderr.includes("HW-6034")], [true, false]);
  const without = await runHere(folder, "run", "broken", "--supervise");
  assert.equal(without.exitCode, 2);
  assert.match(without.stderr, /needs --journal/);
});
