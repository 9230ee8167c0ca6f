import { createHash } from "node:crypto";
import { HeadwaterError } from "../errors.js";
import { HOSTS } from "../host/service.js";
import type { LogPort } from "../journal/stream/log-port.js";
import type { HotCopies } from "./copies.js";
import type { Member } from "./member.js";
import type { OperatorAnswers } from "./operator.js";

export interface OperationsParts {
  readonly port: LogPort;
  readonly name: string;
  /** In words. */
  readonly outline: string;
  readonly copies: HotCopies | null;
  readonly restart: (() => void) | null;
  /** Ends this process in good order; null if it was not added by a decision. */
  readonly retire: (() => void) | null;
  /** In all logs of the cluster. */
  readonly drainAll: () => Promise<void>;
}

/** The answer is on its way to the operator before the process ends. */
const FAREWELL_MS = 100;

/** What a member answers an operator. */
export function answersOf(
  member: Member,
  { port, name, outline, copies, restart, retire, drainAll }: OperationsParts,
): OperatorAnswers {
  return {
    hosts: async () => member.service?.[HOSTS]?.list() ?? null,
    about: async () => ({
      isDrained: member.isDrained,
      restarts: restart !== null,
      version: createHash("sha256").update(outline).digest("hex").slice(0, 8),
      copies: copies?.about() ?? null,
    }),
    handover: async ({ to = null }) => member.handOver(to),
    dismissHosts: async ({ member: of = "" }) => {
      const hosts = member.service?.[HOSTS] ?? null;
      for (const { id, member: owner } of hosts?.list() ?? []) if (owner === of) await hosts?.remove(id);
      return null;
    },
    drain: async () => {
      await drainAll();
      return null;
    },
    restart: async () => {
      if (restart === null) throw notRestarted(name);
      await drainAll();
      port.later(FAREWELL_MS, restart);
      return null;
    },
    retire: async () => {
      if (retire === null) throw notProvisioned(name);
      await drainAll().catch(() => {}); // without another member there is none to drain to
      port.later(FAREWELL_MS, retire);
      return null;
    },
  };
}

function notProvisioned(name: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3112",
    `${name} was not added by the head, so the head does not end it. Nothing was changed. Stop it where it was started.`,
  );
}

export function notTheHead(head: string): HeadwaterError {
  const where = head === "" ? "There is no head at the moment." : `The head is ${head}.`;
  return new HeadwaterError("HW-3111", `this member is not the head, and has nothing to hand over. ${where}`);
}

export function noSuccessor(wanted: string | null): HeadwaterError {
  const who = wanted === null ? "no other member" : `no member ${wanted}`;
  return new HeadwaterError(
    "HW-3111",
    `${who} could become the head now: a member that may take over must live and have the state of the program. Start one, or wait ` +
      "until it has joined. Nothing was changed.",
  );
}

function notRestarted(name: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3112",
    `nothing would start ${name} again. Nothing was changed. Run it with \`--supervise\`, give \`member.restart\` to \`run\`, or stop it ` +
      "and start the new version yourself.",
  );
}
