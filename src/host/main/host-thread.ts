import { parentPort, workerData } from "node:worker_threads";
import { PortCarrier } from "../../net/port-carrier.js";
import type { Aside, HostTask } from "../link/host-link.js";
import { startHost } from "./host-main.js";

/** A host in a thread. */
const given = workerData as { headwater?: { task: HostTask; noted: Float64Array } } | null;

if (parentPort !== null && given?.headwater !== undefined) {
  const { task, noted } = given.headwater;
  const head = new PortCarrier<Aside>(parentPort);
  const line = await startHost(task, head, noted);
  if (line === null) process.exit(1); // what was told comes before the end, as it would not before an error
  head.listen({
    batch: (bytes) => line.receive(bytes),
    aside: (aside) => {
      if (aside.kind === "heartbeat") head.tell(aside);
    },
  });
}
