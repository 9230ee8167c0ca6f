import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Context, type RunOptions, run } from "headwater";
import { connect } from "headwater/client";
import { statusOf } from "#src/cluster/index.js";
import { natsAddress } from "#src/journal/stream/nats-address.js";
import { NatsLog } from "#src/journal/stream/nats-log.js";
import { ROOT } from "../house/source.js";
import { NatsServers } from "../nats-servers.js";
import { refused } from "../refused.js";
import { until, waitFor } from "../waits.js";
import Bank from "./programs/bank.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address(names++ % 3)}/members${names}`;

async function join(t: TestContext, journal: string, name: string, options: RunOptions = {}) {
  const service = await run(Bank, { journal, member: { name }, ...options });
  t.after(() => service.stop({ graceMs: 0 }));
  return service;
}

describe("a cluster", () => {
  test("takes any request at any member, and its members agree", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a");
    const [b, c] = await Promise.all([join(t, journal, "b"), join(t, journal, "c")]);
    let expected = 0;
    for (const each of [a, b, c, b, a]) assert.equal(await each.root.transfer(1, 2, 1), ++expected);
    await Promise.all(
      [a, b, c].flatMap(({ root }) => Array.from({ length: 50 }, () => root.transfer(2, 3, 1))),
    );
    for (const { root } of [a, b, c]) assert.equal(await root.count(), 155);
    const { members, program, replicas } = await statusOf(journal);
    assert.deepEqual([program, replicas], ["Bank", 3]);
    assert.deepEqual(
      members.map(({ state, member }) => [member[0], state]),
      [
        ["a", "head"],
        ["b", "standby"],
        ["c", "standby"],
      ],
    );
  });

  test("passes errors on as they are, and refuses what cannot be sent", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a");
    const b = await join(t, journal, "b");
    for (const { root } of [a, b]) {
      await assert.rejects(root.fail("no money"), { name: "Broke", message: "no money" });
      await refused(root.echo((() => 1) as unknown as number), "HW-1006");
      const odd = new Map([["a", new Date(5)]]);
      assert.deepEqual(await root.echo(odd), odd);
    }
  });

  test("a request with an id has its effect once, at whichever member it comes again", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a");
    const b = await join(t, journal, "b");
    assert.equal(await b.as({ request: "r1" }).root.transfer(1, 2, 5), 1);
    assert.equal(await a.as({ request: "r1" }).root.transfer(1, 2, 5), 1);
    await a.stop();
    assert.equal(await b.as({ request: "r1" }).root.transfer(1, 2, 5), 1);
    assert.equal(await b.root.count(), 1);
  });

  test("when the head is stopped, another takes its place, and requests on their way are answered", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a");
    const b = await join(t, journal, "b");
    const answers = Array.from({ length: 200 }, () => b.root.transfer(1, 2, 1));
    const stopping = a.stop();
    answers.push(...Array.from({ length: 200 }, () => b.root.transfer(2, 1, 1)));
    const counts = await waitFor("for the answers", Promise.all(answers));
    assert.deepEqual(
      counts.toSorted((x, y) => x - y),
      Array.from({ length: 400 }, (_, i) => i + 1),
    );
    await stopping;
    await refused(a.root.count(), "HW-1401");
  });

  test("a member that must not take over waits for another head", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a");
    const b = await join(t, journal, "b", { member: { name: "b", takesOver: false } });
    assert.equal(await b.root.transfer(1, 2, 1), 1);
    await a.stop();
    const later = b.root.transfer(1, 2, 1);
    const c = await join(t, journal, "c");
    assert.equal(await waitFor("for the answer", later), 2);
    assert.equal(await c.root.count(), 2);
    const { members } = await statusOf(journal);
    assert.deepEqual(
      members.map(({ state }) => state),
      ["gateway", "head"],
    );
  });

  test("a client hears each message once and in order, through any member, also over a change of heads", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a");
    const b = await join(t, journal, "b");
    const heard: number[] = [];
    b.client<number>("ada", (message) => heard.push(message));
    for (let i = 0; i < 10; i++) await a.root.tell("ada", i);
    await until(() => heard.length === 10);
    await a.stop();
    for (let i = 10; i < 20; i++) await b.root.tell("ada", i);
    await until(() => heard.length === 20);
    assert.deepEqual(
      heard,
      Array.from({ length: 20 }, (_, i) => i),
    );
  });

  test("a standby makes snapshots and the log is cut; who joins later reads a snapshot and the rest of the log", async (t) => {
    const journal = newCluster();
    const often = (name: string) => ({ member: { name, snapshotBytes: 20_000 } });
    const a = await join(t, journal, "a", often("a"));
    const b = await join(t, journal, "b", often("b"));
    const connection = await servers.connect();
    t.after(() => connection.close());
    const { jetstreamManager } = await import("@nats-io/jetstream");
    const manager = await jetstreamManager(connection);
    const firstIn = async () => (await manager.streams.info(`HEADWATER_members${names}`)).state.first_seq;
    let done = 0;
    await until(async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => b.root.once(`${done + i}`, i % 10, (i + 1) % 10)),
      );
      done += 20;
      return (await firstIn()) > 1;
    });
    const c = await join(t, journal, "c", often("c"));
    await a.stop();
    await b.stop();
    assert.equal(await c.root.count(), done);
    assert.equal(await c.root.total(10), 1000);
    assert.equal(await c.root.operations("0").read(), 1);
  });

  test("a head without a standby makes them itself, of what is in its file", async (t) => {
    class Note extends Context<number> {
      text = "";
      times = 0;
      write(text: string): number {
        this.text = text;
        this.times += 1;
        return this.times;
      }
    }
    class Notes extends Context {
      notes = this.children(Note);
    }
    const journal = newCluster();
    const alone = (name: string) => run(Notes, { journal, member: { name, snapshotBytes: 2 ** 20 } });
    const a = await alone("a");
    t.after(() => a.stop({ graceMs: 0 }));
    const text = "x".repeat(90_000);
    let times = 0;
    const write = async () => {
      times += 1;
      const written = Array.from({ length: 60 }, (_, i) => a.root.notes(i).write(`${text}${times}`));
      assert.deepEqual(new Set(await Promise.all(written)), new Set([times]));
    };
    // Its file is brought up to date when a few megabytes were written and nothing is for a second.
    const snapshot = async () => (await statusOf(journal)).snapshot;
    for (let last = 0; times < 2; last = await snapshot()) {
      await write();
      await until(async () => (await snapshot()) > last);
    }
    const port = await NatsLog.existing(natsAddress(journal));
    t.after(() => port.close());
    const { state } = await port.manager.streams.info(port.names.log);
    assert.ok(state.first_seq > 1, "the log is cut behind the first");
    await write();
    await a.stop({ graceMs: 0 });
    const b = await alone("b");
    t.after(() => b.stop({ graceMs: 0 }));
    for (let i = 0; i < 60; i++) assert.equal(await b.root.notes(i).write(""), times + 1);
  });

  test("refuses another program, and a name that is none", async (t) => {
    class Shop extends Context {
      sold = 0;
    }
    const journal = newCluster();
    await join(t, journal, "a");
    await refused(run(Shop, { journal }), "HW-3002");
    await refused(join(t, journal, "a b"), "HW-3106");
  });
});

