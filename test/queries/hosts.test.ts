import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { hostsOf, type RunOptions, run, type Service } from "headwater";
import { Random } from "#src/random.js";
import { ask, checkLook, checkSettled } from "./checks.js";
import House from "./programs/house.js";

const module = new URL("./programs/house.ts", import.meta.url).href;
const killed = fileURLToPath(new URL("./programs/house-killed.ts", import.meta.url));

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-queries-"));
  t.after(() => rm(made, { recursive: true }));
  return join(made, "journal");
}

/** Clients that ask for something all the time, until they are told to stop. Resolves to what is there for certain. */
function load(service: Service<House>, random: Random): { stop(): Promise<string[]> } {
  let isOver = false;
  const known: string[] = [];
  const client = async (number: number) => {
    for (let i = 0; !isOver || i < 15; i++) {
      known.push(...(await ask(service, random, `${number}.${i}`)));
      if (i % 5 === 0) await checkLook(await service.root.look());
    }
  };
  const work = Promise.all([1, 2, 3, 4].map(client));
  return {
    stop: async () => {
      isOver = true;
      await work;
      return known;
    },
  };
}

const WAYS: readonly [name: string, options: RunOptions][] = [
  ["threads", {}],
  ["processes", { hostsAs: "processes" }],
];

for (const [seed, [name, options]] of WAYS.entries())
  test(`under load, a context with queries moves between ${name}, and nobody can tell`, async (t) => {
    const journal = await folder(t);
    const service = await run(House, { hosts: 2, module, journal, ...options });
    const hosts = hostsOf(service);
    const work = load(service, new Random(seed));
    for (let i = 0; i < 6; i++) await hosts.move(service.root.market, i % 2);
    const known = await work.stop();
    await service.idle();
    const { bids } = await checkSettled(service);
    assert.deepEqual(
      known.filter((id) => !bids.includes(id)),
      [],
    );
    await service.stop();
    await using again = await run(House, { journal });
    assert.deepEqual((await checkSettled(again)).bids, bids, "in one thread, from the journal");
  });

test("the program is killed again and again, and goes on with every row and every result once", async (t) => {
  const journal = await folder(t);
  const said: string[] = [];
  for (const [i, name] of ["a", "bc"].entries()) {
    const child = spawn(process.execPath, ["--import", "tsx", killed, journal, name], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let lines = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (++lines === 40 + 17 * i) child.kill("SIGKILL");
    }
    const service = await run(House, { journal });
    await service.idle();
    const { bids } = await checkSettled(service);
    assert.deepEqual(
      said.filter((id) => !bids.includes(id)),
      [],
      "what was acknowledged is there",
    );
    await service.stop();
  }
});
