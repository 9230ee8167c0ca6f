import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Context, type OutsideResult, outside, type RunOptions, readonly, run } from "headwater";
import { handOver, statusOf } from "#src/cluster/index.js";
import { ROOT } from "../house/source.js";
import { NatsServers } from "../nats-servers.js";
import { refused } from "../refused.js";
import { until, waitFor } from "../waits.js";
import { checkTaken, MESSAGES_PER_GIFT } from "./branches-check.js";
import { MemberProcess } from "./member-process.js";
import branches, { BRANCHES, LOGS, type Taken } from "./programs/branches.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address(names++ % 3)}/logs${names}`;
const DESKS = 4;

async function join(t: TestContext, journal: string, name: string, options: RunOptions = {}) {
  const { member, ...rest } = options;
  const service = await run(branches, { journal, logs: LOGS, member: { name, ...member }, ...rest });
  t.after(() => service.stop({ graceMs: 0 }));
  return service;
}

type Joined = Awaited<ReturnType<typeof join>>;

async function seenIn(service: Joined) {
  const taken = new Map<string, readonly Taken[]>();
  let balance = 0;
  for (const branch of BRANCHES) {
    const all = await service.nodes[branch].all(DESKS);
    balance += all.balance;
    taken.set(branch, all.taken);
  }
  return { taken, balance, count: [...taken.values()].flat().length };
}

/** Gifts between branches, each with a name, until all their messages were taken. */
class Gifts {
  readonly given: string[] = [];

  constructor(readonly service: Joined) {}

  give(): Promise<number> {
    const n = this.given.length;
    const [from = "North", to = "East"] = [BRANCHES[n % 3], BRANCHES[(n + 1 + (n % 2)) % 3]];
    const name = String(n);
    this.given.push(name);
    return this.service
      .as({ request: name })
      .nodes[from].desks(n % DESKS)
      .give(name, to, (n + 1) % DESKS);
  }

  async check(): Promise<void> {
    await until(async () => (await seenIn(this.service)).count >= this.given.length * MESSAGES_PER_GIFT);
    const { taken, balance } = await seenIn(this.service);
    checkTaken(taken, this.given);
    assert.equal(balance, BRANCHES.length * DESKS * 100);
  }
}

async function headsOf(journal: string): Promise<(string | undefined)[]> {
  const { members, logs } = await statusOf(journal);
  const all = [members, ...logs.map((log) => log.members)];
  return all.map((each) => each.find(({ isHead }) => isHead)?.member.replace(/-[0-9a-f]{8}$/, ""));
}

