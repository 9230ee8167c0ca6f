import { type ClusterStatus, drain, handOver, statusOf } from "../cluster/index.js";
import type { DashboardCluster } from "./routes.js";

/** A status is asked of all members, and may be that old: any number of pages costs the members no more than one. */
const STATUS_MS = 1000;

/** The cluster at an address, as its members and the servers of its log tell of it. */
export function clusterAt(address: string): DashboardCluster {
  let looked: { readonly status: Promise<ClusterStatus>; untilMs: number } | null = null;
  const look = () => {
    const status = statusOf(address);
    const own = { status, untilMs: Number.POSITIVE_INFINITY };
    const over = () => {
      own.untilMs = performance.now() + STATUS_MS;
    };
    status.then(over, over);
    looked = own;
    return status;
  };
  const changed = <T>(done: Promise<T>): Promise<T> =>
    done.finally(() => {
      looked = null;
    });
  return {
    status: () => (looked !== null && performance.now() < looked.untilMs ? looked.status : look()),
    handOver: (to, log) => changed(handOver(address, to, log)),
    drain: (member) => changed(drain(address, member)),
  };
}