describe("headwater run --cluster", () => {
  test("serves the same program from two commands, and goes on when one is killed", async (t) => {
    const journal = newCluster();
    const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
    const program = fileURLToPath(new URL("./programs/bank.ts", import.meta.url));
    const start = async (name: string) => {
      const args = [main, "run", program, "--cluster", journal, "--name", name, "--port", "0", "--json"];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      t.after(() => child.kill("SIGKILL"));
      for await (const line of createInterface({ input: child.stdout })) {
        const { url } = JSON.parse(line) as { url?: string };
        if (url !== undefined) return { child, url };
      }
      throw new Error("it ended");
    };
    const first = await waitFor("for the first command", start("first"));
    const second = await waitFor("for the second command", start("second"));
    const transfer = async (url: string) => {
      const response = await fetch(`${url}/api/transfer`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "[1, 2, 1]",
      });
      return (await response.json()) as unknown;
    };
    assert.deepEqual(await transfer(first.url), { value: 1 });
    assert.deepEqual(await transfer(second.url), { value: 2 });
    const client = connect<typeof import("./programs/bank.js")["api"]>(second.url);
    t.after(() => client.close());
    assert.equal(await client.api.transfer(2, 1, 1), 3);
    first.child.kill("SIGKILL");
    assert.deepEqual(await transfer(second.url), { value: 4 });
    assert.equal(await client.api.transfer(2, 1, 1), 5);
    const status = await promisify(execFile)(process.execPath, [main, "cluster", "status", journal], {
      cwd: ROOT,
    });
    assert.match(status.stdout, /second-\d*\w*\s+head/);
  });
});
