import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Context, type HeadwaterError, run } from "headwater";

const program = fileURLToPath(new URL("./programs/blocked.ts", import.meta.url));
const FOR_EVER = String(2 ** 40);

/** A program that blocks its thread; `until` resolves when it has said something like that. */
function blocked(t: TestContext, how: string, ms: string, ...more: string[]) {
  const child = spawn(process.execPath, ["--import", "tsx", program, how, ms, ...more], {
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    env: { ...process.env, ...(more.length === 0 ? {} : { HEADWATER_SUPERVISED: "3" }) },
  });
  t.after(() => {
    child.kill("SIGKILL");
    child.stdin.destroy();
  });
  const texts = { stdout: "", stderr: "" };
  const until = (stream: "stdout" | "stderr", text: RegExp): Promise<string> => {
    return new Promise((resolve, reject) => {
      const look = () => text.test(texts[stream]) && resolve(texts[stream]);
      child[stream].on("data", (some: Buffer) => {
        texts[stream] += some.toString();
        look();
      });
      child.once("close", () => reject(new Error(`ended without it: ${texts.stdout}${texts.stderr}`)));
      look();
    });
  };
  return { child, until };
}

test("one host: a loop without an end is reported on stderr while it goes on, with its context and method", async (t) => {
  const { until } = blocked(t, "loop", FOR_EVER);
  const said = await until("stderr", /HW-6006.*\n/);
  assert.match(
    said,
    /HW-6006: Village\.wells\(7\)\.loop\(…\) has kept the thread of the program from .* for \d+ ms, in .*\bloop\b/,
  );
});

test("one host: a loop after an await is reported with the function that it is in", async (t) => {
  const said = await blocked(t, "later", FOR_EVER).until("stderr", /HW-6006.*\n/);
  assert.match(said, /HW-6006: .* for \d+ ms, in .*\bloop\b/);
});

test("one host: a thread that is blocked by other than JavaScript is reported, too", async (t) => {
  const said = await blocked(t, "sleep", FOR_EVER).until("stderr", /HW-6006.*\n/);
  assert.match(said, /HW-6006: .* for \d+ ms, in code that is not JavaScript/);
});

test("one host: when the thread goes on, onWarning hears how long it was blocked, and the process can end", async (t) => {
  const { child, until } = blocked(t, "loop", "1000");
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await until("stdout", /HW-6006: Village\.wells\(7\)\.loop\(…\) has kept .* for \d+ ms/);
  child.stdin.end("enough");
  assert.equal(await ended, 0);
});

test("several hosts: code that blocks the head's thread outside of events is reported with its function", async (t) => {
  const said = await blocked(t, "head", FOR_EVER).until("stderr", /HW-6006.*\n/);
  assert.match(said, /HW-6006: .* for \d+ ms, in spin\b/);
});

for (const how of ["loop", "head"]) {
  test(`a supervised process with a journal is ended when it is blocked for too long (${how})`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "headwater-blocked-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const { child, until } = blocked(t, how, FOR_EVER, join(folder, "data"));
    const ended = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
    assert.match(await until("stderr", /HW-6034.*\n/), /HW-6034: .* for \d+ ms\. The process is ended\./);
    assert.equal(await ended, "SIGKILL");
  });
}

class Door extends Context<number> {
  opened = 0;
  async wait() {
    this.opened += 100;
    await new Promise(() => {});
  }
  open() {
    this.opened += 1;
    return this.opened;
  }
}
class House extends Context {
  doors = this.children(Door);
}

/** On a slow machine, making a thousand requests is reported, too. */
function isOfThread({ message }: Error): boolean {
  return message.includes("has kept the thread of the program");
}

test("one host: an event that waits for ever is reported once", async (t) => {
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  const warned: HeadwaterError[] = [];
  let second = () => {};
  const twice = new Promise<void>((resolve) => {
    second = resolve;
  });
  const service = await run(House, {
    slowEventMs: 50,
    onWarning: (warning) => {
      if (isOfThread(warning)) return;
      warned.push(warning);
      if (warned.length === 2) second();
    },
  });
  t.after(() => service.stop({ graceMs: 0 }));
  service.root
    .doors(1)
    .wait()
    .catch(() => {});
  service.root
    .doors(2)
    .wait()
    .catch(() => {});
  await twice; // each of them
  assert.deepEqual(
    warned.map(({ message }) => message.replace(/\d+ ms/, "N ms")),
    [1, 2].map((door) => `HW-6006: House.doors(${door}).wait(…) has been running for N ms, and waits.`),
  );
});

test("one host: of many events that wait for ever ten are named and the others counted", async (t) => {
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  const warned: string[] = [];
  let reported = 0;
  let counted = () => {};
  const all = new Promise<void>((resolve) => {
    counted = resolve;
  });
  const service = await run(House, {
    slowEventMs: 50,
    onWarning: (warning) => {
      if (isOfThread(warning)) return;
      const { message } = warning;
      warned.push(message);
      reported += Number(/(\d+) more/.exec(message)?.[1] ?? 1);
      if (reported === 1000) counted();
    },
  });
  t.after(() => service.stop({ graceMs: 0 }));
  for (let i = 0; i < 1000; i += 1) {
    service.root
      .doors(i)
      .wait()
      .catch(() => {});
  }
  await all;
  assert.match(
    warned[10] ?? "",
    /^HW-6006: \d+ more events have been running as long as the 10 named before\.$/,
  );
  assert.ok(warned.length < 100, `${warned.length} warnings`);
});

test("one host: with a limit, an event that waits for ever fails, changes nothing, and its context goes on", async (t) => {
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  const service = await run(House, { eventTimeoutMs: 100 });
  await service.root.doors(1).open();
  await assert.rejects(service.root.doors(1).wait(), { code: "HW-6007", message: /doors\(1\)\.wait/ });
  assert.equal(await service.root.doors(1).open(), 2);
  await service.stop();
});
