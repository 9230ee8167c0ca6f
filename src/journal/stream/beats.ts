/** What the members of a cluster say again and again. Beats may get lost or come late: they are hints, and the log decides. */

import type { LogPort } from "./log-port.js";

export interface Beat {
  /** Names the process. */
  readonly member: string;
  /** The epoch that the process writes; 0 if it writes none. */
  readonly epoch: number;
  /** How far it has read or written the log. */
  readonly position: number;
  /** A gateway never becomes the head. `handover`: the epoch has ended, and the successor is to begin the next one. */
  readonly state: "head" | "standby" | "gateway" | "leaving" | "handover";
  readonly successor?: string;
  /** What it runs. */
  readonly program: string;
  /** How busy the process is; not known in its first second. */
  readonly load?: MemberLoad | undefined;
}

/** How much of what it has a process uses: shares lie between 0 and 1. */
export interface MemberLoad {
  /** The share of its machine's processors. */
  readonly cpu: number;
  /** The share of the time in which its event loop is busy. */
  readonly loop: number;
  /** The share of the memory of its machine or container. */
  readonly memory: number;
  readonly memoryBytes: number;
  /** What its connections carry, in both directions. */
  readonly networkBytesPerSecond: number;
  /** Requests that wait there for an answer. */
  readonly queue: number;
  /** The share of its disk that is in use, also by others. */
  readonly disk: number;
}

const MEASURES: readonly (keyof MemberLoad)[] = [
  "cpu",
  "loop",
  "memory",
  "memoryBytes",
  "networkBytesPerSecond",
  "queue",
  "disk",
];

export const BEAT_MS = 200;
const STATES: readonly Beat["state"][] = ["head", "standby", "gateway", "leaving", "handover"];

export function sayBeat(port: LogPort, beat: Beat): void {
  port.say(Buffer.from(JSON.stringify(beat)));
}

/** Null if these bytes are no beat: anyone with the cluster's credentials can publish there. */
export function readBeat(bytes: Buffer): Beat | null {
  let said: Partial<Record<keyof Beat, unknown>>;
  try {
    said = JSON.parse(bytes.toString()) as Partial<Record<keyof Beat, unknown>>;
  } catch {
    return null;
  }
  const { member, epoch, position, state, program, successor = "", load } = said ?? {};
  if (typeof member !== "string" || typeof program !== "string") return null;
  if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(position)) return null;
  const known = STATES.find((each) => each === state);
  if (known === undefined) return null;
  if (typeof successor !== "string") return null;
  const isLoad = isMemberLoad(load) ? { load } : {};
  const beat = {
    member,
    epoch: epoch as number,
    position: position as number,
    state: known,
    program,
    ...isLoad,
  };
  return successor === "" ? beat : { ...beat, successor };
}

function isMemberLoad(said: unknown): said is MemberLoad {
  if (typeof said !== "object" || said === null) return false;
  const measures = said as Readonly<Record<string, unknown>>;
  return MEASURES.every((name) => Number.isFinite(measures[name]) && (measures[name] as number) >= 0);
}
