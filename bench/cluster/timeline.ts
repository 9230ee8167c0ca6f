import { setTimeout as sleep } from "node:timers/promises";
import { run } from "headwater";
import type { Figure } from "#src/chart/chart.js";
import { Root } from "../lib/headwater.js";
import type { Processes } from "./members.js";

const IN_FLIGHT = 256;
const CONTEXTS = 160;
const BUCKET_MS = 100;
const [KILLED_AT_MS, JOINS_AT_MS, END_MS] = [4000, 9000, 15_000];

/** Events per second through a gateway that lives on, while the head is killed and another process joins. */
export async function aroundChanges(processes: Processes, journal: string): Promise<Figure> {
  const service = await run(Root, { journal, member: { name: "observer", takesOver: false } });
  try {
    let isOver = false;
    const buckets = Array.from({ length: END_MS / BUCKET_MS }, () => 0);
    const { head } = await processes.roles();
    const began = performance.now();
    const loops = Array.from({ length: IN_FLIGHT }, async (_, i) => {
      for (let n = i; !isOver; n += IN_FLIGHT) {
        await service.root.counters(n % CONTEXTS).bump(0);
        const bucket = Math.floor((performance.now() - began) / BUCKET_MS);
        if (bucket < buckets.length) buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      }
    });
    await sleep(KILLED_AT_MS);
    await processes.kill(head);
    await sleep(JOINS_AT_MS - KILLED_AT_MS);
    const joined = processes.start().then(() => performance.now() - began);
    await sleep(END_MS - JOINS_AT_MS);
    isOver = true;
    await Promise.all(loops);
    const joinedAt = (await joined) / 1000;
    return {
      title: "A cluster of three processes around a kill and a join",
      note: `Three NATS servers and all processes on one machine, ${IN_FLIGHT} events in flight at a gateway. The head is killed with SIGKILL; later a new process starts and joins.`,
      panels: [
        {
          x: { label: "seconds" },
          y: { label: "events per second", min: 0 },
          lines: [
            {
              name: "durable events per second",
              points: buckets.map(
                (count, i) => [(i * BUCKET_MS) / 1000, (count * 1000) / BUCKET_MS] as const,
              ),
              steps: true,
            },
          ],
          marks: [
            { x: KILLED_AT_MS / 1000, text: "head killed" },
            { x: JOINS_AT_MS / 1000, text: "process started" },
            { x: joinedAt, text: "joined" },
          ],
        },
      ],
    };
  } finally {
    await service.stop();
  }
}
