import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Fact, run } from "headwater";
import { type Beat, readBeat } from "#src/journal/stream/beats.js";
import { Random } from "#src/random.js";
import { NatsServers } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { MemberProcess } from "./member-process.js";
import Bank from "./programs/bank.js";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

type MemberFact = Extract<Fact, { kind: "member" }>;

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ count: 1 });
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address()}/utilisation${names++}?replicas=1`;

async function watched(t: TestContext, journal: string) {
  const service = await run(Bank, { journal, member: { name: "a", takesOver: false } });
  t.after(() => service.stop({ graceMs: 0 }));
  const facts: MemberFact[] = [];
  service.observe(["member"], (fact) => {
    if (fact.kind === "member") facts.push(fact);
  });
  const ofName = (name: string) => facts.filter(({ member }) => member.startsWith(`${name}-`));
  return {
    service,
    facts,
    last: (name: string) => ofName(name).findLast(({ load }) => load !== null)?.load,
    ofName,
  };
}

describe("every member knows of the others", () => {
  test("who joins and leaves, and how busy each of them is", async (t) => {
    const journal = newCluster();
    const b = new MemberProcess(t, "b", journal);
    await waitFor("for b", b.joined);
    const { service, ofName, last } = await watched(t, journal);
    await until(() => (last("a")?.disk ?? 0) > 0 && (last("b")?.disk ?? 0) > 0);
    assert.deepEqual(
      ["a", "b"].map((name) => ofName(name).filter(({ what }) => what === "joined").length),
      [1, 1],
    );
    for (const load of [last("a"), last("b")]) {
      assert.ok(load);
      for (const measure of ["cpu", "loop", "memory", "disk"] as const)
        assert.ok(load[measure] >= 0 && load[measure] <= 1, `${measure} is ${load[measure]}`);
      assert.ok(load.memoryBytes > 10 * 2 ** 20, "a process of Node takes more than 10 MB");
    }

    // What this process carries, how busy it is, and what waits, is in its figures.
    const big = "x".repeat(2 ** 20);
    await until(async () => {
      await service.root.echo(big);
      return ofName("a").some(({ load }) => (load?.networkBytesPerSecond ?? 0) > 2 ** 20);
    }, "for the traffic of a");
    await until(() => {
      const begun = performance.now();
      while (performance.now() - begun < 300);
      return ofName("a").some(({ load }) => (load?.loop ?? 0) > 0.5);
    }, "until a is busy");
    b.signal("SIGSTOP");
    const asked = Array.from({ length: 7 }, () => service.root.transfer(1, 2, 1));
    await until(() => last("a")?.queue === 7);
    b.signal("SIGCONT");
    await waitFor("for the answers", Promise.all(asked));
    await until(() => last("a")?.queue === 0);

    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, "cluster", "status", journal]);
    assert.match(stdout, /^load +cpu +loop +memory +disk +network +queue$/m);
    for (const name of ["a", "b"])
      assert.match(stdout, new RegExp(`^${name}-\\w+ +(\\d+% +){4}\\d+\\.\\d kB/s +\\d+$`, "m"));

    b.signal("SIGKILL");
    await until(() => ofName("b").at(-1)?.what === "left");
  });
});

test("a beat with a load that is none is a beat without a load", () => {
  const beat: Beat = { member: "m", epoch: 1, position: 2, state: "head", program: "Bank" };
  const load = {
    cpu: 0.1,
    loop: 0.2,
    memory: 0.3,
    memoryBytes: 4,
    networkBytesPerSecond: 5,
    queue: 6,
    disk: 0.7,
  };
  assert.deepEqual(readBeat(Buffer.from(JSON.stringify({ ...beat, load }))), { ...beat, load });
  const random = new Random(1);
  const wrong = [undefined, null, "1", -1, {}, [], true];
  for (let i = 0; i < 200; i++) {
    const broken = { ...load, [random.pick(Object.keys(load))]: random.pick(wrong) };
    assert.deepEqual(readBeat(Buffer.from(JSON.stringify({ ...beat, load: broken }))), beat);
  }
});
