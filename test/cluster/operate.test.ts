import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Context, type RunOptions, run } from "headwater";
import { drain, handOver, statusOf } from "#src/cluster/index.js";
import { ROOT } from "../house/source.js";
import { NatsServers } from "../nats-servers.js";
import { refused } from "../refused.js";
import { until, waitFor } from "../waits.js";
import Bank from "./programs/bank.js";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address(names++ % 3)}/operate${names}`;

async function joined(t: TestContext, journal: string, name: string, options: RunOptions = {}) {
  const service = await run(Bank, { journal, member: { name }, ...options });
  t.after(() => service.stop({ graceMs: 0 }));
  return service;
}

async function headOf(journal: string): Promise<string> {
  const { members } = await statusOf(journal);
  return members.find(({ isHead }) => isHead)?.member.replace(/-[^-]+$/, "") ?? "";
}

/** Transfers at a member, several at a time, until they are stopped: resolves with how many were made. */
function load({ root }: { readonly root: { transfer(a: number, b: number, c: number): Promise<number> } }) {
  const counts: number[] = [];
  let isOver = false;
  const working = Array.from({ length: 8 }, async () => {
    while (!isOver) counts.push(await root.transfer(1, 2, 1));
  });
  return {
    counts,
    more: (count: number) => {
      const least = counts.length + count;
      return until(() => counts.length >= least, `until ${count} more transfers`);
    },
    stop: async () => {
      isOver = true;
      await waitFor("for the last transfers", Promise.all(working));
      assert.deepEqual(
        counts.toSorted((x, y) => x - y),
        Array.from({ length: counts.length }, (_, i) => i + 1),
        "each transfer was made once",
      );
    },
  };
}

describe("a handover", () => {
  test("under load loses and repeats nothing, and goes to the member that is named", async (t) => {
    const journal = newCluster();
    const a = await joined(t, journal, "a");
    await Promise.all([joined(t, journal, "b"), joined(t, journal, "c")]);
    const work = load(a);
    for (const to of ["c", "a", "b"]) {
      await work.more(20);
      const { to: next } = await waitFor("for the handover", handOver(journal, to));
      assert.equal(next.replace(/-[^-]+$/, ""), to);
    }
    await work.more(20);
    await work.stop();
    assert.equal(await headOf(journal), "b");
  });

  test("is refused without a member that could take over, and goes on", async (t) => {
    const journal = newCluster();
    const a = await joined(t, journal, "a");
    await joined(t, journal, "b", { member: { name: "b", takesOver: false } });
    await refused(handOver(journal, null), "HW-3111");
    await refused(handOver(journal, "nobody"), "HW-3110");
    assert.equal(await a.root.transfer(1, 2, 1), 1);
  });
});

test("a member that is drained hands over and does not become the head again", async (t) => {
  const journal = newCluster();
  const a = await joined(t, journal, "a");
  const b = await joined(t, journal, "b");
  const c = await joined(t, journal, "c");
  assert.equal(await a.root.transfer(1, 2, 1), 1);
  await drain(journal, "a");
  await until(async () => (await headOf(journal)) !== "");
  const { members } = await statusOf(journal);
  assert.deepEqual(
    members.map(({ member, state, about }) => [member[0], state === "gateway", about?.isDrained]),
    [
      ["a", true, true],
      ["b", false, false],
      ["c", false, false],
    ],
  );
  const [head, other] = (await headOf(journal)) === "b" ? [b, c] : [c, b];
  await head.stop();
  assert.equal(await a.root.transfer(1, 2, 1), 2);
  assert.equal(await other.root.count(), 2);
  const status = await statusOf(journal);
  assert.match(status.promised, /power loss of all is not known/);
  assert.equal(status.syncs, null);
});

test("a program whose classes do not fit the state is refused, and one with new methods works beside the others", async (t) => {
  const journal = newCluster();
  const a = await joined(t, journal, "a");
  assert.equal(await a.root.transfer(1, 2, 1), 1);
  const odd = class Bank extends Context {
    static override readonly name = "Bank";
    moved = 0; // and no transfers
  };
  const joining = run(odd, { journal, member: { name: "odd" } });
  t.after(() => joining.then((service) => service.stop({ graceMs: 0 })).catch(() => {}));
  await refused(joining, "HW-3021");
  const later = class extends Bank {
    static override readonly name = "Bank";
    twice(): number {
      return this.transfers * 2;
    }
  };
  const b = await run(later, { journal, member: { name: "b" } });
  t.after(() => b.stop({ graceMs: 0 }));
  assert.equal(await b.root.transfer(1, 2, 1), 2);
  await refused(b.root.twice(), "HW-3113");
  await handOver(journal, "b");
  assert.equal(await b.root.twice(), 4);
  assert.equal(await a.root.transfer(1, 2, 1), 3);
});

describe("headwater cluster roll", () => {
  const version = (n: number) => `import { Context, expose } from "headwater";
export default class Counter extends Context {
  static version = ${n};
  static upgrade(fields) { return { ...fields${n > 1 ? ", step: 10" : ""} }; }
  count = 0;
  ${n > 1 ? "step = 10;" : ""}
  add() { this.count += ${n > 1 ? "this.step" : "1"}; return this.count; }
}
export const api = expose(Counter, { add: (counter) => counter.add() });
`;

  test("restarts every process with the new version while requests are made", async (t) => {
    const journal = newCluster();
    const folder = mkdtempSync(join(tmpdir(), "headwater-roll-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(ROOT, join(folder, "node_modules/headwater"));
    const program = join(folder, "counter.mjs");
    writeFileSync(program, version(1));
    const start = async (name: string) => {
      const args = [
        MAIN,
        "run",
        program,
        "--cluster",
        journal,
        "--name",
        name,
        "--port",
        "0",
        "--json",
        "--supervise",
      ];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      t.after(() => child.kill("SIGTERM"));
      const urls: string[] = [];
      createInterface({ input: child.stdout }).on("line", (line) => {
        const { url } = JSON.parse(line) as { url?: string };
        if (url !== undefined) urls.push(url);
      });
      await until(() => urls.length > 0, `until ${name} serves`);
      return urls;
    };
    const urls = await Promise.all(["one", "two"].map(start));
    const add = async (of: readonly string[]) => {
      const response = await fetch(`${of.at(-1)}/api/add`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "[]",
      });
      return ((await response.json()) as { value: number }).value;
    };
    assert.deepEqual([await add(urls[0] ?? []), await add(urls[1] ?? [])], [1, 2]);
    writeFileSync(program, version(2));
    const rolled = promisify(execFile)(process.execPath, [MAIN, "cluster", "roll", journal]);
    const { stdout } = await waitFor("for the cluster to be rolled", rolled);
    assert.match(stdout, /All processes run the program as it is now/);
    await until(() => urls.every((each) => each.length === 2), "until all serve again");
    const counts = [await add(urls[0] ?? []), await add(urls[1] ?? [])];
    assert.deepEqual(counts, [12, 22]);
  });

  test("is refused where nothing would start a process again", async (t) => {
    const journal = newCluster();
    await joined(t, journal, "a");
    await joined(t, journal, "b");
    const rolled = promisify(execFile)(process.execPath, [MAIN, "cluster", "roll", journal]);
    await assert.rejects(rolled, /HW-3112/);
  });
});
