import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile, writeProgram } from "headwater/fluxion";
import type { StageStatistics } from "#src/fluxion/runtime/stages.js";
import { MAIN, ROOT } from "../cli/headwater.js";

/** What can be seen of a program from outside. */
export interface Seen {
  readonly answers: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

export interface Asked {
  readonly file: string;
  readonly requests: readonly string[];
  readonly alone?: boolean | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Packages that are compiled along. */
  readonly packages?: string | undefined;
  /** The limit of the heap of each thread. */
  readonly heapMb?: number | undefined;
}

/** Loaded before the program, in both runs alike: ends it from within when the harness is done with it. */
const PRELOAD = join(import.meta.dirname, "ended-from-outside.cjs");

const LISTENING = /listening on (?:\S*:)?(\d+)/;

export function plain(asked: Asked): Promise<Seen> {
  const loader = /\.[mc]?ts$/.test(asked.file) ? ["--import", "tsx"] : [];
  return observe([...loader, asked.file, ...(asked.args ?? [])], asked);
}

/** With every stage that can move in a worker. */
export async function compiled(
  asked: Asked,
): Promise<Seen & { readonly stages: readonly StageStatistics[] }> {
  const folder = await mkdtemp(join(tmpdir(), "headwater-both-"));
  try {
    const statistics = join(folder, "stages.json");
    const options = ["--fluxions", "--threads", "2", "--move", "all", "--stats", statistics];
    if (asked.packages !== undefined) options.push("--packages", asked.packages);
    const flags = asked.heapMb === undefined ? [] : [`--max-old-space-size=${asked.heapMb}`];
    const command = [...flags, MAIN, "run", ...options, asked.file, "--", ...(asked.args ?? [])];
    const seen = await observe(command, asked);
    const stages = await readFile(statistics, "utf8").catch(() => {
      throw new Error(`no statistics of ${asked.file}:\n${seen.stdout}${seen.stderr}`);
    });
    return { ...seen, stages: JSON.parse(stages) as StageStatistics[] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Written to a folder, and run from there as one would: by plain node. */
export async function writtenOut(asked: Asked): Promise<Seen> {
  await mkdir(join(ROOT, ".cache"), { recursive: true });
  const folder = await mkdtemp(join(ROOT, ".cache", "written-"));
  try {
    const { entry } = writeProgram(compile(asked.file), folder);
    const env = { ...asked.env, HEADWATER_MOVE: "all", HEADWATER_THREADS: "2" };
    return await plain({ ...asked, file: entry, env });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function observe(command: readonly string[], { requests, alone, env }: Asked): Promise<Seen> {
  const child = spawn(process.execPath, [...command], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: "production", PORT: "0", ...env, NODE_OPTIONS: `--require ${PRELOAD}` },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const answers =
    requests.length === 0 ? [] : await ask(await portOf(child, output), requests, alone === true);
  if (requests.length > 0) child.stdio[3]?.destroy();
  const exitCode = await ended;
  return {
    answers: answers.map(settled),
    stdout: settled(output.stdout),
    stderr: settled(output.stderr),
    exitCode,
  };
}

function portOf(
  child: ChildProcess,
  output: { readonly stdout: string; readonly stderr: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", () => {
      const port = LISTENING.exec(output.stdout)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.on("close", () => reject(new Error(`it ended early:\n${output.stdout}${output.stderr}`)));
  });
}

async function ask(port: number, requests: readonly string[], alone: boolean): Promise<string[]> {
  const answers: string[] = [];
  for (const request of requests) answers.push(await exchange(port, [request]));
  if (!alone) answers.push(await exchange(port, requests));
  return answers;
}

/** Sends requests at once through one connection; what comes back until it is closed. */
function exchange(port: number, requests: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.on("error", reject);
    socket.write(requests.map((each, i) => text(each, i === requests.length - 1)).join(""));
  });
}

const METHODS: Readonly<Record<string, string>> = { JSON: "POST", PUTJSON: "PUT" };

/** `POST /path body`; `JSON /path body` and `PUTJSON /path body` say the type of the body, too. */
function text(request: string, isLast: boolean): string {
  const [, word = "", path = "", body = ""] = /^(\S+) (\S+) ?(.*)$/s.exec(request) ?? [];
  const type = word in METHODS ? "application/json" : "text/plain";
  const length = Buffer.byteLength(body);
  const headers = [
    `${METHODS[word] ?? word} ${encodeURI(decodeURI(path))} HTTP/1.1`,
    "Host: localhost",
    "X-Agent: both-ways",
    ...(length > 0 || word !== "GET" ? [`Content-Type: ${type}`, `Content-Length: ${length}`] : []),
    ...(isLast ? ["Connection: close"] : []),
  ];
  return `${headers.join("\r\n")}\r\n\r\n${body}`;
}

/** What Node prints above an error that nobody caught: where it was thrown, with the line of the source. */
const THROWN_AT = /^(?:<anonymous_script>|node:internal\S*|(?:file:\/\/)?\/\S*):\d+\n.*?\n(?=\w*Error)/ms;

/** Without what differs from one run to the next: dates, ports, and the lines of stack traces. */
function settled(seen: string): string {
  return seen
    .replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, "some day")
    .replace(LISTENING, "listening")
    .replace(/^ {4}at .*\n/gm, "")
    .replace(THROWN_AT, "");
}
