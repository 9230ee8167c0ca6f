import { resolve } from "node:path";
import { HeadwaterError } from "../errors.js";
import type { Journal, JournalIdentity, KeyTable } from "../journal/journal.js";
import type { JournalOptions } from "../journal/open.js";
import type { Address } from "../model/address.js";
import type { OwnLog } from "../model/between-logs.js";
import type { Context, ContextClass } from "../model/context.js";
import { mustBeWellFormed, storedNameOf } from "../model/shape.js";
import { Feed } from "../observe/index.js";
import { claimRejections } from "./event/index.js";
import { Fleet, type HostSet, placementFor, startHosts } from "./fleet/index.js";
import { type CheckedOptions, checkedHosts } from "./host-options.js";
import { isHost } from "./is-host.js";
import { explained, type OpenLink, openProcess, openThread } from "./link/index.js";
import { LoadRecorder, watchHosts } from "./load/index.js";
import { Program } from "./node/index.js";
import { apart, type Limits, memoryPorts, type Patience, type Ports, patienceOf } from "./ports/index.js";
import { outlineOf } from "./program-module.js";
import { readFeed } from "./readers.js";
import { checkRun, historyIn, limitsOf } from "./run-options.js";
import type { AdmitHost, AnyService, NodeService, Nodes, RunOptions, Service } from "./service.js";
import { serviceFor } from "./service-for.js";
import {
  changeNodeSet,
  endHistory,
  History,
  Ledger,
  Lives,
  type NodeNames,
  nodeSetChange,
  shownNodes,
} from "./store/index.js";
import { watchHead, watchHere } from "./watch/index.js";

type AnyProgram = ContextClass | Readonly<Record<string, ContextClass>>;

const LIVED_MS = 30_000;

/** Of the keys and values that `Ledger` writes. */
export const FORMAT = 1;

/**
 * Runs a program: one logical node from its root class, or several from an object of root classes. Resolves
 * once it takes requests.
 */
export function run<C extends ContextClass<Context>>(
  root: C,
  options?: RunOptions,
): Promise<Service<InstanceType<C>>>;
export function run<N extends Nodes>(nodes: N, options?: RunOptions): Promise<NodeService<N>>;
export function run(program: AnyProgram, given: RunOptions = {}): Promise<unknown> {
  return runOwn(program, given, null);
}

/** The same for those of its logical nodes that are in one log, if others are in others. */
export async function runOwn(
  program: AnyProgram,
  given: RunOptions,
  ownLog: OwnLog | null,
): Promise<AnyService> {
  if (isHost()) throw cannot(given?.hosts ?? 1, RUN_BY_HOST);
  checkRun(program, given);
  if (given.logs !== undefined) throw noCluster();
  const options = checkedHosts(given, rootsOf(program));
  const limits = limitsOf(options.limits);
  const opened: Opened = { journal: null, hosts: null };
  const close = async () => {
    const { journal, hosts } = opened;
    opened.hosts = null;
    opened.journal = null;
    await hosts?.();
    await journal?.();
  };
  try {
    // Hosts load the program while the journal is opened.
    const [journal, started] = await Promise.allSettled([
      ledgerOf(own(program, ownLog), options, limits, opened),
      hostsOf(program, options, limits, opened),
    ]);
    const [ledger, hosts] = [settledValue(journal), settledValue(started)];
    const watch = hosts === null ? watchHere : watchHead;
    const service = runOn(memoryPorts, program, options, ledger, hosts, close, watch, ownLog);
    await ledger?.careful?.done;
    return service;
  } catch (error) {
    await close();
    throw error;
  }
}

/** How to close what was opened. */
interface Opened {
  journal: (() => Promise<void>) | null;
  hosts: (() => Promise<void>) | null;
}

function settledValue<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

