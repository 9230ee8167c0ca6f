import { type DoctorFinding, examine, monitoringOf } from "../journal/stream/doctor.js";
import { natsAddress } from "../journal/stream/nats-address.js";

/** Whether the servers of a cluster are configured safely, line by line. */
export function examineCluster(text: string, env: NodeJS.ProcessEnv): Promise<DoctorFinding[]> {
  return examine(natsAddress(text), monitoringOf(env));
}
