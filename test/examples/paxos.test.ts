import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { run } from "headwater";
import { connect } from "headwater/client";
import { type ActingCaller, type OutsideFakes, simulate } from "headwater/test";
import program, { type api, Decree, type Letter, main, NODES } from "../../examples/paxos.js";
import { MAIN, ROOT } from "../cli/headwater.js";
import { freePort } from "../cli/ports.js";
import { sleep } from "../kit/programs/counters.js";
import { until, waitFor } from "../waits.js";
import { printed } from "./printed.js";

const ACTS = 25;
const DECREES = ["colour", "shape"];

/** Letters under way: they are delivered in any order, some of them twice, some never, and none from or to a node that is lost. */
interface Network extends OutsideFakes {
  readonly letters: Letter[];
  lost: string | null;
}

type Caller = ActingCaller<
  Readonly<Record<string, { decrees: (key: string) => Pick<Decree, "propose" | "chosen" | "receive"> }>>,
  Network
>;

function network(): Network {
  const letters: Letter[] = [];
  return { letters, lost: null, outside: { "paxos.post": (letter: Letter) => void letters.push(letter) } };
}

const decree = ({ root }: Caller, node: string, key: string) => {
  const replica = root[node];
  assert.ok(replica);
  return replica.decrees(key);
};

async function deliver(caller: Caller, { from, to, decree: key, message }: Letter): Promise<void> {
  const { lost } = caller.world;
  if (from !== lost && to !== lost) await decree(caller, to, key).receive(from, message);
}

/** Some letter arrives, or is lost, or arrives now and once more later. */
async function deliverOne(caller: Caller): Promise<void> {
  const { random, world } = caller;
  if (world.letters.length === 0) return void (await sleep(100));
  const at = random.int(world.letters.length);
  const [letter] = random.chance(0.2) ? world.letters.slice(at) : world.letters.splice(at, 1);
  if (letter !== undefined && !random.chance(0.15)) await deliver(caller, letter);
}

async function act(caller: Caller): Promise<void> {
  const { random, index } = caller;
  if (index === ACTS - 1) return goOnWithoutOne(caller);
  if (random.chance(0.3)) {
    const [node, key] = [random.pick(NODES), random.pick(DECREES)];
    return void (await decree(caller, node, key).propose(`${key} of act ${index}`));
  }
  for (let count = random.int(5); count > 0; count--) await deliverOne(caller);
}

/** One node is lost for good. The others decide everything, whatever it was at. */
async function goOnWithoutOne(caller: Caller): Promise<void> {
  const { random, world } = caller;
  world.lost = random.pick(NODES);
  const others = NODES.filter((node) => node !== world.lost);
  // A node that proposes learns what was chosen, if it has not heard of it.
  for (const node of others)
    for (const key of DECREES) await decree(caller, node, key).propose(`${key} at the end`);
  const isOpen = async () => {
    for (const node of others)
      for (const key of DECREES) if ((await decree(caller, node, key).chosen()) === null) return true;
    return false;
  };
  while (await isOpen()) {
    for (const letter of world.letters.splice(0)) await deliver(caller, letter);
    await sleep(100);
  }
}

describe("Paxos on three logical nodes", () => {
  test("chooses one proposed value for a decree, whatever happens to letters and processes, and goes on without one node", async () => {
    await simulate(program, {
      runs: 30,
      acts: ACTS,
      world: network,
      act: (caller) => act(caller as unknown as Caller),
      invariant: ({ all }) => {
        for (const key of DECREES) {
          const chosen = new Set(
            all(Decree).flatMap((each) => (each.key === key && each.value !== null ? [each.value] : [])),
          );
          assert.ok(chosen.size <= 1, `${key} is ${[...chosen].join(" and ")}`);
          for (const value of chosen) assert.match(value, new RegExp(`^${key} `));
        }
      },
    });
  });

  test("shows itself in one process", async () => {
    await using service = await run(program);
    assert.deepEqual(await printed(main, service), [
      "colour: a red, b red, c red",
      "shape: a round, b round",
      "shape: a round, b round, c round",
    ]);
  });

  test("goes on when one of three processes is killed, which learns what was chosen when it comes back", async (t) => {
    const cluster = new Processes(t, await Promise.all(NODES.map(async () => await freePort())));
    await Promise.all(NODES.map((node) => cluster.start(node)));
    const decided = async (key: string, nodes: readonly string[]) => {
      const values = await Promise.all(nodes.map((node) => cluster.api(node).chosen(key)));
      return values.every((value) => value !== null && value === values[0]) ? values[0] : undefined;
    };
    // All three propose for each decree at once.
    const keys = Array.from({ length: 5 }, (_, i) => `decree ${i}`);
    await Promise.all(
      keys.flatMap((key) => NODES.map((node) => cluster.api(node).propose(key, `${key} of ${node}`))),
    );
    for (const key of keys)
      await until(async () => (await decided(key, NODES)) !== undefined, `until ${key} is decided`);
    const before = await decided("decree 0", NODES);

    await cluster.kill("c");
    for (const node of ["a", "b"]) await cluster.api(node).propose("without c", "yes");
    await until(async () => (await decided("without c", ["a", "b"])) === "yes", "until two of three decide");

    await cluster.start("c");
    await cluster.api("c").propose("without c", "no");
    await until(async () => (await decided("without c", NODES)) === "yes", "until the third has learned");
    assert.equal(await cluster.api("c").chosen("decree 0"), before);
  });
});

/** A process for each logical node, with a journal of its own. */
class Processes {
  readonly #folder = mkdtempSync(join(tmpdir(), "headwater-paxos-"));
  readonly #children = new Map<string, ChildProcess>();
  readonly #urls: ReadonlyMap<string, string>;
  readonly #clients: ReturnType<typeof connect<typeof api>>[] = [];
  readonly #apis = new Map<string, ReturnType<typeof connect<typeof api>>["api"]>();

  constructor(t: TestContext, ports: readonly number[]) {
    this.#urls = new Map(NODES.map((node, i) => [node, `http://127.0.0.1:${ports[i]}`]));
    t.after(async () => {
      for (const client of this.#clients) client.close();
      await Promise.all(NODES.map((node) => this.kill(node)));
      rmSync(this.#folder, { recursive: true });
    });
  }

  async start(node: string): Promise<void> {
    const url = this.#urls.get(node) ?? "";
    const args = [
      "run",
      "examples/paxos",
      "--hosts",
      "2",
      "--journal",
      join(this.#folder, node),
      "--port",
      new URL(url).port,
    ];
    const peers = [...this.#urls].map(([name, at]) => `${name}=${at}`).join(" ");
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: ROOT,
      env: { ...process.env, PAXOS_NODE: node, PAXOS_PEERS: peers },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.set(node, child);
    let said = "";
    await waitFor(
      `for node ${node} to listen`,
      new Promise<void>((resolve, reject) => {
        const hear = (text: Buffer) => {
          said += text;
          if (said.includes(url)) resolve();
        };
        child.stdout.on("data", hear);
        child.stderr.on("data", hear);
        child.on("close", () => reject(new Error(`node ${node} has ended: ${said}`)));
      }),
    );
  }

  api(node: string) {
    const known = this.#apis.get(node);
    if (known !== undefined) return known;
    const client = connect<typeof api>(this.#urls.get(node) ?? "");
    this.#clients.push(client);
    this.#apis.set(node, client.api);
    return client.api;
  }

  async kill(node: string): Promise<void> {
    const child = this.#children.get(node);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await closed;
  }
}
