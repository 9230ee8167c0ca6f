import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { HeadwaterError, invariant } from "../errors.js";
import { checkedHosts } from "../host/host-options.js";
import { apart } from "../host/ports/index.js";
import { readFeed } from "../host/readers.js";
import { FORMAT, hostSupplyOf, namesOf, own, rootsOf } from "../host/run.js";
import { checkRun, limitsOf } from "../host/run-options.js";
import type { AnyService, Nodes, RunOptions } from "../host/service.js";
import { shownNodes } from "../host/store/index.js";
import { mustBeUsable } from "../journal/stream/doctor.js";
import { type NatsAddress, natsAddress, otherLog } from "../journal/stream/nats-address.js";
import { NatsLog } from "../journal/stream/nats-log.js";
import type { ContextClass } from "../model/context.js";
import type { Refusal } from "../model/door.js";
import { Feed } from "../observe/index.js";
import { checkedProvision, PROVISIONED, WITH_STARTER } from "../provision/index.js";
import { clusterService } from "./cluster-service.js";
import { claimDivision, type Division, divisionOf, OWN_LOG } from "./division.js";
import { HeadSpread } from "./head-spread.js";
import { JoinedLog } from "./joined-log.js";
import type { Member } from "./member.js";
import { MemberFeed } from "./member-feed.js";
import { provisionProcesses } from "./provisioning.js";
import { SeveralGateways } from "./several-gateways.js";
import { ProcessUtilisation } from "./utilisation.js";
import { realWorld } from "./world.js";

/** A process that was added and goes answers what it has taken. */
const RETIRE_MS = 5000;
const NAME = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * Joins the cluster that `journal` names, or begins it. Resolves once there is a head for each of its logs, here or elsewhere.
 */
export async function runInCluster(
  program: ContextClass | Nodes,
  journal: string,
  options: RunOptions,
): Promise<AnyService> {
  checkRun(program, options);
  const classes = rootsOf(program);
  const division = divisionOf(Object.keys(classes), options.logs);
  const provision = options.provision === undefined ? null : checkedProvision(options.provision);
  const name = nameOf(options);
  const offer = hostSupplyOf(checkedHosts(options, classes));
  const warn = (text: string) => process.emitWarning(text, "HeadwaterJournal");
  const ports = await portsOf(program, natsAddress(journal), division, warn);
  const feed = new Feed(apart);
  const { hosts: _, ...heard } = options; // decisions about hosts are told by the program while this process is its head
  readFeed(feed, heard);
  let failure: HeadwaterError | null = null;
  let fail: (error: HeadwaterError) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  const onFailure = (error: HeadwaterError) => {
    if (failure !== null) return;
    failure = error;
    fail(error);
    for (const { gateway } of logs) gateway.end(error);
    feed.note({ kind: "halted", error });
  };
  const gatewayParts = {
    isSingle: typeof program === "function",
    answersMs: limitsOf(options.limits).answersMs,
    refused: (refusal: Refusal) => feed.note({ kind: "refused", ...refusal }),
    failed: onApiFailure,
    failure: () => failure,
  };
  const utilisation = new ProcessUtilisation(() =>
    logs.reduce((sum, { gateway }) => sum + gateway.unanswered, 0),
  );
  const load = () => utilisation.read();
  let retiring = end; // until there is something to stop
  const retire = process.env[PROVISIONED] === undefined ? null : () => retiring();
  const onCopyWarning = (error: HeadwaterError) => feed.note({ kind: "warning", error });
  const parts = {
    ...{ name, program, options, division, offer, load, retire },
    ...{ warn, onFailure, onCopyWarning, gatewayParts },
  };
  const joined = new Map([...ports].map(([log, port]) => [log, new JoinedLog(parts, log, port)]));
  const logs = [...joined.values()];
  const gateways = new Map([...joined].map(([log, { gateway }]) => [log, gateway]));
  const ownGateway = gateways.get(OWN_LOG);
  invariant(ownGateway !== undefined, "every cluster has a log of its own");
  const gateway = division.size === 1 ? ownGateway : new SeveralGateways(ownGateway, [...gateways.values()]);
  const members: Member[] = [];
  const leave = async (graceMs: number) => {
    await Promise.all(members.map((member) => member.leave(graceMs)));
    for (const each of logs) each.gateway.end(stopped());
    await Promise.all(logs.map((each) => each.release()));
  };
  const drainAll = async () => {
    for (const each of logs) await each.drain();
  };
  try {
    // The cluster's own log comes last: who is a member there is one of all others.
    for (const each of [...logs].reverse()) {
      const member = await each.join(gateways, drainAll);
      members.unshift(member);
      await Promise.race([member.untilFits(), failed]);
    }
    await Promise.race([gateway.untilHead(), failed]);
  } catch (error) {
    await leave(0);
    throw error;
  }
  const memberFeed = new MemberFeed(feed, () => members[0]?.presence.members.living() ?? []);
  const spread = division.size === 1 ? null : new HeadSpread(realWorld, members);
  const [own] = members;
  const ownPort = ports.get(OWN_LOG);
  invariant(own !== undefined && ownPort !== undefined, "every cluster has a log of its own");
  const stopProvisioning =
    provision === null
      ? () => {}
      : provisionProcesses({
          ...{ member: own, port: ownPort, name, drainAll, provision },
          warn: (error) => feed.note({ kind: "warning", error }),
          decided: (decision) => feed.note({ kind: "decision", ...decision }),
        });
  let stopping: Promise<void> | null = null;
  const stopForGood = async () => {
    stopping ??= stop(RETIRE_MS);
    await stopping;
    end();
  };
  retiring = () => void stopForGood();
  if (process.env[WITH_STARTER] !== undefined) {
    process.stdin.once("end", retiring);
    process.stdin.resume();
  }
  const stop = async (graceMs: number) => {
    stopProvisioning();
    failure ??= stopped();
    spread?.stop();
    memberFeed.stop();
    await within(graceMs, gateway.untilAnswered());
    await leave(graceMs);
  };
  return clusterService({
    gateway,
    members,
    // What is kept in every process is in the cluster's own log.
    copies: (joined.get(OWN_LOG) as JoinedLog).copies,
    feed,
    stop: (graceMs) => {
      stopping ??= stop(graceMs);
      return stopping;
    },
  });
}

