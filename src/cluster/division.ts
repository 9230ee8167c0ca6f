import { HeadwaterError } from "../errors.js";
import { patiently } from "../journal/stream/epoch.js";
import type { LogPort } from "../journal/stream/log-port.js";

/** The name of the log that every cluster has: the one of the cluster itself. */
export const OWN_LOG = "";

/** The logical nodes in each log of a cluster, its own log first. */
export type Division = ReadonlyMap<string, ReadonlySet<string>>;

const NAME = /^[A-Za-z0-9-]{1,32}$/;
/** Each has a connection to NATS and a table in each process. */
const LOGS_MAX = 64;
/** Under this name the cluster's own log keeps it. */
const PART = "division";

/** What `logs` in the options of `run` says. Nodes that it does not name are in the cluster's own log. */
export function divisionOf(nodes: readonly string[], given: unknown): Division {
  if (given === undefined) return new Map([[OWN_LOG, new Set(nodes)]]);
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw cannot("`logs` is an object with the names of logical nodes for each log");
  const logs = Object.entries(given as Readonly<Record<string, unknown>>);
  if (logs.length >= LOGS_MAX) throw cannot(`${logs.length + 1} logs are more than ${LOGS_MAX}`);
  const left = new Set(nodes);
  const named = logs.map(([log, of]): [string, ReadonlySet<string>] => {
    if (!NAME.test(log)) throw cannot(`${JSON.stringify(log)} cannot name a log: letters, digits and - can`);
    if (!Array.isArray(of) || of.length === 0) throw cannot(`the log "${log}" has no list of logical nodes`);
    for (const node of of) {
      if (left.delete(node as string)) continue;
      const why = nodes.includes(node as string) ? "is in two logs" : "is no logical node of the program";
      throw cannot(`${JSON.stringify(node)} ${why}`);
    }
    return [log, new Set(of as string[])];
  });
  if (left.size === 0) throw cannot("no logical node is left for the cluster's own log; leave one out");
  return new Map([[OWN_LOG, left], ...named]);
}

/** Keeps the division with the cluster, or refuses one that differs from what is kept: a logical node would be in two logs. */
export async function claimDivision(port: LogPort, division: Division, shown: string): Promise<void> {
  const claimed = textOf(division);
  for (;;) {
    const kept = await patiently(port, () => port.getPart(PART));
    if (kept === null && division.size === 1) return;
    if (kept === null) {
      await patiently(port, () => port.replacePart(PART, Buffer.from(claimed), 0));
      continue; // perhaps another process has just kept one
    }
    const there = kept.bytes.toString();
    if (there !== claimed) throw another(shown, there, claimed);
    return;
  }
}

/** The logs of a cluster besides its own, as it keeps them. */
export async function otherLogs(port: LogPort): Promise<readonly string[]> {
  const kept = await patiently(port, () => port.getPart(PART));
  return kept === null ? [] : Object.keys(JSON.parse(kept.bytes.toString()) as Record<string, unknown>);
}

function textOf(division: Division): string {
  const others = [...division].filter(([log]) => log !== OWN_LOG).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(others.map(([log, nodes]) => [log, [...nodes].sort()])));
}

function cannot(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3140",
    `the logical nodes cannot be divided over logs like this: ${why}. Nothing was changed.`,
  );
}

function another(shown: string, there: string, claimed: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3141",
    `the cluster ${shown} divides its logical nodes over logs in another way: ${there}, and not ${claimed}. Nothing was changed. ` +
      "Run every process with the same `logs`, or give the cluster another name.",
  );
}
