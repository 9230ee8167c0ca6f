/**
 * Processes of a cluster that are added and removed as the load needs it (Stormy, section 4.3, "cloud bursting"). One member decides: the head of
 * the cluster's own log. What it has decided stands in a *plan*, which the cluster keeps and which is replaced only by comparing, so a head that is
 * late changes nothing, and the next head goes on with what is under way: it asks for the same process again under the same id, or waits for it,
 * and a process that is to go is drained before it is removed.
 *
 * `plan.ts`: what is kept. `next-step.ts`: what is to be done next, a pure function. `provisioner.ts` does it, one thing at a time.
 * `measured.ts`: processes as a policy of `src/elastic` sees them. `command.ts` and `local-processes.ts` make processes. `options.ts`: what users say.
 */

export { CommandMaker } from "./command.js";
export { LocalProcesses, PROVISIONED, WITH_STARTER } from "./local-processes.js";
export type { SeenMember } from "./measured.js";
export { type CheckedProvision, checkedProvision, type ProvisionOptions } from "./options.js";
export { planKeptIn } from "./plan.js";
export { Provisioner } from "./provisioner.js";