/** Connects to all logs, and refuses to divide the logical nodes in another way than other processes have. */
async function portsOf(
  program: ContextClass | Nodes,
  address: NatsAddress,
  division: Division,
  warn: (text: string) => void,
): Promise<ReadonlyMap<string, NatsLog>> {
  const ports = new Map<string, NatsLog>();
  try {
    for (const [log, nodes] of division) {
      const identity = { program: shownNodes(namesOf(own(program, { nodes }))), format: FORMAT };
      const at = log === OWN_LOG ? address : otherLog(address, log);
      const port = await NatsLog.open(at, identity);
      ports.set(log, port);
      if (log !== OWN_LOG) continue;
      await mustBeUsable(port.connection, port.manager, address, warn);
      await claimDivision(port, division, address.shown);
    }
    return ports;
  } catch (error) {
    for (const port of ports.values()) await port.close();
    throw error;
  }
}

function onApiFailure(apiFunction: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`the API function ${apiFunction} failed: ${text}`, "HeadwaterApiFailed");
}

/** No other process has it, also not one of before with the same name. */
function nameOf({ member }: RunOptions): string {
  const name =
    process.env[PROVISIONED] ??
    member?.name ??
    `${hostname().replace(/[^A-Za-z0-9_-]/g, "-")}-${process.pid}`;
  if (!NAME.test(name))
    throw new HeadwaterError(
      "HW-3106",
      `this process cannot be a member of the cluster: ${JSON.stringify(name)} is no name for one; letters, digits, _ and - make one.`,
    );
  return `${name}-${randomBytes(4).toString("hex")}`;
}

/** What runs in this process besides the service ends, too. */
function end(): void {
  process.kill(process.pid, "SIGTERM");
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timeout: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timeout = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timeout);
}

function stopped(): HeadwaterError {
  return new HeadwaterError("HW-1401", "the service has stopped and takes no more requests.");
}
