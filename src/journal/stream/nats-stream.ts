import { randomBytes } from "node:crypto";
import type { JetStreamManager, StreamConfig, StreamInfo } from "@nats-io/jetstream";
import { HeadwaterError } from "../../errors.js";
import { importPackage } from "../../packages.js";
import type { JournalIdentity } from "../journal.js";
import { anotherFormat, anotherProgram } from "../problems.js";
import type { NatsAddress } from "./nats-address.js";

/** Of the messages in the log. */
const LAYOUT = "1";

/** The names under which a cluster is known to NATS. */
export function namesFor({ name, log }: NatsAddress) {
  const stream = log === "" ? `HEADWATER_${name}` : `HEADWATER_${name}=${log}`; // no cluster has "=" in its name
  const subject = log === "" ? `headwater.${name}` : `headwater.${name}.logs.${log}`;
  return {
    log: stream,
    parts: `${stream}_PARTS`,
    logSubject: `${subject}.log`,
    partSubject: `${subject}.part`,
    beatSubject: `${subject}.beat`,
  };
}

export type StreamNames = ReturnType<typeof namesFor>;

/** Makes the streams of a cluster, or looks whether existing streams are safe and this program's. */
export async function openStreams(
  manager: JetStreamManager,
  address: NatsAddress,
  identity: JournalIdentity,
  isForeignFine: boolean,
): Promise<{ readonly id: string; readonly program: string }> {
  const names = namesFor(address);
  const metadata = {
    "headwater-log": randomBytes(16).toString("hex"),
    "headwater-layout": LAYOUT,
    "headwater-format": String(identity.format),
    "headwater-program": identity.program,
  };
  const log = await openStream(manager, address, { name: names.log, subjects: [names.logSubject], metadata });
  mustBeSafe(log, address);
  const { metadata: found = {} } = log.config;
  const [id, program] = [found["headwater-log"], found["headwater-program"]];
  if (id === undefined || program === undefined)
    throw unsafe(address, `the stream ${names.log} was not made by Headwater; give the cluster another name`);
  if (found["headwater-layout"] !== LAYOUT)
    throw anotherFormat(address.shown, "a log of layout", Number(found["headwater-layout"]), Number(LAYOUT));
  if (found["headwater-format"] !== String(identity.format))
    throw anotherFormat(address.shown, "the format", Number(found["headwater-format"]), identity.format);
  if (!isForeignFine && program !== identity.program)
    throw anotherProgram(address.shown, program, identity.program);
  const subjects = [`${names.partSubject}.>`];
  await openStream(manager, address, { name: names.parts, subjects, max_msgs_per_subject: 1 });
  return { id, program };
}

/** What is known of the log of a cluster that was made before. */
export async function existingLog(
  manager: JetStreamManager,
  address: NatsAddress,
): Promise<{ readonly id: string; readonly program: string }> {
  const info = await found(manager, namesFor(address).log).catch((error: unknown) => {
    throw unreachable(address, error);
  });
  const { "headwater-log": id, "headwater-program": program } = info?.config.metadata ?? {};
  if (id === undefined || program === undefined)
    throw unsafe(address, `there is no cluster named "${address.name}" on these servers`);
  return { id, program };
}

type Wanted = Pick<StreamConfig, "name" | "subjects"> & Partial<StreamConfig>;

const NOT_FOUND = 10059;
/** Servers that have just begun, or lost their leader, take some seconds to choose one. */
const PATIENCE_MS = 20_000;
const RETRY_MS = 250;
/** A server alone cannot replicate. */
const NOT_CLUSTERED = 10074;
/** Fewer servers than replicas are there at the moment. */
const TOO_FEW_SERVERS = new Set([10005, 10052]);

async function openStream(
  manager: JetStreamManager,
  address: NatsAddress,
  wanted: Wanted,
): Promise<StreamInfo> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return (await found(manager, wanted.name)) ?? (await make(manager, address, wanted));
    } catch (error) {
      if (error instanceof HeadwaterError) throw error;
      const isOver = performance.now() > until;
      if (codeOf(error) === NOT_CLUSTERED || (isOver && TOO_FEW_SERVERS.has(codeOf(error))))
        throw tooFewServers(address, error);
      if (isOver) throw unreachable(address, error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

function found(manager: JetStreamManager, name: string): Promise<StreamInfo | null> {
  return manager.streams.info(name).catch((error: unknown) => {
    if (codeOf(error) === NOT_FOUND) return null;
    throw error;
  });
}

/** Fails if another process makes it at the same time; then it can be found. */
async function make(manager: JetStreamManager, address: NatsAddress, wanted: Wanted): Promise<StreamInfo> {
  const { DiscardPolicy, RetentionPolicy, StorageType } = await importPackage(
    () => import("@nats-io/jetstream"),
  );
  return manager.streams.add({
    ...wanted,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    num_replicas: address.replicas,
    allow_direct: false,
    duplicate_window: 0,
  });
}

function tooFewServers(address: NatsAddress, error: unknown): HeadwaterError {
  const why = error instanceof Error ? error.message : String(error);
  return unsafe(
    address,
    `${address.replicas} replicas are wanted, and the servers cannot keep so many (${why}); run at least three servers as a cluster, ` +
      "or accept that one disk has everything: end the address with ?replicas=1",
  );
}

/** Which settings of a stream would lose data. */
export function missingIn(config: StreamInfo["config"], address: NatsAddress): string[] {
  return [
    config.storage === "file" ? null : "it is kept in memory, not in files",
    config.num_replicas >= address.replicas
      ? null
      : `it has ${config.num_replicas} replicas, not ${address.replicas}`,
    config.max_age === 0 ? null : "its messages expire (max_age)",
    config.max_msgs === -1 && config.max_bytes === -1
      ? null
      : "it drops or refuses messages (max_msgs, max_bytes)",
    config.discard === "new" ? null : "it drops old messages (discard)",
    config.allow_direct ? "replicas may answer reads (allow_direct)" : null,
  ].filter((each) => each !== null);
}

function mustBeSafe({ config }: StreamInfo, address: NatsAddress): void {
  const wrong = missingIn(config, address);
  if (wrong.length > 0)
    throw unsafe(address, `the stream ${config.name} would lose data: ${wrong.join("; ")}`);
}

export function codeOf(error: unknown): number {
  return typeof error === "object" && error !== null && "code" in error ? Number(error.code) : 0;
}

function unsafe({ shown }: NatsAddress, why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3104",
    `the log of ${shown} is not safe to use: ${why}. Nothing was written.`,
  );
}

function unreachable({ shown }: NatsAddress, error: unknown): HeadwaterError {
  const why = error instanceof Error ? error.message : String(error);
  return new HeadwaterError(
    "HW-3102",
    `JetStream of ${shown} does not answer (${why}). Nothing was changed. A majority of its servers must run.`,
    { cause: error },
  );
}
