import type { HostInfo } from "../host/fleet/index.js";
import type { Beat } from "../journal/stream/beats.js";
import { monitoringOf } from "../journal/stream/doctor.js";
import { lastOf, patiently } from "../journal/stream/epoch.js";
import { type NatsAddress, natsAddress, otherLog } from "../journal/stream/nats-address.js";
import type { NatsLog } from "../journal/stream/nats-log.js";
import { monitoredServers } from "../journal/stream/nats-monitoring.js";
import { lastSnapshot } from "../journal/stream/snapshot.js";
import { OWN_LOG, otherLogs } from "./division.js";
import { ClusterView } from "./operate.js";
import { askMember, type MemberAbout } from "./operator.js";

/** One log, with the members as they take part in it. */
export interface LogStatus {
  /** Its name; empty for the cluster's own log. */
  readonly log: string;
  /** The logical nodes that are in it. */
  readonly program: string;
  /** The last message of the log. */
  readonly position: number;
  /** The position of the last snapshot; 0 if there is none. */
  readonly snapshot: number;
  readonly replicas: number;
  /** Replicas that have everything, the leader included. */
  readonly replicasCurrent: number;
  /** The hosts of the head's program and what is placed on them; null if all events run in one thread, or there is no head. */
  readonly hosts: readonly HostInfo[] | null;
  readonly members: readonly MemberStatus[];
}

/** The cluster's own log, and what is the same for all. */
export interface ClusterStatus extends Omit<LogStatus, "log"> {
  readonly cluster: string;
  /** Those besides its own. */
  readonly logs: readonly LogStatus[];
  /** Do the servers sync what they acknowledge? Null: their monitoring was not asked, or does not answer. */
  readonly syncs: boolean | null;
  /** What an acknowledged event survives with servers that are configured like this. */
  readonly promised: string;
}

export interface MemberStatus extends Beat {
  readonly isHead: boolean;
  /** In messages of the log. */
  readonly lag: number;
  /** Null if it does not answer. */
  readonly about: MemberAbout | null;
}

const ASK_MS = 2000;

/** Looks at a cluster from outside: what its members say, and what its log is like. */
export async function statusOf(text: string, env: NodeJS.ProcessEnv = process.env): Promise<ClusterStatus> {
  const address = natsAddress(text);
  const { log: _, others, ...own } = await logStatusOf(address);
  const logs = await Promise.all(others.map((log) => logStatusOf(otherLog(address, log))));
  const syncs = await syncsOf(env);
  return {
    cluster: address.name,
    ...own,
    logs: logs.map(({ others: __, ...status }) => status),
    syncs,
    promised: promiseOf(own.replicas, syncs),
  };
}

async function logStatusOf(
  address: NatsAddress,
): Promise<LogStatus & { readonly others: readonly string[] }> {
  const view = await ClusterView.open(address);
  const { port } = view;
  try {
    const { position } = await lastOf(port);
    const { config, cluster } = await patiently(port, () => port.manager.streams.info(port.names.log));
    const { head, living } = view;
    const members = await Promise.all(
      living.map(async (beat): Promise<MemberStatus> => {
        const isHead = beat.member === head?.member;
        const lag = isHead ? 0 : Math.max(0, position - beat.position);
        return { ...beat, isHead, lag, about: await aboutOf(port, beat.member) };
      }),
    );
    const current = 1 + (cluster?.replicas?.filter((each) => each.current && !each.offline).length ?? 0);
    return {
      log: address.log,
      others: address.log === OWN_LOG ? await otherLogs(port) : [],
      program: port.program,
      position,
      snapshot: await patiently(port, () => lastSnapshot(port)),
      replicas: config.num_replicas,
      replicasCurrent: current,
      hosts: await hostsOf(port, head?.member),
      members,
    };
  } finally {
    await view.close();
  }
}

function aboutOf(port: NatsLog, member: string): Promise<MemberAbout | null> {
  return askMember(port, member, { question: "about" }, ASK_MS).catch(() => null);
}

async function syncsOf(env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const servers = await monitoredServers(monitoringOf(env));
  if (servers.length === 0 || servers.some(({ problem }) => problem !== null)) return null;
  return servers.every(({ sync }) => sync === "always");
}

/** The table of docs/cluster.md. */
function promiseOf(replicas: number, syncs: boolean | null): string {
  const unknown =
    "whether also power loss of all is not known: name their monitoring in HEADWATER_NATS_MONITORING";
  if (replicas < 3) {
    if (syncs === null)
      return `SIGKILL of the server, but not the loss of its disk; ${unknown.replace("of all ", "")}`;
    return syncs
      ? "SIGKILL and power loss of the server, but not the loss of its disk"
      : "SIGKILL of the server only";
  }
  if (syncs === null)
    return `SIGKILL and the loss of the disk of any one server, and SIGKILL of all; ${unknown}`;
  return syncs
    ? "SIGKILL, power loss and the loss of the disk of any one server, and SIGKILL and power loss of all"
    : "SIGKILL and the loss of the disk of any one server, and power loss of one server at a time";
}

/** A head that is gone a moment later is none. */
async function hostsOf(port: NatsLog, head: string | undefined): Promise<readonly HostInfo[] | null> {
  if (head === undefined) return null;
  return askMember(port, head, { question: "hosts" }).catch(() => null);
}
