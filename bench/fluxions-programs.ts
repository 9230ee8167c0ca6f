import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { StageStatistics } from "#src/fluxion/runtime/stages.js";
import { EXPRESS_PROGRAMS, type ExpressProgram } from "./lib/express-programs.js";
import { load, type Round, requestOf } from "./lib/http-load.js";

/**
 * Whole Express programs with packages from npm, as they are and compiled without an edit: whether the heavy stage leaves
 * the main loop, the throughput of its route, and how long a light route takes meanwhile.
 */

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const PROGRAMS = join(ROOT, "bench", "programs", "express");
const CLI = join(ROOT, "dist", "cli", "main.js");
const ENDS = join(ROOT, "bench", "lib", "ends-with-exit.cjs");
const CONNECTIONS = 16;

interface Effort {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
}
const FULL: Effort = { rounds: 6, warmUpMs: 1500, roundMs: 700 };
const QUICK: Effort = { rounds: 1, warmUpMs: 600, roundMs: 400 };

interface Figures {
  readonly program: string;
  /** How the heavy stage left the main loop: by proof, by checked speculation, or not. */
  readonly moved: "proof" | "speculation" | "no";
  /** Of the requests to the heavy route, the part whose heavy stage ran in a worker, once it was warm. */
  readonly inWorkers: number;
  /** Compiled, of the plain program in the same round; the median of the rounds. */
  readonly throughput: number;
  readonly lightP99: number;
  readonly plainPerSecond: number;
  readonly plainLightP99Ms: number;
  /** What a stage takes in a worker, of what it takes on the main loop of the compiled program; null if it never did. */
  readonly guards: number | null;
}

