/** Whether NATS servers are configured so that what is acknowledged is safe: `headwater doctor --cluster`, and each start in a cluster. */

import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { HeadwaterError } from "../../errors.js";
import { importPackage } from "../../packages.js";
import { MESSAGE_BYTES_MAX } from "./messages.js";
import type { NatsAddress } from "./nats-address.js";
import { connectTo } from "./nats-connection.js";
import { monitoredServers } from "./nats-monitoring.js";
import { missingIn, namesFor } from "./nats-stream.js";

/** One line of the report. */
export interface DoctorFinding {
  readonly what: string;
  readonly verdict: "good" | "warning" | "wrong";
  readonly found: string;
  /** What to do about it; empty if nothing is to be done. */
  readonly fix: string;
  /** The code of the page that says more; empty if all is well. */
  readonly code: string;
}

/** A process whose clock differs more from that of the servers must not be the head. */
const CLOCK_MS_MAX = 2000;
/** A commit takes about two round trips. */
const ROUND_TRIP_MS_MAX = 20;
const USED_MAX = 0.8;
/** What a message has besides its writes. */
const MESSAGE_ROOM = 1024;

const good = (what: string, found: string): DoctorFinding => ({
  what,
  verdict: "good",
  found,
  fix: "",
  code: "",
});

/** Looks at every server that the address names, and at the log if there is one. Changes nothing. */
export async function examine(address: NatsAddress, monitoring: readonly string[]): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  const reached = new Set<string>();
  for (const host of address.hosts) {
    try {
      const connection = await connectTo({ ...address, hosts: [host] }, { isAlone: true });
      try {
        reached.add(connection.info?.server_id ?? host);
        findings.push(good(`server ${host}`, `version ${connection.info?.version}, with JetStream`));
        findings.push(await roundTripOf(host, connection), payloadOf(host, connection));
      } finally {
        await connection.close();
      }
    } catch (error) {
      findings.push(wrong(`server ${host}`, error));
    }
  }
  findings.push(serversFor(address, reached.size));
  if (reached.size > 0) findings.push(...(await logOf(address)));
  findings.push(...(await syncsOf(monitoring)));
  return findings;
}

/** The checks of each start that need no other server than the one it is connected to. Throws what makes a start unsafe. */
export async function mustBeUsable(
  connection: NatsConnection,
  manager: JetStreamManager,
  address: NatsAddress,
  warn: (text: string) => void,
): Promise<void> {
  const payload = payloadOf(address.shown, connection);
  if (payload.verdict === "wrong")
    throw new HeadwaterError(
      "HW-3104",
      `the log of ${address.shown} is not safe to use: ${payload.found}. ${payload.fix}`,
    );
  const clock = await clockOf(manager, address);
  if (clock?.verdict === "wrong")
    throw new HeadwaterError(
      "HW-3106",
      `this process cannot be a member of the cluster: ${clock.found}. ${clock.fix}`,
    );
  for (const { verdict, what, found, fix, code } of await syncsOf(monitoringOf(process.env))) {
    if (verdict !== "good") warn(`${code}: ${what}: ${found}. ${fix}`);
  }
}

/** Where the servers' monitoring is, as the environment says. */
export function monitoringOf({ HEADWATER_NATS_MONITORING: text = "" }: NodeJS.ProcessEnv): string[] {
  return text.split(",").filter((each) => each !== "");
}

async function roundTripOf(host: string, connection: NatsConnection): Promise<DoctorFinding> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    await connection.flush();
    times.push(performance.now() - began);
  }
  const best = Math.min(...times);
  const what = `round trip to ${host}`;
  const found = `${best.toFixed(1)} ms`;
  if (best <= ROUND_TRIP_MS_MAX) return good(what, found);
  const fix =
    "Each commit takes about two of them: run the program nearer to the servers, or expect slow answers.";
  return { what, verdict: "warning", found, fix, code: "HW-3107" };
}

function payloadOf(host: string, connection: NatsConnection): DoctorFinding {
  const most = connection.info?.max_payload ?? 0;
  const what = `message size at ${host}`;
  const found = `max_payload is ${most} bytes`;
  if (most >= MESSAGE_BYTES_MAX + MESSAGE_ROOM) return good(what, found);
  const fix = "Set max_payload to 1MB, which is the default, or more.";
  return { what, verdict: "wrong", found, fix, code: "HW-3104" };
}

function serversFor({ replicas }: NatsAddress, reached: number): DoctorFinding {
  const what = "servers";
  const found = `${reached} of those in the address answer, and each message is to be kept by ${replicas}`;
  if (reached >= replicas) return good(what, found);
  const fix = "Name all servers in the address, and start the servers that do not answer.";
  return { what, verdict: "wrong", found, fix, code: "HW-3104" };
}

