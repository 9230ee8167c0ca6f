import { createWriteStream } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { ElasticHosts } from "../elastic/elastic-hosts.js";
import { type LoadEvent, lineOf } from "../elastic/load.js";
import type { Policy } from "../elastic/policy.js";
import { HeadwaterError } from "../errors.js";
import { HOSTS_MAX } from "../host/ports/index.js";
import { loadModule } from "./program.js";
import { findProgram } from "./program-file.js";

/** A recorded load has so many events at most; `headwater policy try` takes no more. */
export const EVENTS_MAX = 2_000_000;

export interface HostRange {
  readonly min: number;
  readonly max: number;
}

/** `4`, `1..4` or `cores`; null for anything else. */
export function hostsIn(written: string): HostRange | null {
  if (written === "cores") {
    const cores = Math.min(HOSTS_MAX, availableParallelism());
    return { min: cores, max: cores };
  }
  const [, first, last = first] = /^(\d{1,3})(?:\.\.(\d{1,3}))?$/.exec(written) ?? [];
  const [min, max] = [Number(first), Number(last)];
  return min >= 1 && max >= min && max <= HOSTS_MAX ? { min, max } : null;
}

/** What a file says about hosts: a policy, or bounds to keep. */
export async function policyIn(file: string): Promise<Pick<ElasticHosts, "policy" | "keep">> {
  const { default: exported } = await loadModule(findProgram(file, process.cwd()));
  if (typeof exported === "function") return { policy: exported as Policy };
  if (typeof exported === "object" && exported !== null) {
    return { keep: exported as NonNullable<ElasticHosts["keep"]> };
  }
  throw new HeadwaterError(
    "HW-6021",
    `${file} has neither a policy nor bounds as its default export. For example: \`export default { utilisation: [0.3, 0.7] }\`.`,
  );
}

export interface LoadFile {
  readonly take: (event: LoadEvent) => void;
  close(): Promise<void>;
}

/** A file for a load; `full` is called once, when no more goes into it. */
export async function loadFile(file: string, full: () => void): Promise<LoadFile> {
  const stream = createWriteStream(resolve(file), { flags: "w" });
  await new Promise((open, fail) => stream.once("open", open).once("error", fail));
  let left = EVENTS_MAX;
  return {
    take: (event) => {
      if (left === 0) return;
      left -= 1;
      stream.write(`${lineOf(event)}\n`);
      if (left === 0) full();
    },
    close: () => new Promise((done) => stream.end(done)),
  };
}
