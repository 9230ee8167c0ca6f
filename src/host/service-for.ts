import { DOOR } from "../model/door.js";
import { doorOf } from "./door.js";
import type { ProgramHosts } from "./fleet/index.js";
import { type Asker, type Program, parkedEvents } from "./node/index.js";
import { type AnyService, HOSTS, PARKED, type Running } from "./service.js";

const GRACE_MS = 5000;

/** What `run` gives back: a program as those see it who use it. */
export function serviceFor(
  program: Program,
  hosts: ProgramHosts | null,
  several: boolean,
  close: () => Promise<void>,
): AnyService {
  const referencesFor = (asker?: Asker) => {
    const roots = Object.fromEntries(
      [...program.nodes.keys()].map((name) => [name, program.rootOf(name, asker)]),
    );
    return several ? { nodes: roots } : { root: Object.values(roots)[0] };
  };
  const stop: Running["stop"] = async ({ graceMs = GRACE_MS } = {}) => {
    await program.stop(graceMs);
    await close();
  };
  return {
    [DOOR]: doorOf(program, !several),
    [HOSTS]: hosts,
    [PARKED]: parkedEvents(program),
    ...referencesFor(),
    client: (id: string, onMessage: (message: unknown) => void) => {
      const caller = program.clients.connect(id, onMessage);
      return { ...referencesFor({ caller }), id, close: () => program.clients.forget(caller) };
    },
    as: referencesFor,
    observe: (kinds, observer, options) => program.feed.observe(kinds, observer, options),
    idle: () => program.until(() => program.isIdle),
    room: () => program.until(() => [...program.nodes.values()].every((node) => node.hasRoom)),
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}
