import { DOOR } from "../model/door.js";
import type { Reference } from "../model/refs.js";
import { CLUSTER } from "./cluster-side.js";
import { doorOf } from "./door.js";
import type { ProgramHosts } from "./fleet/index.js";
import { inspectorFor } from "./inspector.js";
import { type Asker, type Program, parkedEvents } from "./node/index.js";
import { ADMIT, type AdmitHost, type AnyService, HOSTS, INSPECTOR, PARKED, type Running } from "./service.js";

const GRACE_MS = 5000;

/** The hosts of a program, if it runs on hosts. */
export interface ServedHosts {
  readonly hosts: ProgramHosts | null;
  readonly admit: AdmitHost | null;
}

/** What `run` gives back: a program as those see it who use it. */
export function serviceFor(
  program: Program,
  { hosts, admit }: ServedHosts,
  several: boolean,
  close: () => Promise<void>,
): AnyService {
  const [first = ""] = program.nodes.keys();
  const referencesFor = (asker?: Asker) => {
    return several ? { nodes: rootsFor(program, asker) } : { root: program.rootOf(first, asker) };
  };
  const stop: Running["stop"] = async ({ graceMs = GRACE_MS } = {}) => {
    await program.stop(graceMs);
    await close();
  };
  const inspector = inspectorFor(program);
  return {
    [DOOR]: doorOf(program, !several),
    [HOSTS]: hosts,
    [ADMIT]: admit,
    [CLUSTER]: null,
    [PARKED]: parkedEvents(program),
    [INSPECTOR]: inspector,
    ...referencesFor(),
    client: (id: string, onMessage: (message: unknown) => void) => {
      const caller = program.clients.connect(id, onMessage);
      return { ...referencesFor({ caller }), id, close: () => program.clients.forget(caller) };
    },
    as: referencesFor,
    at: (ticket, node) => inspector.at(ticket, node),
    history: () => inspector.history(),
    observe: (kinds, observer, options) => program.feed.observe(kinds, observer, options),
    idle: () => program.until(() => program.isIdle),
    room: () => program.until(() => [...program.nodes.values()].every((node) => node.hasRoom)),
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** References to all roots, each made when it is asked for: a program may have thousands, and a request needs one. */
function rootsFor(program: Program, asker: Asker | undefined): object {
  const made = new Map<string, Reference>();
  const rootNamed = (name: string | symbol) => {
    if (typeof name === "symbol" || !program.nodes.has(name)) return undefined;
    let root = made.get(name);
    if (root === undefined) {
      root = program.rootOf(name, asker);
      made.set(name, root);
    }
    return root;
  };
  return new Proxy(Object.create(null) as object, {
    get: (_, name) => rootNamed(name),
    has: (_, name) => program.nodes.has(name as string),
    ownKeys: () => [...program.nodes.keys()],
    getOwnPropertyDescriptor: (_, name) => {
      const value = rootNamed(name);
      return value === undefined ? undefined : { value, enumerable: true, configurable: true };
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });
}
