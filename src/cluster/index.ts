/**
 * One program in many processes, on one log (docs/cluster.md): `run-in-cluster.ts` starts a process, `member.ts` decides what it is
 * (standby or head), `gateway.ts` takes its requests to the head, `links.ts` carries them, `relay.ts` makes them there.
 */

export type { CopiesAbout } from "./copies.js";
export { examineCluster } from "./examine.js";
export { drain, handOver, roll } from "./operate.js";
export { runInCluster } from "./run-in-cluster.js";
export { type ClusterStatus, type LogStatus, type MemberStatus, statusOf } from "./status.js";
