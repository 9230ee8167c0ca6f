import { spawn } from "node:child_process";
import { once } from "node:events";

/** `npm run bench -- NAME [options]`: runs one bench. Figures go to stdout, everything else to stderr. */

interface Bench {
  main(args: readonly string[]): Promise<void>;
}

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  micro: () => import("./micro.js"),
  state: () => import("./state.js"),
  durable: () => import("./durable.js"),
  transfer: () => import("./transfer.js"),
  throughput: () => import("./throughput.js"),
  migration: () => import("./migration.js"),
  "kv-elastic": () => import("./kv-elastic.js"),
  "game-elastic": () => import("./game-elastic.js"),
  hosts: () => import("./hosts.js"),
  recovery: () => import("./recovery.js"),
  fluxions: () => import("./fluxions.js"),
  "fluxions-programs": () => import("./fluxions-programs.js"),
  nexmark: () => import("./nexmark.js"),
  tenants: () => import("./tenants.js"),
  ingest: () => import("./ingest.js"),
  latency: () => import("./latency.js"),
  "recovery-streams": () => import("./recovery-streams.js"),
  nodes: () => import("./nodes.js"),
  wordcount: () => import("./wordcount.js"),
  ads: () => import("./ads.js"),
  linearroad: () => import("./linearroad.js"),
  cluster: () => import("./cluster/index.js"),
  restate: () => import("./cluster/restate.js"),
  takeover: () => import("./cluster/takeover.js"),
};

/** Where one thread has thousands of promises in flight, the default young generation measures the garbage collector. */
const ROOMY: readonly string[] = [
  "micro",
  "state",
  "durable",
  "transfer",
  "nexmark",
  "tenants",
  "linearroad",
  "cluster",
  "restate",
];
const ROOM = "--max-semi-space-size=64";

const USAGE = `npm run bench -- NAME [--json] [--quick] [--events N] [--peers]

  micro    events per second and latency of one context call, beside a plain queue and two actor libraries
  state    events per second against the size of the context, for plain and for tracked fields
  durable  the same with a journal on disk, beside a file synced by hand; also over a WebSocket from another process
  transfer transfers between two of 1,000 accounts below a bank, in memory and with a journal
  hosts    events on two worker hosts, beside bare messages between threads, an actor library and a thread pool
  recovery from the start of a process to its first answer, also with 200,000 timers or clients in its journal
  fluxions a compiled Express server beside the same as it is, and with its heavy stage moved by hand into piscina
  fluxions-programs  whole Express programs with packages from npm, as they are and compiled; --only NAME,NAME
  nodes    bytes and microseconds of 10,000 logical nodes and contexts, beside plain objects in a Map
  wordcount  the word count of Blazes over two hosts: sealed, ordered and without coordination
  nexmark  the queries of the streaming benchmark beside loops by hand; --query q12, --events N
  tenants  many small tenants of the streaming service in one process: registering, cost, latency, restart; --tenants N
  ingest   rows per second into the streaming service from another process: NDJSON over HTTP, columns over a WebSocket
  latency  one row from its push to its result at a subscriber, beside one sync of the disk
  takeover  a cluster with 1,000,000 contexts and 100,000 timers: from the kill of its head, or a handover, to an answer; --events N contexts
  recovery-streams  a view with 1,000,000 keys: from the start after a SIGKILL to its first answer; --events N keys

  throughput    events per second against hosts, real and simulated; draws docs/figures/throughput.svg
  migration     what moving a context costs it and the others, against its size; draws two figures
  ads           the ad network of Blazes on processes, with every strategy; draws three figures
  cluster       three NATS servers, three processes: durable events per second, one in flight, kills (--kills N); draws a figure
  restate       the same counters over HTTP in a cluster of Headwater and on three servers of Restate, which it installs into a cache
  linearroad    how many expressways one process holds, as contexts and as queries, within 5 seconds; draws a figure
  kv-elastic    a store that grows, on one host and on as many as it needs; draws a figure
  game-elastic  players that come and go, with and without elasticity; draws a figure

  --json      one JSON object per line instead of a table
  --quick     shorter rounds: about ten seconds, rougher figures
  --events N  exactly N events per round
  --figures DIR  where to draw, of those that draw (docs/figures, and with --quick nowhere)
  --peers     durable and transfer only: beside PostgreSQL (and durable beside Redis) too, where they are installed
`;

const [name, ...args] = process.argv.slice(2);
const load = name === undefined ? undefined : benches[name];
if (name !== undefined && ROOMY.includes(name) && !process.execArgv.includes(ROOM)) {
  const again = [ROOM, ...process.execArgv, ...process.argv.slice(1)];
  const bench = spawn(process.execPath, again, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => bench.kill(signal));
  const [code] = (await once(bench, "close")) as [number | null];
  process.exitCode = code ?? 1;
} else if (load !== undefined) {
  try {
    await (await load()).main(args);
  } catch (error) {
    process.stderr.write(`bench ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
} else {
  process.stderr.write(name === undefined ? USAGE : `There is no bench "${name}".\n\n${USAGE}`);
  process.exitCode = name === undefined ? 0 : 1;
}
