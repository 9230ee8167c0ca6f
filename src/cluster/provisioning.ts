import type { Decision } from "../elastic/policy.js";
import type { HeadwaterError } from "../errors.js";
import { SUPERVISED } from "../host/ports/index.js";
import { HOSTS } from "../host/service.js";
import type { NatsLog } from "../journal/stream/nats-log.js";
import {
  type CheckedProvision,
  CommandMaker,
  LocalProcesses,
  PROVISIONED,
  Provisioner,
  planKeptIn,
  type SeenMember,
  WITH_STARTER,
} from "../provision/index.js";
import type { Member } from "./member.js";
import { nameWithoutEnding } from "./members.js";
import { askMember } from "./operator.js";

export interface ProvisioningParts {
  /** Of the cluster's own log: its head decides. */
  readonly member: Member;
  readonly port: NatsLog;
  readonly name: string;
  readonly drainAll: () => Promise<void>;
  readonly provision: CheckedProvision;
  readonly decided: (decision: Decision) => void;
  readonly warn: (warning: HeadwaterError) => void;
}

const LOOK_MS = 1000;
/** Its contexts move to other hosts meanwhile. */
const DRAIN_MS = 300_000;

/** Adds and removes processes of the cluster while this process is the head of its own log. Returns how to stop that. */
export function provisionProcesses(parts: ProvisioningParts): () => void {
  const { member, port, name, drainAll, provision, decided, warn } = parts;
  const { command, timeoutMs, policy, max, coolDownMs, joinMs } = provision;
  const living = () => member.presence.members.living();
  const retire = async (retired: string) => {
    await askMember(port, retired, { question: "retire" });
  };
  const { [SUPERVISED]: _, [PROVISIONED]: __, [WITH_STARTER]: ___, ...env } = process.env;
  const local = new LocalProcesses({
    env,
    retire: async (named) => {
      for (const each of living()) if (nameWithoutEnding(each.member) === named) await retire(each.member);
    },
  });
  const provisioner = new Provisioner({
    self: name,
    store: planKeptIn(port),
    maker:
      command === null ? local : new CommandMaker({ command, timeoutMs, env, cluster: port.address.name }),
    repeats: command !== null,
    policy,
    max,
    coolDownMs,
    joinMs,
    now: () => Date.now(),
    isHead: () => member.isHead,
    members: () => living().map((beat) => seen(beat.member, beat.load ?? null, name, member)),
    drain: async (drained) => {
      if (drained === name) await drainAll();
      else await askMember(port, drained, { question: "drain" }, DRAIN_MS);
    },
    retire,
    decided: (decision) => {
      decided(decision);
      provision.onDecision(decision);
    },
    warn,
  });
  const timer = setInterval(() => void provisioner.look(), LOOK_MS);
  return () => {
    clearInterval(timer);
    provisioner.stop();
    local.close();
  };
}

/** A member, with what the head knows of its hosts: those of the head itself name no member. */
function seen(member: string, load: SeenMember["load"], self: string, head: Member): SeenMember {
  const all = head.service?.[HOSTS]?.list() ?? [];
  const own = all.filter((host) => (host.member ?? self) === member);
  return {
    member,
    name: nameWithoutEnding(member),
    load,
    hosts: own.flatMap((host) => host.load ?? []),
  };
}