async function logOf(address: NatsAddress): Promise<DoctorFinding[]> {
  const { jetstreamManager } = await importPackage(() => import("@nats-io/jetstream"));
  const connection = await connectTo(address);
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    const findings: DoctorFinding[] = [await diskOf(manager)];
    const { log } = namesFor(address);
    const info = await manager.streams.info(log).catch(() => null);
    if (info === null)
      return [...findings, good(`log ${log}`, "there is none yet; the first process makes it")];
    const missing = missingIn(info.config, address);
    const behind =
      info.cluster?.replicas?.filter(({ current, offline }) => !current || offline === true) ?? [];
    if (missing.length > 0) {
      const fix = "Give the stream its settings back, as the page of the code says.";
      findings.push({
        what: `log ${log}`,
        verdict: "wrong",
        found: missing.join("; "),
        fix,
        code: "HW-3104",
      });
    } else if (behind.length > 0) {
      const found = `${behind.map(({ name }) => name).join(", ")} does not have all of it`;
      const fix = "Until it has, the loss of another server stops the cluster.";
      findings.push({ what: `log ${log}`, verdict: "warning", found, fix, code: "HW-3107" });
    } else {
      const { num_replicas: count } = info.config;
      findings.push(good(`log ${log}`, `${count} copies in files, all complete, nothing expires`));
    }
    const clock = await clockOf(manager, address);
    return clock === null ? findings : [...findings, clock];
  } catch (error) {
    return [wrong("log", error)];
  } finally {
    await connection.close();
  }
}

async function diskOf(manager: JetStreamManager): Promise<DoctorFinding> {
  const { storage, limits } = await manager.getAccountInfo();
  const what = "room for the log";
  const most = limits.max_storage;
  if (most <= 0) return good(what, `${storage} bytes used, no limit for this account`);
  const found = `${storage} of ${most} bytes used`;
  if (storage <= most * USED_MAX) return good(what, found);
  const fix = "When it is full, nothing commits: raise the limit of the account.";
  return { what, verdict: "warning", found, fix, code: "HW-3107" };
}

/** How far this process's clock is from the servers'; null if there is no log yet to ask for. */
async function clockOf(manager: JetStreamManager, address: NatsAddress): Promise<DoctorFinding | null> {
  const began = Date.now();
  const info = await manager.streams.info(namesFor(address).log).catch(() => null);
  const took = Date.now() - began;
  const said = info === null ? Number.NaN : Date.parse(String((info as { ts?: unknown }).ts));
  if (Number.isNaN(said)) return null;
  const off = Math.max(0, Math.abs(said - (began + took / 2)) - took / 2);
  const what = "clocks";
  const found = `this machine's clock is ${(off / 1000).toFixed(1)} s off that of the servers`;
  if (off <= CLOCK_MS_MAX) return good(what, found);
  return { what, verdict: "wrong", found, fix: "Let NTP set the clocks of all machines.", code: "HW-3106" };
}

async function syncsOf(monitoring: readonly string[]): Promise<DoctorFinding[]> {
  const what = "sync_interval";
  const set =
    "Set `sync_interval: always` in the jetstream section of every server, or accept what docs/cluster.md says of it.";
  if (monitoring.length === 0) {
    const found = "it could not be read: the addresses of the servers' monitoring are not known";
    const fix = `Name them in HEADWATER_NATS_MONITORING (http://HOST:8222,…). ${set}`;
    return [{ what, verdict: "warning", found, fix, code: "HW-3107" }];
  }
  return (await monitoredServers(monitoring)).map(({ url, sync, problem }) => {
    const at = `${what} at ${url}`;
    if (problem !== null) {
      const fix = `Correct HEADWATER_NATS_MONITORING, or start the server's monitoring (http: …). ${set}`;
      return {
        what: at,
        verdict: "warning",
        found: `it could not be read (${problem})`,
        fix,
        code: "HW-3107",
      };
    }
    if (sync === "always") return good(at, "always");
    const found = `${sync}: power loss of a majority loses what was acknowledged since`;
    return { what: at, verdict: "warning", found, fix: set, code: "HW-3107" };
  });
}

function wrong(what: string, error: unknown): DoctorFinding {
  const code = error instanceof HeadwaterError ? error.code : "HW-3102";
  const text = error instanceof Error ? error.message : String(error);
  return { what, verdict: "wrong", found: text, fix: `See headwater explain ${code}.`, code };
}
