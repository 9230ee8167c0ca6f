import { setTimeout as sleep } from "node:timers/promises";
import { run } from "headwater";
import { Root } from "../lib/headwater.js";
import { percentile } from "../lib/percentile.js";
import type { ClusterRow } from "./index.js";
import type { Processes } from "./members.js";

/** The processes have heard of each other by then. */
const SETTLE_MS = 1000;

/** From the SIGKILL of the head to the first answer to a request that was made after it, at a gateway that lives on. */
export async function headKills(processes: Processes, journal: string, kills: number): Promise<ClusterRow> {
  const service = await run(Root, { journal, member: { name: "caller", takesOver: false } });
  const took: number[] = [];
  try {
    for (let i = 0; i < kills; i++) {
      await sleep(SETTLE_MS);
      const { head } = await processes.roles();
      const killedAt = performance.now();
      const killed = processes.kill(head);
      await service.root.counters(i).bump(0);
      took.push(performance.now() - killedAt);
      await killed;
      await processes.start();
    }
  } finally {
    await service.stop();
  }
  return rowOf("head-killed", took);
}

/**
 * From the SIGKILL of a process to the answer to a request that was on its way through it. Its caller gets an error, and asks another
 * process under the same idempotency key.
 */
export async function gatewayKills(processes: Processes, kills: number): Promise<ClusterRow> {
  const took: number[] = [];
  for (let i = 0; i < kills; i++) {
    await sleep(SETTLE_MS);
    const { others } = await processes.roles();
    const [victim, other] = others;
    if (victim === undefined || other === undefined) throw new Error("there are fewer than three processes.");
    const urls = [await victim.joined, await other.joined];
    const ask = (url: string) =>
      fetch(`${url}/api/bump`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": `kill-${i}` },
        body: JSON.stringify([i]),
      }).then((response) => response.json());
    const asked = ask(urls[0] as string);
    const killedAt = performance.now();
    const killed = processes.kill(victim);
    await asked.catch(() => ask(urls[1] as string));
    took.push(performance.now() - killedAt);
    await killed;
    await processes.start();
  }
  return rowOf("gateway-killed", took);
}

function rowOf(name: string, took: readonly number[]): ClusterRow {
  return { case: name, kills: took.length, p50Ms: percentile(took, 0.5), p99Ms: percentile(took, 0.99) };
}