/** Counts the processes that begin with this journal. One that lives for a while was not ended by what it found there. */
async function livesOf(program: AnyProgram, ledger: Ledger): Promise<() => void> {
  const lives = new Lives(ledger);
  const careful = await lives.begin(Object.keys(rootsOf(program)), memoryPorts);
  ledger.careful = careful;
  const lived = setTimeout(() => {
    lives.survived();
    careful?.end();
  }, LIVED_MS);
  if (careful === null) lived.unref();
  return () => {
    clearTimeout(lived);
    lives.survived();
  };
}

async function ledgerOf(
  program: AnyProgram,
  { journal: named, durability = "synced", takeOver = false, dropNodes = [], history }: RunOptions,
  limits: Limits,
  opened: Opened,
): Promise<Ledger | null> {
  if (named === undefined) return null;
  const isOwn = typeof named === "string";
  const nodes = namesOf(program);
  let madeFor: string | null = null;
  const change = (table: KeyTable) =>
    nodeSetChange(table, nodes, { dropNodes, madeFor, ...(isOwn ? { address: shownAddress(named) } : {}) });
  const check = (table: KeyTable, program: string) => {
    madeFor = program;
    change(table);
  };
  const onFailure = (error: HeadwaterError) => ledger.onFailure(error);
  const options = { durability, takeOver, check, onWarning, onFailure };
  const identity = { program: shownNodes(nodes), format: FORMAT };
  const journal = isOwn ? await openOwn(named, identity, options) : named;
  const ledger: Ledger = new Ledger(journal, limits.contexts, limits.parkedBytes);
  let survived = () => {};
  opened.journal = async () => {
    survived();
    await ledger.flush();
    if (isOwn) await journal.close();
  };
  const range = historyIn(history);
  // States that are dropped leave no versions.
  if (range === null || dropNodes.length > 0) await endHistory(journal);
  await changeNodeSet(journal, change(journal));
  if (range !== null) {
    ledger.past = new History(journal, range);
    for (const node of nodes.keys()) ledger.past.begin(node, ledger.lastTicket(node));
  }
  survived = await livesOf(program, ledger);
  return ledger;
}

function shownAddress(address: string): string {
  return address.includes("://") ? address : resolve(address);
}

/** The store is loaded only by programs with a journal. */
async function openOwn(path: string, identity: JournalIdentity, options: JournalOptions): Promise<Journal> {
  const { openJournal } = await import("../journal/open.js");
  return openJournal(path, identity, options);
}

async function hostsOf(
  program: AnyProgram,
  options: CheckedOptions,
  limits: Limits,
  opened: Opened,
): Promise<HostSet | null> {
  const supply = hostSupplyOf(options);
  if (supply === null) return null;
  const { count, open, module, heapMb } = supply;
  const isDurable = options.journal !== undefined;
  const task = { module, outline: outlineOf(rootsOf(program)), limits, isDurable, heapMb };
  const placement = placementFor(count, options.placement);
  const started = await startHosts(explained(open), task, placement, patienceIn(options));
  opened.hosts = () => started.close();
  return started;
}

/** How many hosts a process starts, and how; null if all events run in its one thread. */
export function hostSupplyOf(options: CheckedOptions): {
  readonly count: number;
  readonly open: OpenLink;
  readonly module: string;
  readonly heapMb: number | undefined;
} | null {
  const { hosts: wanted, hostsAs, module, onLoad, hostHeapMb: heapMb } = options;
  const count = typeof wanted === "object" ? (wanted.min ?? 1) : wanted;
  if (wanted === 1 && hostsAs !== "processes" && onLoad === undefined) return null;
  if (module === undefined) throw cannot(count, NO_MODULE);
  return { count, open: hostsAs === "processes" ? openProcess : openThread, module, heapMb };
}

function patienceIn(options: RunOptions): Patience {
  const { slowEventMs, eventTimeoutMs, hostTimeoutMs, hostStartTimeoutMs } = options;
  return patienceOf(slowEventMs, eventTimeoutMs, hostTimeoutMs, hostStartTimeoutMs);
}