export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean" },
      quick: { type: "boolean" },
      threads: { type: "string" },
      only: { type: "string" },
    },
  });
  const effort = values.quick ? QUICK : FULL;
  const threads = Number(values.threads ?? availableParallelism());
  const only = values.only?.split(",");
  const folder = await mkdtemp(join(tmpdir(), "headwater-programs-"));
  const all: Figures[] = [];
  try {
    for (const program of EXPRESS_PROGRAMS) {
      if (only !== undefined && !only.includes(program.name)) continue;
      const figures = await measure(program, effort, threads, folder);
      all.push(figures);
      const line = { bench: "fluxions-programs", threads, connections: CONNECTIONS, ...figures };
      process.stdout.write(values.json ? `${JSON.stringify(line)}\n` : `${row(figures)}\n`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  for (const goal of goals(all)) process.stderr.write(`${goal}\n`);
}

async function measure(
  program: ExpressProgram,
  effort: Effort,
  threads: number,
  folder: string,
): Promise<Figures> {
  const stats = join(folder, `${program.name}.json`);
  const entry = join(PROGRAMS, program.entry);
  const loader = entry.endsWith(".ts") ? ["--import", "tsx"] : [];
  const heavy = requestOf(
    program.method,
    program.path,
    program.body?.() ?? "",
    program.contentType ?? "application/json",
  );
  const light = requestOf("GET", "/health");
  const plain = await Server.start([...loader, entry]);
  const options = ["--fluxions", "--threads", String(threads), "--stats", stats];
  const compiled = await Server.start([CLI, "run", ...options, entry]).catch(async (error: unknown) => {
    await plain.stop();
    throw error;
  });
  const rounds: { plain: Round; compiled: Round }[] = [];
  let warmUp = 0;
  try {
    await load(plain.port, heavy, light, { connections: CONNECTIONS, ms: effort.warmUpMs });
    warmUp = (await load(compiled.port, heavy, light, { connections: CONNECTIONS, ms: effort.warmUpMs }))
      .requests;
    for (let i = 0; i < effort.rounds; i++) {
      const ask = (server: Server) =>
        load(server.port, heavy, light, { connections: CONNECTIONS, ms: effort.roundMs });
      const first = i % 2 === 0 ? plain : compiled; // the first of the two finds colder caches
      const one = await ask(first);
      const other = await ask(first === plain ? compiled : plain);
      rounds.push(first === plain ? { plain: one, compiled: other } : { plain: other, compiled: one });
    }
  } finally {
    await Promise.all([plain.stop(), compiled.stop()]);
  }
  const stages = JSON.parse(await readFile(stats, "utf8")) as StageStatistics[];
  return figuresOf(program.name, rounds, warmUp, stages);
}

function figuresOf(
  program: string,
  rounds: readonly { plain: Round; compiled: Round }[],
  warmUp: number,
  stages: readonly StageStatistics[],
): Figures {
  const rate = ({ requests, seconds }: Round) => requests / seconds;
  const p99 = (of: readonly Round[]) =>
    quantile(
      of.flatMap(({ probesMs }) => probesMs),
      0.99,
    );
  const plain = rounds.map((each) => each.plain);
  const compiled = rounds.map((each) => each.compiled);
  const asked = compiled.reduce((sum, { requests }) => sum + requests, warmUp);
  const [heaviest] = stages.toSorted((a, b) => b.inWorkers - a.inWorkers);
  const inWorkers = Math.min(1, (heaviest?.inWorkers ?? 0) / asked);
  const { localMs = null, workerMs = null } = heaviest ?? {};
  return {
    program,
    moved: inWorkers < 0.5 ? "no" : heaviest?.watched === undefined ? "proof" : "speculation",
    inWorkers,
    throughput: quantile(
      rounds.map((each) => rate(each.compiled) / rate(each.plain)),
      0.5,
    ),
    lightP99: p99(compiled) / p99(plain),
    plainPerSecond: quantile(plain.map(rate), 0.5),
    plainLightP99Ms: p99(plain),
    guards: localMs === null || workerMs === null ? null : workerMs / localMs,
  };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function goals(all: readonly Figures[]): string[] {
  const moved = all.filter((each) => each.moved !== "no");
  const slow = moved.filter(({ throughput }) => throughput < 1.3);
  const late = moved.filter(({ lightP99 }) => lightP99 > 0.1);
  const names = (of: readonly Figures[]) =>
    of.length === 0 ? "" : `; not ${of.map(({ program }) => program).join(", ")}`;
  return [
    verdict(
      moved.length >= all.length * 0.8,
      `the heavy stage of 8 of 10 programs moves: ${moved.length} of ${all.length}`,
    ),
    verdict(
      slow.length === 0,
      `throughput of those at least 1.3 times plain: ${moved.length - slow.length} of ${moved.length}${names(slow)}`,
    ),
    verdict(
      late.length === 0,
      `p99 of a light route at most 0.1 of plain: ${moved.length - late.length} of ${moved.length}${names(late)}`,
    ),
  ];
}

function verdict(isMet: boolean, what: string): string {
  return `${isMet ? "met" : "MISSED"}: ${what}`;
}

function row({
  program,
  moved,
  inWorkers,
  throughput,
  lightP99,
  plainPerSecond,
  plainLightP99Ms,
  guards,
}: Figures): string {
  const how = moved === "no" ? "stays" : `moves by ${moved} (${(inWorkers * 100).toFixed(0)} %)`;
  const light = `light route: p99 ${lightP99.toFixed(3)} of ${plainLightP99Ms.toFixed(0)} ms`;
  const stage = guards === null ? "" : `; a stage takes ${guards.toFixed(2)} of here`;
  return `${program.padEnd(13)} ${how.padEnd(28)} ${throughput.toFixed(2)} of ${plainPerSecond.toFixed(0)} requests/s; ${light}${stage}`;
}

/** A program in a process of its own. */
class Server {
  private constructor(
    readonly port: number,
    readonly stop: () => Promise<void>,
  ) {}

  static start(command: readonly string[]): Promise<Server> {
    const child = spawn(process.execPath, [...command], {
      cwd: ROOT,
      env: { ...process.env, NODE_ENV: "production", PORT: "0", NODE_OPTIONS: `--require ${ENDS}` },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const stop = async () => {
      child.kill("SIGTERM");
      await ended;
    };
    return new Promise((resolve, reject) => {
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const port = /listening on \S+:(\d+)/.exec(said)?.[1];
        if (port !== undefined) resolve(new Server(Number(port), stop));
      });
      void ended.then(() => reject(new Error(`${command.join(" ")} ended before it listened:\n${said}`)));
    });
  }
}
