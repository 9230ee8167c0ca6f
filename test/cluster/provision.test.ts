import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { hostsOf, type Policy, run } from "headwater";
import { statusOf } from "#src/cluster/index.js";
import { NatsServers } from "../nats-servers.js";
import { refused } from "../refused.js";
import { until, waitFor } from "../waits.js";
import { MemberProcess } from "./member-process.js";
import Bank from "./programs/bank.js";

const programs = (name: string) => fileURLToPath(new URL(`./programs/${name}`, import.meta.url));
const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const module = programs("bank.ts");

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ count: 1 });
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address()}/provision${names++}?replicas=1`;

interface MakerCall {
  readonly what: "begin" | "end";
  readonly action: "add" | "remove";
  readonly id: string;
  readonly asked: { readonly id: string; readonly action: string; readonly wanted: number };
}

/** A command that makes processes, and what was asked of it. What it has made ends with the test. */
function maker(t: TestContext, address: string, pauseMs = 0) {
  const directory = mkdtempSync(join(tmpdir(), "headwater-maker-"));
  t.after(() => {
    for (const id of made()) {
      try {
        process.kill(Number(readFileSync(join(directory, id), "utf8")), "SIGKILL");
      } catch {} // it has ended
    }
    rmSync(directory, { recursive: true, force: true });
  });
  const made = () => readdirSync(directory).filter((name) => name.startsWith("auto-"));
  const calls = (): MakerCall[] => {
    const file = join(directory, "calls");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1); // the last may not be whole yet
    return lines.map((line) => JSON.parse(line) as MakerCall);
  };
  const broken = join(directory, "broken");
  return {
    made,
    calls,
    by: [process.execPath, programs("maker.mjs"), directory, address, String(pauseMs)],
    break: () => writeFileSync(broken, ""),
    repair: () => rmSync(broken),
  };
}

async function membersOf(journal: string): Promise<string[]> {
  return (await statusOf(journal)).members.map(({ member }) => member.replace(/-[^-]+$/, "")).sort();
}

/** As many processes as the test wants. */
function wanting(): { count: number; readonly policy: Policy } {
  let count = 1;
  return {
    get count() {
      return count;
    },
    set count(wanted) {
      count = wanted;
    },
    policy: ({ hosts }) => {
      if (hosts.length < count) return [{ kind: "add", count: 1, reason: "the test" }];
      return hosts.length > count ? [{ kind: "remove", host: 0, reason: "the test" }] : [];
    },
  };
}

describe("processes are added and removed", () => {
  test("by a command that fails at first: they join with hosts, and are drained before they go", async (t) => {
    const journal = newCluster();
    const command = maker(t, journal);
    const wanted = wanting();
    const warnings: string[] = [];
    const texts: string[] = [];
    const service = await run(Bank, {
      ...{ journal, module, hosts: 1, hostsAs: "processes", member: { name: "a" } },
      onWarning: ({ message }) => warnings.push(message),
      provision: {
        ...{ max: 3, coolDownMs: 100, by: command.by, policy: wanted.policy },
        onDecision: ({ text }) => texts.push(text),
      },
    });
    t.after(() => service.stop({ graceMs: 0 }));
    for (let i = 0; i < 10; i++) await service.root.transfer(i, (i + 1) % 10, 1);
    command.break();
    wanted.count = 2;
    await until(() =>
      warnings.some((text) =>
        /^HW-3150: auto-\w+ could not be added: .*no machine is free.*tried again/.test(text),
      ),
    );
    assert.deepEqual(command.made(), []);
    command.repair();
    const hosts = hostsOf(service);
    const ofAdded = () =>
      hosts.list().filter(({ member, state }) => member?.startsWith("auto-") && state === "running");
    await until(() => ofAdded().length === 1);
    const [id = ""] = command.made();
    assert.deepEqual(await membersOf(journal), ["a", id]);
    const [host] = ofAdded();
    assert.ok(host);
    for (let i = 0; i < 10; i++) await hosts.move(`Bank.accounts(${i})`, host.id);
    assert.equal(await service.root.total(10), 1000);

    wanted.count = 1;
    await until(() => command.made().length === 0);
    assert.equal(hosts.list().length, 1, "its host was drained");
    await until(async () => (await membersOf(journal)).length === 1);
    assert.equal(await service.root.total(10), 1000);
    assert.deepEqual(texts, ["a process is added: the test", `the process ${id} is removed: the test`]);
    const calls = command.calls();
    for (const [i, call] of calls.entries()) {
      assert.equal(call.what, i % 2 === 0 ? "begin" : "end", "calls follow each other");
      assert.deepEqual([call.asked.id, call.asked.action, call.id], [id, call.action, id]);
      assert.equal(call.asked.wanted, call.action === "add" ? 2 : 1);
    }
  });

  test("and a head that is killed while a process is made is followed by one that makes no second", async (t) => {
    const journal = newCluster();
    const command = maker(t, journal, 1000);
    const provision = {
      ...{ max: 2, by: command.by, timeoutMs: 4000, coolDownMs: 100, inARow: 1 },
      keep: { utilisation: [0, 0.0001] as const }, // always too busy
    };
    const b = new MemberProcess(t, "b", journal, { provision });
    await waitFor("for b", b.joined);
    await until(() => command.calls().length === 1);
    const [first] = command.calls();
    const c = new MemberProcess(t, "c", journal, { provision });
    b.signal("SIGKILL");
    await waitFor("for c", c.joined);
    await until(() => command.calls().some(({ what }) => what === "end"));
    await until(async () => (await membersOf(journal)).length === 2);
    assert.deepEqual(await membersOf(journal), [first?.id, "c"].sort());
    assert.deepEqual([...new Set(command.calls().map(({ id }) => id))], [first?.id]);
    assert.equal(command.made().length, 1);
  });

  test("on this machine by the command line, and end with the process that has added them", async (t) => {
    const journal = newCluster();
    const args = [
      "run",
      module,
      "--cluster",
      journal,
      "--name",
      "first",
      "--max-processes",
      "3",
      "--min-processes",
      "2",
      "--port",
      "0",
    ];
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    t.after(() => child.kill("SIGKILL"));
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => {
        output += bytes.toString();
      });
    await until(async () => output.includes("/") && (await membersOf(journal)).length === 2).catch(
      (error) => {
        throw new Error(`${error}: ${output}`);
      },
    );
    const [added = ""] = await membersOf(journal);
    assert.match(added, /^auto-[0-9a-f]{8}$/);
    assert.match(output, /Processes: a process is added: there are to be 2 at least/);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await waitFor("for its end", ended), [0, null]);
    await until(async () => (await statusOf(journal)).members.length === 0);
  });
});

test("what cannot be provisioned is refused before anything begins", async () => {
  const journal = newCluster();
  const wrong: unknown[] = [
    null,
    3,
    [],
    {},
    { max: 0 },
    { max: 65 },
    { max: 2, min: 3 },
    { max: 2, by: "cloud" },
    { max: 2, by: [] },
  ];
  wrong.push(
    { max: 2, joinMs: 0 },
    { max: 2, timeoutMs: Number.NaN },
    { max: 2, much: 1 },
    { max: 2, keep: { heat: [1, 2] } },
  );
  for (const provision of wrong)
    await refused(run(Bank, { journal, provision: provision as { max: 1 } }), "HW-3152");
});
