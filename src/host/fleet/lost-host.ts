import { HeadwaterError } from "../../errors.js";
import type { Some } from "../head/index.js";
import type { LogicalNode } from "../node/index.js";
import type { HostLife } from "./host-life.js";

/** What is said of a host that could not be started, or is lost, and of the events on it. */

type Nodes = readonly Pick<LogicalNode, "remote">[];

/** Which event of a logical node has ended its host: none if that was not ready yet, and null if nobody knows. */
export function culpritOf({ isReady, running }: HostLife, node: number): number | null {
  if (!isReady) return 0;
  if (running === null) return null;
  return running[0] === node ? running[1] : 0;
}

export function notStarted(host: number, why: Error): Error {
  if (why instanceof HeadwaterError) return why; // it has said what kept it from loading its program
  const what = `host ${host} could not be started: ${why.message}. Look for what its module does when a host loads it.`;
  return new HeadwaterError("HW-6008", what, { cause: why });
}

/** What went on there when it ended, as far as it is known: to be put after why it ended. */
export function whatRan({ number, isReady, running }: HostLife, nodes: Nodes): string {
  if (!isReady || number === null) return "";
  const culprit = running === null ? null : (nodes[running[0]]?.remote?.slow.nameOf(running[1]) ?? null);
  if (culprit !== null) return `, while ${culprit} was running there`;
  const { count, one } = together(nodes.map(({ remote }) => remote?.slow.on(number) ?? NONE));
  if (count === 0) return "";
  if (count === 1) return `, while ${one} was under way there`;
  return `, while ${count} events were under way there, ${one} among them`;
}

/** A host is lost, and replaced. `ran` is what went on there, `then` what becomes of it. */
export function lostWarning(
  { number, link }: HostLife,
  cause: Error,
  ran: string,
  then: string,
): HeadwaterError {
  const which = number === null ? "the spare host" : `host ${number}`;
  const what = `${which} (a ${link.kind}) was lost: ${cause.message}${ran}. ${then}`;
  return new HeadwaterError("HW-6009", what, { cause });
}

/** A host cannot be started at the moment, and is tried again. */
export function spawnWarning(host: number, cause: Error, failures: number, nextMs: number): HeadwaterError {
  const tries = failures === 1 ? "" : ` (${failures} tries)`;
  const what =
    `host ${host} could not be started${tries}: ${cause.message}. Its events wait; the next try is in ${nextMs} ms. ` +
    "Look for what takes the descriptors, processes or memory of this machine.";
  return new HeadwaterError("HW-6030", what, { cause });
}

/** Events that wait for a host that takes long to start are not to blame: it is said once, for all of them. */
export function lateWarning(host: number, ms: number, nodes: Nodes): HeadwaterError | null {
  const { count, one } = together(nodes.map(({ remote }) => remote?.slow.waitingFor(host) ?? NONE));
  if (count === 0) return null;
  const who = count === 1 ? `${one} waits for it` : `${count} events wait for it, ${one} among them`;
  return new HeadwaterError("HW-6006", `host ${host} has been starting for ${ms} ms, and ${who}.`);
}

const NONE: Some = { count: 0, one: null };

function together(all: readonly Some[]): Some {
  const count = all.reduce((sum, each) => sum + each.count, 0);
  return { count, one: all.find(({ one }) => one !== null)?.one ?? null };
}
