import { readdirSync, readFileSync } from "node:fs";

/** All processes that one test file has started, found in /proc: by their session, and by a mark in their environment. */

export const MARK = "HEADWATER_TEST_FILE";

export interface Started {
  readonly pid: number;
  readonly command: string;
  /** Time on a processor, its own and that of children it has waited for. */
  readonly cpuMs: number;
  /** Has one of its threads work to do at this moment, on a processor, waiting for one, or waiting for a disk? */
  readonly isAtWork: boolean;
}

/** Clock ticks per second in /proc/PID/stat: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // it has ended meanwhile, or is not ours
  }
}

/** The processes of a test file whose own process leads this session. Zombies have ended: they do not count. */
export function processesOf(session: number, mark: string): Started[] {
  const found: Started[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = read(`/proc/${pid}/stat`);
    const afterName = fieldsOf(stat);
    const [state, , , sessionOf] = afterName;
    if (state === undefined || state === "Z" || state === "X" || sessionOf === undefined) continue;
    if (Number(sessionOf) !== session && !hasMark(pid, mark)) continue;
    const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
    found.push({ pid, command, cpuMs: cpuMsIn(afterName), isAtWork: isAtWork(pid) });
  }
  return found;
}

/** Time on a processor, that of children which it has waited for included. */
export function cpuMsOf(pid: number): number {
  return cpuMsIn(fieldsOf(read(`/proc/${pid}/stat`)));
}

function cpuMsIn(afterName: readonly string[]): number {
  const ticks = afterName.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  return (ticks * 1000) / TICKS_PER_SECOND;
}

/** What follows the name of the program, which may itself hold spaces and brackets. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function isAtWork(pid: number): boolean {
  return threadsOf(pid).some((thread) => {
    const [state] = fieldsOf(read(`/proc/${pid}/task/${thread}/stat`));
    return state === "R" || state === "D";
  });
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // it has ended meanwhile
  }
}

function hasMark(pid: number, mark: string): boolean {
  return read(`/proc/${pid}/environ`).split("\0").includes(`${MARK}=${mark}`);
}

/** SIGKILL, to processes that may end by themselves at this very moment. */
export function kill(processes: readonly Started[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
