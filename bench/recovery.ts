import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { run } from "headwater";
import { optionsFrom } from "./lib/options.js";
import Office from "./programs/recovering.js";

/**
 * From the start of a process to its first answer: a program in memory, with a journal, on two threads, on two processes, on
 * two processes from the command line; and the last two again with 200,000 armed timers and with 200,000 clients in the journal.
 */

const MANY = 200_000;
const TIMERS_PER_CONTEXT = 100;

const RUNNER = fileURLToPath(new URL("./programs/recovering-run.ts", import.meta.url));
const PROGRAM = fileURLToPath(new URL("./programs/recovering.ts", import.meta.url));
const CLI = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));

type Much = "nothing" | "timers" | "clients";

interface Case {
  readonly how: "memory" | "journal" | "threads" | "processes" | "cli";
  readonly much: Much;
}

const CASES: readonly Case[] = [
  { how: "memory", much: "nothing" },
  { how: "journal", much: "nothing" },
  { how: "threads", much: "nothing" },
  { how: "processes", much: "nothing" },
  { how: "cli", much: "nothing" },
  { how: "journal", much: "timers" },
  { how: "processes", much: "timers" },
  { how: "cli", much: "timers" },
  { how: "journal", much: "clients" },
  { how: "processes", much: "clients" },
  { how: "cli", much: "clients" },
];

export async function main(args: readonly string[]): Promise<void> {
  const quick = { rounds: 3, warmUpMs: 0, roundMs: 0 };
  const { json, effort } = optionsFrom(args, { ...quick, rounds: 9 }, quick);
  const many = effort.events ?? MANY;
  const home = mkdtempSync(join(tmpdir(), "headwater-recovery-"));
  try {
    for (const much of ["nothing", "timers", "clients"] as const) await fill(join(home, much), much, many);
    const took = new Map<Case, number[]>(CASES.map((each) => [each, []]));
    for (let round = 0; round < effort.rounds; round++) {
      for (const [each, times] of took) times.push(await firstAnswer(each, join(home, each.much)));
    }
    for (const [{ how, much }, times] of took) {
      const sorted = times.sort((a, b) => a - b);
      const [best, median] = [sorted[0] ?? 0, sorted[sorted.length >> 1] ?? 0];
      const line = json
        ? JSON.stringify({ bench: "recovery", how, much, many, bestMs: best, medianMs: median })
        : `${how.padEnd(10)} ${much.padEnd(8)} ${median.toFixed(0).padStart(6)} ms (best ${best.toFixed(0)} ms)`;
      process.stdout.write(`${line}\n`);
    }
  } finally {
    rmSync(home, { recursive: true });
  }
}

async function fill(journal: string, much: Much, count: number): Promise<void> {
  process.stderr.write(`recovery: a journal with ${much === "nothing" ? much : `${count} ${much}`}\n`);
  const service = await run(Office, { journal, durability: "written" });
  await service.root.desks(0).add();
  if (much === "timers") {
    for (let i = 0; i < count; i += TIMERS_PER_CONTEXT)
      await service.root.desks(i).setTimers(Math.min(TIMERS_PER_CONTEXT, count - i));
  }
  if (much === "clients") for (let i = 0; i < count; i++) service.client(`client ${i}`, () => {});
  await service.stop();
}

async function firstAnswer({ how, much }: Case, journal: string): Promise<number> {
  const kept = how === "memory" ? [] : [journal];
  const began = performance.now();
  if (how !== "cli" || much === undefined) {
    const child = spawn(process.execPath, ["--import", "tsx", RUNNER, how, ...kept], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(createInterface(child.stdout), "line");
    const tookMs = performance.now() - began;
    await once(child, "close");
    return tookMs;
  }
  const options = ["--hosts", "2", "--processes", "--journal", journal, "--port", "0", "--json"];
  const child = spawn(process.execPath, [CLI, "run", PROGRAM, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\/\/[\d.:]+/.exec(line)?.[0];
    if (url === undefined) continue;
    const answer = await fetch(`${url}/api/add`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "[0]",
    });
    await answer.text();
    if (!answer.ok) throw new Error(`the program answered with ${answer.status}`);
    break;
  }
  const tookMs = performance.now() - began;
  child.kill("SIGINT");
  await once(child, "close");
  return tookMs;
}
