import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { HeadwaterError } from "../errors.js";
import { checkedHosts } from "../host/host-options.js";
import { misfitOf } from "../host/misfit.js";
import { apart } from "../host/ports/index.js";
import { outlineOf } from "../host/program-module.js";
import { readFeed } from "../host/readers.js";
import { FORMAT, hostSupplyOf, namesOf, rootsOf, run } from "../host/run.js";
import { checkRun, limitsOf } from "../host/run-options.js";
import type { AnyService, Nodes, RunOptions } from "../host/service.js";
import { clientKey, shownNodes } from "../host/store/index.js";
import { mustBeUsable } from "../journal/stream/doctor.js";
import { natsAddress } from "../journal/stream/nats-address.js";
import { NatsLog } from "../journal/stream/nats-log.js";
import type { ContextClass } from "../model/context.js";
import { Feed } from "../observe/index.js";
import { clusterService } from "./cluster-service.js";
import { Gateway } from "./gateway.js";
import { Member } from "./member.js";
import { NamedPlace } from "./place.js";
import { realWorld } from "./world.js";

const SNAPSHOT_BYTES = 256 * 2 ** 20;
const NAME = /^[A-Za-z0-9_-]{1,100}$/;

/** Joins the cluster that `journal` names, or begins it. Resolves once there is a head, here or elsewhere. */
export async function runInCluster(
  program: ContextClass | Nodes,
  journal: string,
  options: RunOptions,
): Promise<AnyService> {
  checkRun(program, options);
  const name = nameOf(options);
  const address = natsAddress(journal);
  const classes = rootsOf(program);
  const offer = hostSupplyOf(checkedHosts(options, classes));
  const identity = { program: shownNodes(namesOf(program)), format: FORMAT };
  const warn = (text: string) => process.emitWarning(text, "HeadwaterJournal");
  const port = await NatsLog.open(address, identity);
  try {
    await mustBeUsable(port.connection, port.manager, address, warn);
  } catch (error) {
    await port.close();
    throw error;
  }
  const directory = await mkdtemp(join(tmpdir(), "headwater-table-"));
  const feed = new Feed(apart);
  readFeed(feed, options);
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
    gateway.end(error);
    feed.note({ kind: "halted", error });
  };
  const roots = new Map(Object.entries(classes).map(([node, cls]) => [node, NamedPlace.root(node, cls)]));
  const isSingle = typeof program === "function";
  const gateway = new Gateway({
    roots,
    isSingle,
    answersMs: limitsOf(options.limits).answersMs,
    hasClient: (client) => member.table.get(clientKey(client)) !== undefined,
    refused: (refusal) => feed.note({ kind: "refused", ...refusal }),
    failed: (apiFunction, error) => onApiFailure(apiFunction, error),
    failure: () => failure,
  });
  const release = async () => {
    await port.close();
    await rm(directory, { recursive: true, force: true });
  };
  let member: Member;
  try {
    member = await Member.join({
      name,
      port,
      world: realWorld,
      address: address.shown,
      directory,
      host: options.member?.host ?? "127.0.0.1",
      takesOver: options.member?.takesOver ?? true,
      snapshotBytes: options.member?.snapshotBytes ?? SNAPSHOT_BYTES,
      program: identity.program,
      outline: JSON.stringify(outlineOf(classes)),
      gateway,
      offer,
      misfit: misfitOf(Object.values(classes)),
      restart: options.member?.restart ?? null,
      start: (onLog, onHalted) => {
        const { member: _, takeOver: __, ...rest } = options;
        return run(program as Nodes, {
          ...rest,
          journal: onLog,
          onFailure: onHalted,
        }) as Promise<unknown> as Promise<AnyService>;
      },
      onWarning: warn,
      onFailure,
    });
  } catch (error) {
    await release();
    throw error;
  }
  try {
    await Promise.race([member.untilFits(), failed]);
    await Promise.race([gateway.untilHead(), failed]);
  } catch (error) {
    await member.leave(0);
    await release();
    throw error;
  }
  let stopping: Promise<void> | null = null;
  const stop = async (graceMs: number) => {
    failure ??= stopped();
    await within(graceMs, gateway.untilAnswered());
    await member.leave(graceMs);
    gateway.end(stopped());
    await release();
  };
  return clusterService({
    gateway,
    member: () => member,
    roots,
    isSingle,
    feed,
    stop: (graceMs) => {
      stopping ??= stop(graceMs);
      return stopping;
    },
  });
}

function onApiFailure(apiFunction: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`the API function ${apiFunction} failed: ${text}`, "HeadwaterApiFailed");
}

/** No other process has it, also not one of before with the same name. */
function nameOf({ member }: RunOptions): string {
  const name = member?.name ?? `${hostname().replace(/[^A-Za-z0-9_-]/g, "-")}-${process.pid}`;
  if (!NAME.test(name))
    throw new HeadwaterError(
      "HW-3106",
      `this process cannot be a member of the cluster: ${JSON.stringify(name)} is no name for one; letters, digits, _ and - make one.`,
    );
  return `${name}-${randomBytes(4).toString("hex")}`;
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
