import { existsSync } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Arguments, absent, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";

/** What one look at this machine found. */
export interface MachineFinding {
  readonly what: string;
  readonly verdict: "good" | "warning" | "wrong";
  readonly found: string;
  /** What to do about it, if anything. */
  readonly fix: string;
}

const NODE_MIN = [20, 19] as const;
const SYNCS = 20;
const [SYNC_SLOW_MS, SYNC_BAD_MS] = [10, 100];
/** Before this program was written. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);

/** Is this machine fit to run programs: Node, clock, disk, and what the command line names? */
export async function examineMachine({ values }: Arguments, command: CliCommand): Promise<MachineFinding[]> {
  const [journal, port] = [values.get("journal"), values.get("port")];
  if (journal !== undefined && !existsSync(journal)) throw absent(`There is no ${journal}.`, command);
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536))
    throw misused(command, `--port ${port} is not a port.`);
  return [
    node(process.versions.node),
    clock(Date.now()),
    ...(journal === undefined ? [] : [await folder(journal)]),
    await disk(journal ?? tmpdir()),
    ...(port === undefined ? [] : [await free(Number(port))]),
  ];
}

export function node(version: string): MachineFinding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isFine = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  const fix = `Install Node ${NODE_MIN.join(".")} or later.`;
  return { what: "node", verdict: isFine ? "good" : "wrong", found: `${version}.`, fix: isFine ? "" : fix };
}

export function clock(nowMs: number): MachineFinding {
  const found = `${new Date(nowMs).toISOString()}.`;
  if (nowMs > EARLIEST_MS) return { what: "clock", verdict: "good", found, fix: "" };
  return {
    what: "clock",
    verdict: "wrong",
    found,
    fix: "It is in the past: let the machine's clock be set, by NTP for instance.",
  };
}

async function folder(journal: string): Promise<MachineFinding> {
  const what = "journal";
  if (!(await stat(journal)).isDirectory())
    return {
      what,
      verdict: "wrong",
      found: `${journal} is not a directory.`,
      fix: "Name the directory that --journal names.",
    };
  const found = `${journal} is a directory.`;
  return { what, verdict: "good", found, fix: `\`headwater journal verify ${journal}\` reads all of it.` };
}

/** How long a small write takes until the disk has it: what each group of events waits for. */
async function disk(beside: string): Promise<MachineFinding> {
  let place: string;
  try {
    place = await mkdtemp(join(beside, ".headwater-doctor-"));
  } catch (error) {
    const found = `nothing can be written in ${beside} (${(error as NodeJS.ErrnoException).code}).`;
    return {
      what: "disk",
      verdict: "wrong",
      found,
      fix: "Give the user that runs the program the right to write there.",
    };
  }
  try {
    return synced(await syncTimes(join(place, "file")));
  } finally {
    await rm(place, { recursive: true });
  }
}

async function syncTimes(path: string): Promise<number[]> {
  const file = await open(path, "w");
  const times: number[] = [];
  try {
    for (let i = 0; i < SYNCS; i++) {
      const began = performance.now();
      await file.write(Buffer.alloc(4096, i), 0, 4096, i * 4096);
      await file.datasync();
      times.push(performance.now() - began);
    }
  } finally {
    await file.close();
  }
  return times;
}

export function synced(times: readonly number[]): MachineFinding {
  const median = times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
  const found = `a sync takes ${median.toFixed(1)} ms (median of ${times.length}).`;
  if (median < SYNC_SLOW_MS) return { what: "disk", verdict: "good", found, fix: "" };
  const fix =
    'Each answer with a journal waits for one: use a local SSD, or `durability: "written"` if a crash of the machine may lose the last moments.';
  return { what: "disk", verdict: median < SYNC_BAD_MS ? "warning" : "wrong", found, fix };
}

function free(port: number): Promise<MachineFinding> {
  return new Promise((resolve) => {
    const server = createServer();
    const fix = "Choose another with --port, or end the process that has it.";
    server.once("error", ({ code }: NodeJS.ErrnoException) =>
      resolve({ what: "port", verdict: "wrong", found: `${port} cannot be taken (${code}).`, fix }),
    );
    server.listen(port, "127.0.0.1", () => {
      server.close(() => resolve({ what: "port", verdict: "good", found: `${port} is free.`, fix: "" }));
    });
  });
}
