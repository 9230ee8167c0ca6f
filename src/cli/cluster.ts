import type { ClusterStatus } from "../cluster/index.js";
import { misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import type { Terminal } from "./terminal.js";

export const cluster: CliCommand = {
  name: "cluster",
  operands: ["status", "ADDRESS"],
  summary: "look at a cluster: its members, its head, and its log",
  details:
    "ADDRESS is what the members were given as --cluster: nats://HOST:PORT,HOST:PORT/NAME. status shows which members live, which of " +
    "them is the head, how far the others are behind the log, which hosts run events and how many contexts each of them has, and on how " +
    "many servers the log is complete. Credentials come from the " +
    "environment, as for `headwater run --cluster`.",
  options: {},
  async run({ operands, flags }, terminal) {
    const [action, address, extra] = operands;
    if (action !== "status") throw misused(cluster, `"${action ?? ""}" is no action; there is status.`);
    if (address === undefined) throw misused(cluster, "status needs the address of the cluster.");
    if (extra !== undefined) throw misused(cluster, `"${extra}" is one word too many.`);
    const { statusOf } = await import("../cluster/index.js");
    const status = await statusOf(address);
    if (flags.has("json")) terminal.out(JSON.stringify(status));
    else show(status, terminal);
    return 0;
  },
};

function show(
  { cluster, program, position, snapshot, replicas, replicasCurrent, hosts, members }: ClusterStatus,
  terminal: Terminal,
) {
  terminal.out(`cluster ${cluster}, program ${program}`);
  const kept = snapshot === 0 ? "no snapshot" : `a snapshot at ${snapshot}`;
  terminal.out(`log: ${position} messages, ${kept}, complete on ${replicasCurrent} of ${replicas} servers`);
  const width = Math.max(8, ...members.map(({ member }) => member.length + 2));
  terminal.out(`${"member".padEnd(width)}state     behind`);
  for (const { member, state, lag } of members)
    terminal.out(`${member.padEnd(width)}${state.padEnd(10)}${lag}`);
  if (hosts !== null) {
    const head = members.find(({ isHead }) => isHead)?.member ?? "";
    terminal.out(`host  ${"of".padEnd(width)}state     contexts  events`);
    for (const { id, member, state, contexts, events } of hosts) {
      const shown = [state.padEnd(10), String(contexts).padEnd(10), events].join("");
      terminal.out(`${String(id).padEnd(6)}${(member ?? head).padEnd(width)}${shown}`);
    }
  }
  if (!members.some(({ isHead }) => isHead)) terminal.out("There is no head.");
}
