import type { JournalIdentity } from "../journal/journal.js";
import { openLmdbJournal } from "../journal/lmdb.js";
import type { Context, ContextClass } from "../model/context.js";
import { Ledger } from "./ledger.js";
import { DEFAULT_LIMITS } from "./limits.js";
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
  const { journal: named, durability = "synced" } = options;
  if (named === undefined) return runOn(memoryPorts, program, options);
  const isOwn = typeof named === "string";
  const journal = isOwn
    ? await openLmdbJournal(named, identityOf(program), { durability, onWarning })
    : named;
  const { contexts } = { ...DEFAULT_LIMITS, ...options.limits };
  const ledger = new Ledger(journal, contexts);
  const close = async () => {
    await ledger.flush();
    if (isOwn) await journal.close();
  };
  try {
    return runOn(memoryPorts, program, options, ledger, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** The same in a world of one's own. */
export function runOn(
  ports: Ports,
  program: AnyProgram,
  options: RunOptions = {},
  ledger: Ledger | null = null,
  close: () => Promise<void> = async () => {},
): AnyService {
  const running = new Program(rootsOf(program), ports, {
    commitOrder: options.commitOrder ?? "observer",
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    onError: options.onError,
    onFailure: options.onFailure ?? (({ message }) => onWarning(message)),
    ledger,
  });
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
