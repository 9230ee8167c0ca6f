import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { run } from "headwater";
import { statusOf } from "#src/cluster/index.js";
import { Random } from "#src/random.js";
import { NatsServers } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { MemberProcess } from "./member-process.js";
import Bank from "./programs/bank.js";

const FAULTS = Number(process.env.HEADWATER_FAULTS ?? 10);
const SEED = Number(process.env.HEADWATER_SEED ?? Date.now() % 100_000);
const [ACCOUNTS, AT_ONCE] = [10, 16];

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

test(`heads, standbys and servers are killed and paused, and every operation has its effect once (seed ${SEED})`, async (t) => {
  const random = new Random(SEED);
  const journal = `${servers.address()}/bank`;
  const processes = new Map<string, MemberProcess>();
  let started = 0;
  const start = () => {
    started += 1;
    const made = new MemberProcess(t, `m${started}`, journal);
    processes.set(made.name, made);
    return made.joined;
  };
  await waitFor("for the members", Promise.all([start(), start(), start()]));
  const service = await run(Bank, { journal, member: { name: "driver", takesOver: false } });
  t.after(() => service.stop({ graceMs: 0 }));

  const acknowledged: string[] = [];
  let [isOver, last, stale] = [false, 0, 0];
  const working = Array.from({ length: AT_ONCE }, async (_, worker) => {
    for (let i = 0; !isOver; i++) {
      const operation = `${worker}/${i}`;
      const count = await service.root.once(operation, worker % ACCOUNTS, (worker + i) % ACCOUNTS);
      acknowledged.push(operation);
      last = Math.max(last, count);
      if (i % 8 !== 0) continue;
      const before = last;
      if ((await service.root.count()) < before) stale += 1;
    }
  });
  const goesOn = (least: number) => until(() => acknowledged.length >= least, `until ${least} operations`);

  for (let fault = 0; fault < FAULTS; fault++) {
    await goesOn(acknowledged.length + 20);
    const { members } = await statusOf(journal);
    const nameOf = (isHead: boolean) =>
      members
        .find((member) => member.isHead === isHead && member.state !== "gateway")
        ?.member.replace(/-[^-]+$/, "");
    const victim = processes.get(nameOf(random.chance(0.7)) ?? "");
    if (fault % 8 === 5) {
      const server = random.int(3);
      await servers.signal(server, "SIGKILL");
      await goesOn(acknowledged.length + 5);
      servers.resume(server);
    } else if (victim !== undefined && random.chance(0.5)) {
      victim.signal("SIGKILL");
      processes.delete(victim.name);
      await victim.ended();
      await waitFor("for the new member", start());
    } else if (victim !== undefined) {
      victim.signal("SIGSTOP");
      await goesOn(acknowledged.length + 5 + random.int(200)); // without it
      victim.signal("SIGCONT");
    }
  }
  await goesOn(acknowledged.length + 20);
  isOver = true;
  await waitFor("for all operations", Promise.all(working));
  assert.equal(stale, 0, "no answer is older than one before it");
  assert.equal(await service.root.count(), acknowledged.length);
  assert.equal(await service.root.total(ACCOUNTS), ACCOUNTS * 100);
  const times = await Promise.all(acknowledged.map((operation) => service.root.operations(operation).read()));
  assert.deepEqual([...new Set(times)], [1]);
  t.diagnostic(`${acknowledged.length} operations, ${FAULTS} faults`);
});
