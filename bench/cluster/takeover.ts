import { fileURLToPath } from "node:url";
import { run } from "headwater";
import { statusOf } from "#src/cluster/index.js";
import { askMember } from "#src/cluster/operator.js";
import { natsAddress } from "#src/journal/stream/nats-address.js";
import { NatsLog } from "#src/journal/stream/nats-log.js";
import { NatsServers } from "../../test/nats-servers.js";
import { optionsFrom } from "../lib/options.js";
import { percentile } from "../lib/percentile.js";
import { City } from "../programs/city.js";
import { Processes } from "./members.js";

/**
 * Three processes with a million contexts and 100,000 armed timers: from the SIGKILL of the head to the first answer that a gateway gets
 * for a request that was made after it; and from the request for a handover to the first answer of the next head.
 */

const PROGRAM = fileURLToPath(new URL("../programs/takeover-member.ts", import.meta.url));
const PROCESSES = 3;
const [CONTEXTS, TIMERS, TIMERS_EACH, AT_ONCE] = [1_000_000, 100_000, 10, 2000];
const LAG_MAX = 10;
const GOAL_MS = { kill: 3000, handover: 200 };

type How = keyof typeof GOAL_MS;

export async function main(args: readonly string[]): Promise<void> {
  const quick = { rounds: 2, warmUpMs: 0, roundMs: 0 };
  const { json, effort } = optionsFrom(args, { ...quick, rounds: 20 }, quick);
  const contexts = effort.events ?? CONTEXTS;
  const timers = Math.round((contexts * TIMERS) / CONTEXTS);
  const servers = await NatsServers.start();
  const journal = `${servers.address()}/takeover`;
  const processes = new Processes(journal, PROGRAM);
  try {
    for (let i = 0; i < PROCESSES; i++) await processes.start();
    const service = await run(City, { journal, member: { name: "caller", takesOver: false } });
    const port = await NatsLog.existing(natsAddress(journal));
    try {
      process.stderr.write(`takeover: ${contexts} contexts, ${timers} timers\n`);
      const { root } = service;
      for (let i = 0; i < contexts; i += AT_ONCE) await root.build(i, Math.min(AT_ONCE, contexts - i));
      const waiting = timers / TIMERS_EACH;
      for (let i = 0; i < waiting; i += AT_ONCE)
        await root.wait(i, Math.min(AT_ONCE, waiting - i), TIMERS_EACH);
      let asked = 0;
      /** From the change to the first answer that comes after it. */
      const answerMs = async (change: (head: string) => Promise<unknown>) => {
        const head = await followed(journal);
        const began = performance.now();
        await change(head);
        asked += 1;
        await root.houses(asked).bump();
        return performance.now() - began;
      };
      const took: Record<How, number[]> = { kill: [], handover: [] };
      for (let round = 0; round < effort.rounds; round++) {
        took.handover.push(await answerMs((head) => askMember(port, head, { question: "handover" })));
        took.kill.push(await answerMs((head) => processes.kill(processes.named(head))));
        await processes.start();
      }
      for (const how of ["kill", "handover"] as const) report(how, took[how], contexts, timers, json);
    } finally {
      await port.close();
      await service.stop({ graceMs: 0 });
    }
  } finally {
    await processes.stop();
    await servers.stop();
  }
}

/** Resolves with the head when every standby has about what it has. */
async function followed(journal: string): Promise<string> {
  for (;;) {
    const { members } = await statusOf(journal);
    const standbys = members.filter(({ state }) => state === "standby");
    const head = members.find(({ isHead }) => isHead)?.member;
    const isReady = standbys.length >= PROCESSES - 1 && standbys.every(({ lag }) => lag < LAG_MAX);
    if (head !== undefined && isReady) return head;
  }
}

function report(how: How, took: readonly number[], contexts: number, timers: number, json: boolean): void {
  const [p50Ms, p99Ms] = [percentile(took, 0.5), percentile(took, 0.99)];
  const verdict = p99Ms <= GOAL_MS[how] ? "met" : "MISSED";
  const text = json
    ? JSON.stringify({ bench: "takeover", how, contexts, timers, rounds: took.length, p50Ms, p99Ms })
    : `${how.padEnd(10)} p50 ${p50Ms.toFixed(0).padStart(5)} ms, p99 ${p99Ms.toFixed(0).padStart(5)} ms over ${took.length} (at most ${GOAL_MS[how]} ms: ${verdict})`;
  process.stdout.write(`${text}\n`);
}