describe("a cluster with several logs", () => {
  test("spreads its heads over the processes; each fails over by itself, and no message is lost or comes twice", async (t) => {
    const journal = newCluster();
    const start = (name: string) => new MemberProcess(t, name, journal, {}, "branches-member.ts");
    const processes = new Map(["a", "b", "c"].map((name) => [name, start(name)]));
    await waitFor("for three processes", Promise.all([...processes.values()].map(({ joined }) => joined)));
    const gateway = await join(t, journal, "gateway", { member: { takesOver: false } });
    await until(async () => new Set(await headsOf(journal)).size === 3, "until each log has another head");
    const gifts = new Gifts(gateway);
    let isOver = false;
    const giver = async () => {
      while (!isOver) await gifts.give();
    };
    const givers = Promise.all(Array.from({ length: 8 }, giver));
    for (let log = 0; log < 3; log++) {
      const before = gifts.given.length;
      await until(() => gifts.given.length > before + 50);
      const head = (await headsOf(journal))[log] ?? "";
      processes.get(head)?.signal("SIGKILL");
      await processes.get(head)?.ended();
      await until(
        async () => ![head, undefined].includes((await headsOf(journal))[log]),
        "until it has another head",
      );
      const next = start(`${head}2`);
      processes.set(`${head}2`, next);
      await waitFor("for a process in its place", next.joined);
    }
    isOver = true;
    await waitFor("for the last answers", givers);
    await gifts.check();
    t.diagnostic(`${gifts.given.length} gifts`);
  });

  test("a head is handed over without the others, and the status shows each log", async (t) => {
    const journal = newCluster();
    const a = await join(t, journal, "a");
    await join(t, journal, "b");
    const { from, to } = await handOver(journal, "b", "e");
    assert.match(`${from} ${to}`, /^a-\w+ b-\w+$/);
    const gifts = new Gifts(a);
    await Promise.all(Array.from({ length: 30 }, () => gifts.give()));
    await gifts.check();
    await a.idle();
    const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
    const args = [main, "cluster", "status", journal];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    assert.match(
      stdout,
      /^log e \(East: Branch\): \d+ messages, complete on 3 of 3 servers, head b-\w+, a-\w+ \d+ behind$/m,
    );
    assert.match(stdout, /^log w \(West: Branch\): /m);
    await refused(handOver(journal, null, "nosuch"), "HW-3104");
  });

  test("started alone again, it delivers what was on its way, and goes on", async (t) => {
    const journal = newCluster();
    const first = await join(t, journal, "first");
    const gifts = new Gifts(first);
    await Promise.all(Array.from({ length: 40 }, () => gifts.give()));
    await first.stop({ graceMs: 0 });
    const second = await join(t, journal, "second");
    const more = new Gifts(second);
    more.given.push(...gifts.given);
    await Promise.all(Array.from({ length: 40 }, () => more.give()));
    await more.check();
  });

  test("timers, started events, outside calls and messages to clients are as ever in each log", async (t) => {
    const weigh = outside("weigh", (what: string) => what.length);
    class Paper extends Context {
      said: string[] = [];
      @readonly
      read() {
        return this.said;
      }
      say(what: string): void {
        this.said.push(what);
      }
    }
    class Scale extends Context {
      paper = this.child(Paper);
      begin(): void {
        this.event.after(1, this.say, "timer");
        this.event.start(this.paper).say("started");
        this.event.outside(weigh, "gold", this.weighed);
        this.event.send("ada", this.event.node);
      }
      async say(what: string): Promise<void> {
        await this.paper.say(what);
      }
      async weighed(result: OutsideResult<number>): Promise<void> {
        await this.paper.say(`weighed ${result.ok ? result.value : "nothing"}`);
      }
    }
    const journal = newCluster();
    const program = { left: Scale, right: Scale };
    const service = await run(program, { journal, logs: { r: ["right"] } });
    t.after(() => service.stop({ graceMs: 0 }));
    const heard: string[] = [];
    const ada = service.client<string>("ada", (message) => heard.push(message));
    for (const each of ["left", "right"] as const) {
      await ada.nodes[each].begin();
      await until(async () => (await service.nodes[each].paper.read()).length === 3);
      assert.deepEqual((await service.nodes[each].paper.read()).toSorted(), [
        "started",
        "timer",
        "weighed 4",
      ]);
    }
    await until(() => heard.length === 2);
    assert.deepEqual(heard.toSorted(), ["left", "right"]);
  });

  test("refuses to divide what cannot be divided, or is divided in another way", async (t) => {
    const journal = newCluster();
    const begun = (logs: unknown) => run(branches, { journal, logs: logs as Record<string, string[]> });
    for (const logs of [
      [],
      "e",
      { e: [] },
      { e: ["South"] },
      { e: ["East"], w: ["East"] },
      { "a b": ["East"] },
    ])
      await refused(begun(logs), "HW-3140");
    await refused(begun({ e: ["North", "East", "West"] }), "HW-3140");
    await refused(run(branches, { logs: LOGS }), "HW-3140");
    await join(t, journal, "a");
    await refused(begun({ other: ["East"], w: ["West"] }), "HW-3141");
    await refused(begun(undefined), "HW-3002");
  });
});
