import type { HostInfo } from "../host/fleet/index.js";
import { BEAT_MS, type Beat, readBeat } from "../journal/stream/beats.js";
import { lastOf, patiently } from "../journal/stream/epoch.js";
import { natsAddress } from "../journal/stream/nats-address.js";
import { NatsLog } from "../journal/stream/nats-log.js";
import { lastSnapshot } from "../journal/stream/snapshot.js";
import { askMember } from "./operator.js";

export interface ClusterStatus {
  readonly cluster: string;
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
  readonly members: readonly (Beat & { readonly isHead: boolean; readonly lag: number })[];
}

/** Every living member beats several times meanwhile. */
const HEAR_MS = 5 * BEAT_MS;

/** Looks at a cluster from outside: what its members say, and what its log is like. */
export async function statusOf(text: string): Promise<ClusterStatus> {
  const address = natsAddress(text);
  const port = await NatsLog.existing(address);
  try {
    const beats = new Map<string, Beat>();
    const hearing = port.hear((bytes) => {
      const beat = readBeat(bytes);
      if (beat === null) return;
      if (beat.state === "leaving") beats.delete(beat.member);
      else beats.set(beat.member, beat);
    });
    await new Promise((resolve) => setTimeout(resolve, HEAR_MS));
    hearing.stop();
    const { position } = await lastOf(port);
    const { config, cluster } = await patiently(port, () => port.manager.streams.info(port.names.log));
    const epoch = Math.max(0, ...[...beats.values()].map((beat) => beat.epoch));
    const members = [...beats.values()]
      .sort((a, b) => (a.member < b.member ? -1 : 1))
      .map((beat) => ({
        ...beat,
        isHead: epoch > 0 && beat.epoch === epoch,
        lag: beat.epoch === epoch ? 0 : Math.max(0, position - beat.position),
      }));
    const current = 1 + (cluster?.replicas?.filter((each) => each.current && !each.offline).length ?? 0);
    return {
      cluster: address.name,
      program: port.program,
      position,
      snapshot: await patiently(port, () => lastSnapshot(port)),
      replicas: config.num_replicas,
      replicasCurrent: current,
      hosts: await hostsOf(port, members.find(({ isHead }) => isHead)?.member),
      members,
    };
  } finally {
    await port.close();
  }
}

/** A head that is gone a moment later is none. */
async function hostsOf(port: NatsLog, head: string | undefined): Promise<readonly HostInfo[] | null> {
  if (head === undefined) return null;
  return askMember(port, head, { question: "hosts" }).catch(() => null);
}
