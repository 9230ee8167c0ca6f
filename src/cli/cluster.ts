import type { ClusterStatus, CopiesAbout, LogStatus, MemberStatus } from "../cluster/index.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import type { Terminal } from "./terminal.js";

const ACTIONS = ["status", "handover", "drain", "roll"] as const;

export const cluster: CliCommand = {
  name: "cluster",
  operands: ["ACTION", "ADDRESS", "[MEMBER]"],
  summary: "look at a cluster and operate it: status, handover, drain, roll",
  details:
    "ADDRESS is what the members were given as --cluster: nats://HOST:PORT,HOST:PORT/NAME. status shows which members live, which of " +
    "them is the head, how far the others are behind the log, how busy each process is (processors, event loop, memory, disk, network, waiting requests), which hosts run events and how many contexts each of them has, on how " +
    "many servers the log is complete, and what an acknowledged event survives. handover lets another member become the head, MEMBER or " +
    "any that can. drain keeps MEMBER from becoming the head and moves everything away from its hosts, until its process is started " +
    "again. roll restarts all processes one after the other, the head last, with the program as it is now; something must start " +
    "each again, as --supervise does. A program whose logical nodes have several logs has a head for each: status shows them, and " +
    "handover --log NAME is about one of them. Credentials come from the environment, as for `headwater run --cluster`.",
  options: { log: { value: "NAME", help: "hand over this log (the cluster's own)" } },
  async run(args, terminal) {
    const [action = "", address, member, extra] = args.operands;
    if (!ACTIONS.some((each) => each === action))
      throw misused(cluster, `"${action}" is no action; there are ${ACTIONS.join(", ")}.`);
    if (address === undefined) throw misused(cluster, `${action} needs the address of the cluster.`);
    const takesMember = action === "handover" || action === "drain";
    const tooMany = takesMember ? extra : member;
    if (tooMany !== undefined) throw misused(cluster, `"${tooMany}" is one word too many.`);
    await act(action, address, member, args, terminal);
    return 0;
  },
};

async function act(
  action: string,
  address: string,
  member: string | undefined,
  { flags, values }: Arguments,
  terminal: Terminal,
): Promise<void> {
  const { drain, handOver, roll, statusOf } = await import("../cluster/index.js");
  const isJson = flags.has("json");
  const log = values.get("log");
  if (log !== undefined && action !== "handover")
    throw misused(cluster, `--log goes with handover, not with ${action}.`);
  const say = (text: string, said: object) => terminal.out(isJson ? JSON.stringify(said) : text);
  if (action === "handover") {
    const { from, to, ms } = await handOver(address, member ?? null, log);
    say(`${to} is the head now, after ${from} (${Math.round(ms)} ms).`, { from, to, ms });
  } else if (action === "drain") {
    if (member === undefined) throw misused(cluster, "drain needs the name of a member.");
    const drained = await drain(address, member);
    say(`${drained} does not become the head and has no hosts any more. Its process can be stopped.`, {
      drained,
    });
  } else if (action === "roll") {
    await roll(address, (text) => say(`${text}.`, { progress: text }));
    say("All processes run the program as it is now.", { rolled: true });
  } else {
    const status = await statusOf(address);
    if (isJson) terminal.out(JSON.stringify(status));
    else show(status, terminal);
  }
}

function show(status: ClusterStatus, terminal: Terminal) {
  const { cluster, program, position, snapshot, replicas, replicasCurrent, hosts, members, promised, logs } =
    status;
  terminal.out(`cluster ${cluster}, program ${program}`);
  const kept = snapshot === 0 ? "no snapshot" : `a snapshot at ${snapshot}`;
  terminal.out(`log: ${position} messages, ${kept}, complete on ${replicasCurrent} of ${replicas} servers`);
  terminal.out(`what is acknowledged survives ${promised}`);
  const width = Math.max(8, ...members.map(({ member }) => member.length + 2));
  terminal.out(`${"member".padEnd(width)}state     behind    program`);
  for (const each of members) {
    const shown = [each.state.padEnd(10), String(each.lag).padEnd(10), aboutIt(each)].join("");
    terminal.out(`${each.member.padEnd(width)}${shown}`);
  }
  showLoads(members, width, terminal);
  for (const { member, about } of members) if (about !== null) showCopies(member, about.copies, terminal);
  if (hosts !== null) {
    const head = members.find(({ isHead }) => isHead)?.member ?? "";
    terminal.out(`host  ${"of".padEnd(width)}state     contexts  events`);
    for (const { id, member, state, contexts, events } of hosts) {
      const shown = [state.padEnd(10), String(contexts).padEnd(10), events].join("");
      terminal.out(`${String(id).padEnd(6)}${(member ?? head).padEnd(width)}${shown}`);
    }
  }
  if (!members.some(({ isHead }) => isHead)) terminal.out("There is no head.");
  for (const log of logs) showLog(log, terminal);
}

function showLog(
  { log, program, position, members, replicas, replicasCurrent }: LogStatus,
  terminal: Terminal,
) {
  const head = members.find(({ isHead }) => isHead)?.member ?? "none";
  const others = members.filter(({ isHead }) => !isHead).map(({ member, lag }) => `${member} ${lag} behind`);
  terminal.out(
    `log ${log} (${program}): ${position} messages, complete on ${replicasCurrent} of ${replicas} servers, ` +
      `head ${[head, ...others].join(", ")}`,
  );
}

/** What each process uses of what it has. */
function showLoads(members: readonly MemberStatus[], width: number, terminal: Terminal) {
  const cells = (...texts: readonly string[]) =>
    texts
      .map((text) => text.padEnd(10))
      .join("")
      .trimEnd();
  const percent = (value: number) => `${Math.round(value * 100)}%`;
  terminal.out(`${"load".padEnd(width)}${cells("cpu", "loop", "memory", "disk", "network", "queue")}`);
  for (const { member, load } of members) {
    const shown =
      load === undefined
        ? "not known yet"
        : cells(
            ...[percent(load.cpu), percent(load.loop), percent(load.memory), percent(load.disk)],
            ...[`${(load.networkBytesPerSecond / 1000).toFixed(1)} kB/s`, String(load.queue)],
          );
    terminal.out(`${member.padEnd(width)}${shown}`);
  }
}

function showCopies(member: string, kept: CopiesAbout | null | undefined, terminal: Terminal) {
  if (kept === null || kept === undefined || kept.count + kept.diverged === 0) return;
  const diverged =
    kept.diverged === 0 ? "" : `, ${kept.diverged} were not what the head had, and were made again (HW-3160)`;
  terminal.out(`copies in ${member}: ${kept.count}${diverged}`);
  for (const { context, field, position } of kept.copies)
    terminal.out(`  ${context}.${field}, at record ${position}`);
  if (kept.count > kept.copies.length) terminal.out(`  and ${kept.count - kept.copies.length} more`);
}

function aboutIt({ about }: MemberStatus): string {
  if (about === null) return "does not answer";
  return about.isDrained ? `${about.version} (drained)` : about.version;
}
