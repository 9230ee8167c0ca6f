import { HeadwaterError } from "../errors.js";
import type { JournalIdentity } from "../journal/journal.js";
import { openLmdbJournal } from "../journal/lmdb.js";
import type { Context, ContextClass } from "../model/context.js";
import { Ledger } from "./ledger.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { memoryPorts, type Ports } from "./ports.js";
import { Program } from "./program.js";
import {
  type AnyService,
  type NodeService,
  type Nodes,
  type RunOptions,
  type Service,
  serviceFor,
} from "./service.js";

import { ThreadHosts } from "./threads.js";

type AnyProgram = ContextClass | Readonly<Record<string, ContextClass>>;

/** Of the keys and values that `Ledger` writes. */
const FORMAT = 1;

/**
 * Runs a program: one logical node from its root class, or several from an object of root classes. Resolves
 * once it takes requests.
 */
export function run<C extends ContextClass<Context>>(
  root: C,
  options?: RunOptions,
): Promise<Service<InstanceType<C>>>;
export function run<N extends Nodes>(nodes: N, options?: RunOptions): Promise<NodeService<N>>;
export function run(program: AnyProgram, options?: RunOptions): Promise<AnyService>;
export async function run(program: AnyProgram, options: RunOptions = {}): Promise<unknown> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  try {
    const ledger = await ledgerOf(program, options, limits, closing);
    const hosts = await hostsOf(options, limits, ledger !== null);
    if (hosts !== null) closing.push(() => hosts.close());
    return runOn(memoryPorts, program, options, ledger, hosts, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function ledgerOf(
  program: AnyProgram,
  { journal: named, durability = "synced" }: RunOptions,
  limits: Limits,
  closing: (() => Promise<void>)[],
): Promise<Ledger | null> {
  if (named === undefined) return null;
  const isOwn = typeof named === "string";
  const journal = isOwn
    ? await openLmdbJournal(named, identityOf(program), { durability, onWarning })
    : named;
  const ledger = new Ledger(journal, limits.contexts);
  closing.push(async () => {
    await ledger.flush();
    if (isOwn) await journal.close();
  });
  return ledger;
}

async function hostsOf(
  { hosts = 1, module }: RunOptions,
  limits: Limits,
  isDurable: boolean,
): Promise<ThreadHosts | null> {
  if (hosts === 1) return null;
  if (!Number.isSafeInteger(hosts) || hosts < 1 || module === undefined) {
    throw new HeadwaterError(
      "HW-6002",
      `the program cannot run on ${hosts} hosts: ${module === undefined ? "hosts load it themselves, and need to know from where. Export it as the default of a module, and pass that module's address: `run(Game, { hosts: 2, module: import.meta.url })`" : "that is no number of hosts"}.`,
    );
  }
  return ThreadHosts.start({ module, limits, isDurable }, hosts);
}

/** The same in a world of one's own. */
export function runOn(
  ports: Ports,
  program: AnyProgram,
  options: RunOptions = {},
  ledger: Ledger | null = null,
  hosts: ThreadHosts | null = null,
  close: () => Promise<void> = async () => {},
): AnyService {
  const running = new Program(rootsOf(program), ports, {
    commitOrder: options.commitOrder ?? "observer",
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    onError: options.onError,
    onFailure: options.onFailure ?? (({ message }) => onWarning(message)),
    ledger,
    hosts,
  });
  hosts?.serve(running);
  return serviceFor(running, typeof program !== "function", close);
}

function rootsOf(program: AnyProgram): Readonly<Record<string, ContextClass>> {
  return typeof program === "function" ? { [program.name]: program } : program;
}

/** The names of the logical nodes and their root classes: a journal belongs to one such tree. */
function identityOf(program: AnyProgram): JournalIdentity {
  const nodes = Object.entries(rootsOf(program)).map(([name, { name: root }]) => {
    return name === root ? name : `${name}: ${root}`;
  });
  return { program: nodes.sort().join(", "), format: FORMAT };
}

function onWarning(text: string): void {
  process.emitWarning(text, "HeadwaterJournal");
}
