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
}

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
  const { member, epoch, position, state, program, successor = "" } = said ?? {};
  if (typeof member !== "string" || typeof program !== "string") return null;
  if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(position)) return null;
  const known = STATES.find((each) => each === state);
  if (known === undefined) return null;
  if (typeof successor !== "string") return null;
  const beat = { member, epoch: epoch as number, position: position as number, state: known, program };
  return successor === "" ? beat : { ...beat, successor };
}
