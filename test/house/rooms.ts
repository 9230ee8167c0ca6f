/** Who may know whom in `src`. A room is a folder of it, or a file directly in it. */

interface Room {
  /** What may be loaded along with it. Data and knowledge go one way, downwards: no way leads back. */
  readonly loads: readonly string[];
  /** What its types may name besides, though that lies above it or beside it. The fewer, the better. */
  readonly names?: readonly string[];
}

export const ROOMS: Readonly<Record<string, Room>> = {
  errors: { loads: [] },
  suggest: { loads: [] },
  svg: { loads: [] },
  random: { loads: [] },
  eslint: { loads: [] },
  model: { loads: ["errors"] },
  state: { loads: ["errors", "model"] },
  core: { loads: ["errors"] },
  journal: { loads: ["errors"] },
  elastic: { loads: ["errors"] },
  net: { loads: ["errors"] },
  observe: { loads: ["errors"], names: ["elastic"] },
  "elastic/trial": { loads: ["errors", "core", "elastic"] },

  // The runtime. Hosts load only what `host/main` does: nothing of the store, the head, the nodes and the fleet.
  "host/ports": { loads: [], names: ["core"] },
  "host/context": { loads: ["errors", "model", "state", "core", "journal"], names: ["host/event"] },
  "host/event": {
    loads: ["errors", "model", "state", "core", "journal", "host/ports", "host/context"],
    names: ["host/head"],
  },
  "host/deduplication": {
    loads: ["errors", "model", "state", "core", "journal", "host/ports", "host/context"],
    names: ["host/store"],
  },
  "host/store": {
    loads: [
      "errors",
      "model",
      "state",
      "core",
      "journal",
      "host/ports",
      "host/context",
      "host/event",
      "host/deduplication",
    ],
  },
  "host/runner": {
    loads: ["errors", "model", "core", "journal", "host/ports", "host/context", "host/event", "host/store"],
  },
  "host/wire": {
    loads: ["errors", "model", "state", "core", "journal", "host/ports", "host/context", "host/event"],
  },
  "host/head": {
    loads: [
      "errors",
      "observe",
      "model",
      "state",
      "core",
      "journal",
      "elastic",
      "host/ports",
      "host/context",
      "host/event",
      "host/runner",
      "host/wire",
    ],
    names: ["host/store"],
  },
  "host/site": {
    loads: [
      "errors",
      "model",
      "state",
      "core",
      "journal",
      "host/ports",
      "host/context",
      "host/event",
      "host/wire",
    ],
  },
  "host/node": {
    loads: [
      "errors",
      "observe",
      "model",
      "state",
      "core",
      "host/ports",
      "host/context",
      "host/event",
      "host/deduplication",
      "host/store",
      "host/runner",
    ],
  },
  "host/link": { loads: ["errors", "core", "net", "host/ports"], names: ["host", "host/fleet", "host/load"] },
  "host/fleet": {
    loads: [
      "errors",
      "observe",
      "model",
      "elastic",
      "host/ports",
      "host/context",
      "host/event",
      "host/wire",
      "host/head",
      "host/link",
    ],
    names: ["host/node", "host/load"],
  },
  "host/load": {
    loads: ["observe", "model", "state", "core", "elastic", "host/ports", "host/context", "host/event"],
    names: ["host/fleet", "host/node"],
  },
  "host/watch": { loads: ["errors", "host/ports", "host/event"], names: ["host/node"] },
  host: {
    loads: [
      "observe",
      "errors",
      "model",
      "core",
      "journal",
      "elastic",
      "host/ports",
      "host/context",
      "host/event",
      "host/deduplication",
      "host/store",
      "host/runner",
      "host/node",
      "host/link",
      "host/fleet",
      "host/load",
      "host/watch",
    ],
  },
  "host/main": {
    loads: [
      "errors",
      "net",
      "host",
      "host/ports",
      "host/context",
      "host/event",
      "host/wire",
      "host/site",
      "host/link",
      "host/load",
    ],
    names: ["host/fleet"],
  },

  doors: { loads: ["host", "model", "server"] },
  protocol: { loads: ["errors", "model"] },
  client: { loads: ["errors", "model", "protocol"] },
  server: { loads: ["errors", "model", "protocol"] },

  "sim/programs": { loads: ["errors", "random", "model"] },
  "sim/oracle": { loads: ["errors", "model", "state", "journal"], names: ["sim/programs"] },
  "sim/world": {
    loads: [
      "errors",
      "random",
      "model",
      "state",
      "core",
      "journal",
      "elastic",
      "host/ports",
      "host/context",
      "host/event",
      "host/deduplication",
      "host/store",
      "host/wire",
      "host/head",
      "host/site",
      "host/node",
      "host/fleet",
      "sim/programs",
      "sim/oracle",
    ],
  },
  sim: {
    loads: ["errors", "random", "core", "elastic/trial", "sim/programs", "sim/oracle", "sim/world"],
  },

  sql: { loads: ["errors", "suggest"] },
  analysis: { loads: ["errors", "suggest", "svg", "sql"] },

  "streams/columns": { loads: ["errors"] },
  "streams/door": { loads: ["errors", "streams/columns"] },
  "streams/tables": { loads: ["errors", "streams/columns"] },
  "streams/plan": { loads: [], names: ["streams/columns"] },
  "streams/codegen": { loads: ["errors", "streams/columns", "streams/plan"], names: ["streams/tables"] },
  "streams/operators": {
    loads: ["errors", "streams/columns", "streams/tables", "streams/plan", "streams/codegen"],
  },
  "streams/sql": { loads: ["errors", "sql", "streams/columns", "streams/plan", "streams/codegen"] },
  "streams/coordination": { loads: ["analysis"], names: ["sql"] },
  "streams/graph": {
    loads: ["errors", "suggest", "streams/columns", "streams/plan", "streams/operators", "streams/outputs"],
  },
  "streams/service": {
    loads: [
      "errors",
      "model",
      "host",
      "streams/columns",
      "streams/door",
      "streams/plan",
      "streams/sql",
      "streams/outputs",
      "streams/graph",
    ],
    names: ["journal"],
  },
  "streams/http": { loads: ["errors", "server", "streams/service"] },
  streams: { loads: ["state", "streams/service"] },
  "streams/outputs": { loads: ["streams/columns", "streams/codegen"] },

  dashboard: { loads: ["errors", "observe", "host", "server"], names: ["host/fleet"] },
  pgwire: { loads: ["errors"], names: ["sql"] },
  chart: { loads: ["svg"] },
  coordination: { loads: ["errors", "model"] },
  check: { loads: ["errors", "random", "analysis", "sql"] },
  fluxion: {
    loads: ["errors", "suggest", "svg", "model", "host", "host/ports", "host/link", "host/fleet", "analysis"],
  },
  cli: {
    loads: [
      "errors",
      "observe",
      "suggest",
      "model",
      "state",
      "core",
      "journal",
      "elastic",
      "elastic/trial",
      "host",
      "host/ports",
      "host/store",
      "sim",
      "server",
      "dashboard",
      "analysis",
      "check",
      "chart",
      "fluxion",
      "streams",
      "streams/http",
      "streams/columns",
      "streams/door",
      "streams/sql",
      "streams/operators",
      "streams/outputs",
    ],
    names: ["host/node", "host/fleet"],
  },
  index: {
    loads: ["observe", "doors", "errors", "model", "state", "journal", "elastic", "host", "server"],
    names: ["cli", "host/ports", "host/store", "host/node", "host/fleet"],
  },
};

/**
 * Files that other rooms load by their names, past the door of their room. A host is to be ready soon, and would load all
 * that starts and governs hosts if it came in by these doors.
 */
export const PAST_THE_DOOR: Readonly<Record<string, readonly string[]>> = {
  "host/main": ["src/host/link/host-link.ts", "src/host/load/context-loads.ts", "src/host/load/gauge.ts"],
};
