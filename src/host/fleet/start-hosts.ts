import type { Placement } from "../../elastic/placement.js";
import type { HostTask, OpenLink } from "../link/index.js";
import type { HostId, Patience } from "../ports/index.js";
import { HostSet } from "./host-set.js";
import { Launcher } from "./launcher.js";

/** Starts the hosts of a program on this machine. Resolves when they have loaded it. */
export async function startHosts(
  open: OpenLink,
  task: HostTask,
  placement: Placement<HostId>,
  patience: Patience,
): Promise<HostSet> {
  const hosts = new HostSet(placement, patience, task.isDurable, (set) => new Launcher(open, task, set));
  try {
    await hosts.start();
  } catch (error) {
    await hosts.close();
    throw error;
  }
  return hosts;
}
