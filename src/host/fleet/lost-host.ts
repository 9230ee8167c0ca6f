import { HeadwaterError } from "../../errors.js";
import { type Culprit, type Heads, OTHER, type Some, UNKNOWN } from "../head/index.js";
import type { HostId } from "../ports/index.js";
import type { HostLife } from "./host-life.js";

/** What is said of a host that could not be started, or is lost, and of the events on it. */

type All = Heads["all"];

/** What a logical node has to do with the end of its host, or with its silence. A host that was not ready had no events. */
export function culpritOf({ isReady, running }: HostLife, node: number): Culprit {
  if (!isReady) return OTHER;
  if (running === null) return UNKNOWN;
  return running[0] === node ? { kind: "event", ticket: running[1] } : OTHER;
}

export function notStarted(host: HostId, why: Error): Error {
  if (why instanceof HeadwaterError) return why; // it has said what kept it from loading its program
  const what = `host ${host} could not be started: ${why.message}. Look for what its module does when a host loads it.`;
  return new HeadwaterError("HW-6008", what, { cause: why });
}

/** What went on there when it ended, as far as it is known: to be put after why it ended. */
export function whatRan({ number, isReady, running }: HostLife, heads: All): string {
  if (!isReady || number === null) return "";
  const culprit = running === null ? null : (heads[running[0]]?.slow.nameOf(running[1]) ?? null);
  if (culprit !== null) return `, while ${culprit} was running there`;
  const { count, one } = together(heads.map((head) => head?.slow.on(number) ?? NONE));
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
  const kind = link.member === undefined ? `a ${link.kind}` : `of ${link.member}`;
  const what = `${which} (${kind}) was lost: ${cause.message.replace(/\.$/, "")}${ran}. ${then}`;
  return new HeadwaterError("HW-6009", what, { cause });
}

/** A host cannot be started at the moment, and is tried again. */
export function spawnWarning(host: HostId, cause: Error, failures: number, nextMs: number): HeadwaterError {
  const tries = failures === 1 ? "" : ` (${failures} tries)`;
  const what =
    `host ${host} could not be started${tries}: ${cause.message}. Its events wait; the next try is in ${nextMs} ms. ` +
    "Look for what takes the descriptors, processes or memory of this machine.";
  return new HeadwaterError("HW-6030", what, { cause });
}

/** Events that wait for a host that takes long to start are not to blame: it is said once, for all of them. */
export function lateWarning(host: HostId, ms: number, heads: All): HeadwaterError | null {
  const { count, one } = together(heads.map((head) => head?.slow.waitingFor(host) ?? NONE));
  if (count === 0) return null;
  const who = count === 1 ? `${one} waits for it` : `${count} events wait for it, ${one} among them`;
  return new HeadwaterError("HW-6006", `host ${host} has been starting for ${ms} ms, and ${who}.`);
}

const NONE: Some = { count: 0, one: null };

function together(all: readonly Some[]): Some {
  const count = all.reduce((sum, each) => sum + each.count, 0);
  return { count, one: all.find(({ one }) => one !== null)?.one ?? null };
}
