import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTo, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { packageWith, Running } from "./headwater.js";

/** One journal, and one command that is started more than once. */

const COUNTER = `
  import { Context, expose } from "headwater";
  export default class Counter extends Context {
    count = 0;
    add(by: number) {
      return (this.count += by);
    }
  }
  export const api = expose(Counter, { add: (counter, by: number) => counter.add(by) });
`;

/** A counter with a journal in a folder of its own, as often as it is wanted. */
class Counters {
  readonly folder: string;
  readonly #t: TestContext;

  constructor(t: TestContext) {
    this.#t = t;
    this.folder = packageWith(t, { "counter.ts": COUNTER });
  }

  start(port: string, ...more: string[]): Running {
    const args = ["run", "counter", "--journal", "data", "--port", port, ...more];
    const running = new Running(args, this.folder);
    this.#t.after(async () => {
      running.interrupt("SIGKILL");
      await running.ended;
    });
    return running;
  }

  /** Stops the process, wherever it is: nothing that it holds can be in the way of a takeover. */
  stop(running: Running): void {
    running.interrupt("SIGSTOP");
  }
}

async function urlOf(running: Running): Promise<string> {
  await running.hasWritten("Listening on ");
  return /Listening on (\S+)/.exec(running.stderr)?.[1] ?? assert.fail(running.stderr);
}

async function add(url: string, by: number): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/api/add`, { method: "POST", headers, body: `[${by}]` });
  return ((await response.json()) as { value: unknown }).value;
}

test("a second start of the same command is refused, and the service goes on as if nothing had been", async (t) => {
  const counters = new Counters(t);
  const first = counters.start("0");
  const url = await urlOf(first);
  assert.equal(await add(url, 1), 1);

  const samePort = await counters.start(new URL(url).port).ended;
  assert.equal(samePort.exitCode, 1);
  assert.match(samePort.stderr, /HW-4020.*EADDRINUSE/);
  assert.equal(await add(url, 1), 2);

  const otherPort = await counters.start("0").ended;
  assert.equal(otherPort.exitCode, 1);
  assert.match(otherPort.stderr, /HW-3024.*process \d+ has it open/);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.equal(await add(url, 1), 3);
});

test("a port that is taken is noticed before the journal is taken over", async (t) => {
  const counters = new Counters(t);
  const first = counters.start("0");
  const url = await urlOf(first);
  const second = await counters.start(new URL(url).port, "--take-over").ended;
  assert.match(second.stderr, /HW-4020/);
  assert.equal(await add(url, 1), 1);
});

test("a process that is stopped counts as living, and one that was killed does not", async (t) => {
  const counters = new Counters(t);
  const first = counters.start("0");
  const url = await urlOf(first);
  assert.equal(await add(url, 1), 1);
  counters.stop(first);
  assert.match((await counters.start("0").ended).stderr, /HW-3024/);
  first.interrupt("SIGKILL");
  await first.ended;
  const second = counters.start("0");
  assert.equal(await add(await urlOf(second), 1), 2);
});

/** All that arrives until the other side has closed. */
async function received(socket: Socket): Promise<string> {
  let text = "";
  for await (const some of socket.setEncoding("utf8")) text += some;
  return text;
}

test("a journal can be taken over when told to: the first process fails its health check, answers with 503, and ends", async (t) => {
  const counters = new Counters(t);
  const first = counters.start("0");
  const url = await urlOf(first);
  assert.equal(await add(url, 1), 1);
  counters.stop(first); // what it is asked from now on, it finds when the journal is another's
  const second = counters.start("0", "--take-over");
  assert.equal(await add(await urlOf(second), 1), 2);

  const { port, hostname } = new URL(url);
  const head = `Host: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n[1]`;
  const asked = await Promise.all(
    [
      `GET /healthz HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`,
      ...Array(8).fill(`POST /api/add HTTP/1.1\r\n${head}`),
    ].map(async (request: string) => {
      const socket = connectTo(Number(port), hostname);
      await once(socket, "connect");
      await new Promise((written) => socket.write(request, written));
      return socket;
    }),
  );
  first.interrupt("SIGCONT");
  for (const answer of await Promise.all(asked.map(received))) {
    assert.match(answer, /^HTTP\/1\.1 503 /);
    assert.match(answer, /"code":"HW-(3005|1401)"/);
  }
  const { exitCode, stderr } = await first.ended;
  assert.equal(exitCode, 1);
  assert.match(stderr, /HW-3005/);
  assert.equal(await add(await urlOf(second), 1), 3);
});

test("a process without requests notices that its journal was taken over, and ends", async (t) => {
  const counters = new Counters(t);
  const first = counters.start("0");
  await urlOf(first);
  await urlOf(counters.start("0", "--take-over"));
  const { exitCode, stderr } = await first.ended;
  assert.equal(exitCode, 1);
  assert.match(stderr, /HW-3005/);
});

test("of several processes that make one journal at the same time one has it, and the others are told so", async (t) => {
  for (let round = 0; round < 3; round++) {
    const counters = new Counters(t);
    const all = Array.from({ length: 4 }, () => counters.start("0"));
    const outcomes = await Promise.all(
      all.map(async (running) => {
        const isListening = urlOf(running).then(
          () => "has it",
          () => null,
        );
        const ended = running.ended.then(({ stderr }) => /HW-\d{4}/.exec(stderr)?.[0] ?? stderr);
        return (await Promise.race([isListening, ended])) ?? (await ended);
      }),
    );
    assert.deepEqual(outcomes.toSorted(), ["HW-3024", "HW-3024", "HW-3024", "has it"]);
    for (const running of all) running.interrupt("SIGKILL");
    await Promise.all(all.map(({ ended }) => ended));
  }
});