function noCluster(): HeadwaterError {
  return new HeadwaterError(
    "HW-3140",
    "logical nodes are divided over logs in a cluster only. Nothing was changed. Name the address of its NATS servers as the journal, " +
      "or leave out `logs`.",
  );
}

const NO_MODULE =
  "hosts load it themselves, and need to know from where. Export it as the default of a module, and pass that module's " +
  "address: `run(Game, { hosts: 2, module: import.meta.url })`";

const RUN_BY_HOST =
  "a host that loads its module came to `run` again. Run it only where no host does: `if (!isHost()) await run(…)`, or in " +
  "another module";

function cannot(hosts: RunOptions["hosts"], why: string): HeadwaterError {
  const count = typeof hosts === "number" ? `${hosts} hosts` : "hosts";
  return new HeadwaterError("HW-6002", `the program cannot run on ${count}: ${why}.`);
}

/** The same in a world of one's own. */
export function runOn(
  ports: Ports,
  program: AnyProgram,
  options: RunOptions = {},
  ledger: Ledger | null = null,
  hosts: HostSet | null = null,
  close: () => Promise<void> = async () => {},
  watch: typeof watchHere | null = null,
  ownLog: OwnLog | null = null,
): AnyService {
  checkRun(program, options);
  const feed = new Feed(apart);
  readFeed(feed, options);
  const recorder = new LoadRecorder(feed);
  const running = new Program(rootsOf(program), ports, {
    commitOrder: options.commitOrder ?? "observer",
    limits: limitsOf(options.limits),
    feed,
    hostOf: (slot) => hosts?.of(slot) ?? null,
    onSettled: hosts === null ? undefined : recorder.settled,
    ledger,
    runners: hosts?.heads ?? null,
    ownLog,
  });
  if (hosts === null) {
    const stopWatching = watch?.(running, patienceIn(options));
    const disclaim = claimRejections({
      owns: (address) => isIn(running, address),
      roots: Object.values(rootsOf(program)),
      report: (rejection) => running.warn(rejection),
      isHost: false,
    });
    return serviceFor(running, { hosts: null, admit: null }, typeof program !== "function", async () => {
      stopWatching?.();
      disclaim();
      await close();
    });
  }
  hosts.serve(running);
  const fleet = new Fleet(hosts, running);
  hosts.onGone = (host) => fleet.lost(host);
  const admit: AdmitHost = (open) => fleet.admit((host) => hosts.admit(host, explained(open)));
  const elastic = typeof options.hosts === "object" ? options.hosts : null;
  const stopWatching = watchHosts(fleet, hosts, running, elastic, recorder);
  const stopWatchingHead = watch?.(running, patienceIn(options));
  return serviceFor(running, { hosts: fleet, admit }, typeof program !== "function", async () => {
    stopWatching();
    stopWatchingHead?.();
    await close();
  });
}

function isIn({ roots }: Program, address: Address): boolean {
  let root = address;
  while (root.parent !== null) root = root.parent;
  return roots.get(root.node) === root;
}

/** Those of a program's logical nodes that are in one log. */
export function own(program: AnyProgram, ownLog: Pick<OwnLog, "nodes"> | null): AnyProgram {
  if (ownLog === null) return program;
  return Object.fromEntries(Object.entries(rootsOf(program)).filter(([name]) => ownLog.nodes.has(name)));
}

export function rootsOf(program: AnyProgram): Readonly<Record<string, ContextClass>> {
  return typeof program === "function" ? { [storedNameOf(program)]: program } : program;
}

export function namesOf(program: AnyProgram): NodeNames {
  const roots = Object.entries(rootsOf(program));
  for (const [name] of roots) mustBeWellFormed(name, "a logical node");
  return new Map(roots.map(([name, root]) => [name, storedNameOf(root)]));
}

function onWarning(text: string): void {
  process.emitWarning(text, "HeadwaterJournal");
}
